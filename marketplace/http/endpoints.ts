import { z } from "zod";
import { type Counting, countingOf, countingShape } from "../../shared/counting.ts";
import { covering } from "../../shared/covering.ts";
import { type Durability, durabilityExample, durabilityShape } from "../../shared/durability.ts";
import { jsonAnswer, notModified } from "../../shared/endpoint.ts";
import { isLeaving } from "../../shared/http.ts";
import { KeptText } from "../../shared/kept-text.ts";
import { leavingShape } from "../../shared/leaving.ts";
import type { Database } from "../../shared/postgres.ts";
import { type ReadsNow, readsShape } from "../../shared/reads.ts";
import { securityTxtEndpoint } from "../../shared/security-contact.ts";
import type { Config } from "../config.ts";
import { cachedHealth, type Health } from "../health.ts";
import type { MetricsNeeds } from "../metrics.ts";
import type { Endpoint } from "./endpoint.ts";
import { metricsEndpoint } from "./metrics-endpoint.ts";
import { marketplaceDocument } from "./openapi.ts";
import { refusals } from "./refusals.ts";
import { moment } from "./shapes.ts";

/** Endpoints for the service's health, and for the documents that describe all its endpoints. `all` are those, these among them. */
export function serviceEndpoints(context: ServiceNeeds, all: () => readonly Endpoint[]): Endpoint[] {
  const { db, config } = context;
  const { publicUrl, securityContact, metricsToken } = config;
  return [
    healthEndpoint(context),
    livenessEndpoint(),
    readinessEndpoint(db),
    metricsEndpoint(context, metricsToken),
    ...openApiEndpoints(publicUrl, all),
    securityTxtEndpoint(securityContact, "public", refusals({ 404: "No contact is named here." })),
  ];
}

interface ServiceNeeds extends MetricsNeeds {
  readonly config: Pick<Config, "publicUrl" | "securityContact" | "metricsToken">;
}

const healthShape = covering<Health & Standing>()(
  z
    .object({
      status: z.enum(["ok", "degraded"]),
      database: z.boolean(),
      durability: durabilityShape,
      counting: countingShape,
      reads: readsShape,
      time: moment,
    })
    .meta({ id: "Health" }),
);

interface Standing {
  readonly durability: Durability;
  readonly counting: Counting;
  readonly reads: ReadsNow;
}

const exampleStanding: Standing = {
  durability: durabilityExample,
  counting: { store: "valkey", shared: true },
  reads: { from: "replica", behind: 240 },
};

/** Before the database is looked at again, or another copy has taken over. */
const retrySeconds = 2;

function healthEndpoint({ db, durability, valkey, reads }: ServiceNeeds): Endpoint {
  const time = "2026-03-02T09:30:00.000Z";
  const health = cachedHealth(db);
  return {
    method: "get",
    path: "/health",
    id: "getHealth",
    tag: "Service",
    summary: "Whether the service can work.",
    description:
      "Answers 200 when the database answers, and 503 when it does not, within two seconds. " +
      "`getReadiness` is for load balancers.",
    access: "public",
    answers: {
      200: jsonAnswer(healthShape, { status: "ok", database: true, ...exampleStanding, time }),
      503: jsonAnswer(healthShape, { status: "degraded", database: false, ...exampleStanding, time }),
    },
    handler: async (_request, response) => {
      const state = await health();
      const standing: Standing = { durability: durability.now, counting: countingOf(valkey), reads: reads.now };
      if (!state.database) response.setHeader("retry-after", retrySeconds);
      response.status(state.database ? 200 : 503).json({ ...state, ...standing });
    },
  };
}

const livenessShape = z.object({ status: z.literal("ok") }).meta({ id: "Liveness" });

function livenessEndpoint(): Endpoint {
  return {
    method: "get",
    path: "/livez",
    id: "getLiveness",
    tag: "Service",
    summary: "The process is up.",
    description: "Asks nothing of the database. For a supervisor that restarts what hangs.",
    access: "unlimited",
    answers: { 200: jsonAnswer(livenessShape, { status: "ok" }) },
    handler: (_request, response) => {
      response.json({ status: "ok" });
    },
  };
}

const readinessShape = z
  .object({
    ready: z.boolean(),
    database: z.boolean(),
    leaving: leavingShape,
  })
  .meta({ id: "Readiness" });

function readinessEndpoint(db: Database): Endpoint {
  const health = cachedHealth(db);
  return {
    method: "get",
    path: "/readyz",
    id: "getReadiness",
    tag: "Service",
    summary: "Whether to send work here.",
    description: "Ready is a copy whose database answers and that was not told to stop. For load balancers.",
    access: "unlimited",
    answers: {
      200: jsonAnswer(readinessShape, { ready: true, database: true, leaving: false }),
      503: jsonAnswer(readinessShape, { ready: false, database: true, leaving: true }, { description: "Not ready." }),
    },
    handler: async (request, response) => {
      const { database } = await health();
      const leaving = isLeaving(request);
      const ready = database && !leaving;
      if (!ready) response.setHeader("retry-after", retrySeconds);
      response.status(ready ? 200 : 503).json({ ready, database, leaving });
    },
  };
}

/** Both addresses answer alike: one below the version for clients that keep to it, one at the root where crawlers look. */
function openApiEndpoints(publicUrl: string, all: () => readonly Endpoint[]): Endpoint[] {
  let document: KeptText | undefined;
  const common = {
    method: "get",
    tag: "Service",
    description:
      "Answers the OpenAPI 3.1 description of every endpoint, from the declarations by which they are served. What is paid " +
      "with the request says so in `x-payment-info`.",
    access: "public",
    answers: { 200: jsonAnswer(openApiShape, { openapi: "3.1.0" }), ...notModified },
    handler: (request, response) => {
      document ??= new KeptText(JSON.stringify(marketplaceDocument(all(), publicUrl)));
      response.setHeader("cache-control", "private, no-cache");
      return document.send(request, response, "application/json");
    },
  } as const satisfies Partial<Endpoint>;
  return [
    { ...common, path: "/api/v1/openapi.json", id: "getOpenApi", summary: "This document." },
    { ...common, path: "/openapi.json", id: "getOpenApiAtRoot", summary: "This document, where crawlers look for it." },
  ];
}

const openApiShape = z.looseObject({ openapi: z.string() }).meta({ id: "OpenApiDocument" });
