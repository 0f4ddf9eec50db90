import { z } from "zod";
import { covering } from "../../shared/covering.ts";
import { jsonAnswer } from "../../shared/endpoint.ts";
import type { Database } from "../../shared/postgres.ts";
import { securityTxtEndpoint } from "../../shared/security-contact.ts";
import type { Config } from "../config.ts";
import { sendTagged } from "../etag.ts";
import { cachedHealth, type Health } from "../health.ts";
import type { Endpoint } from "./endpoint.ts";
import { marketplaceDocument } from "./openapi.ts";
import { notModified, refusals } from "./refusals.ts";
import { moment } from "./shapes.ts";

/** The service's health, and the documents that describe all its endpoints, of which these are some. */
export function serviceEndpoints(
  { db, config: { publicUrl, securityContact } }: ServiceNeeds,
  all: () => readonly Endpoint[],
): Endpoint[] {
  return [
    healthEndpoint(db),
    openApiEndpoint(publicUrl, all),
    securityTxtEndpoint(securityContact, "public", refusals(404)),
  ];
}

interface ServiceNeeds {
  readonly db: Database;
  readonly config: Pick<Config, "publicUrl" | "securityContact">;
}

const healthShape = covering<Health>()(
  z.object({ status: z.enum(["ok", "degraded"]), database: z.boolean(), time: moment }).meta({ id: "Health" }),
);

function healthEndpoint(db: Database): Endpoint {
  const time = "2026-03-02T09:30:00.000Z";
  const health = cachedHealth(db);
  return {
    method: "get",
    path: "/health",
    id: "getHealth",
    tag: "Service",
    summary: "Whether the service can work.",
    description:
      "Answers 200 when the database answers, and 503 when it does not, within two seconds. For load balancers.",
    access: "public",
    answers: {
      200: jsonAnswer(healthShape, { status: "ok", database: true, time }),
      503: jsonAnswer(healthShape, { status: "degraded", database: false, time }),
    },
    handler: async (_request, response) => {
      const state = await health();
      response.status(state.database ? 200 : 503).json(state);
    },
  };
}

function openApiEndpoint(publicUrl: string, all: () => readonly Endpoint[]): Endpoint {
  let document: object | undefined;
  return {
    method: "get",
    path: "/api/v1/openapi.json",
    id: "getOpenApi",
    tag: "Service",
    summary: "This document.",
    description:
      "Answers the OpenAPI 3.1 description of every endpoint, from the declarations by which they are served.",
    access: "public",
    answers: { 200: jsonAnswer(z.looseObject({ openapi: z.string() }), { openapi: "3.1.0" }), ...notModified },
    handler: (request, response) => {
      document ??= marketplaceDocument(all(), publicUrl);
      sendTagged(request, response, document);
    },
  };
}
