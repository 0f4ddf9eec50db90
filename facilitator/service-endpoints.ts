import { z } from "zod";
import { durabilityExample } from "../shared/durability.ts";
import { jsonAnswer, notModified } from "../shared/endpoint.ts";
import { isLeaving, noStore } from "../shared/http.ts";
import type { JobRecord } from "../shared/job-record.ts";
import { KeptText } from "../shared/kept-text.ts";
import type { Database } from "../shared/postgres.ts";
import { securityTxtEndpoint } from "../shared/security-contact.ts";
import type { Config } from "./config.ts";
import { databaseProbe, type HealthNeeds, health, healthShape, livezShape, readiness, readyzShape } from "./health.ts";
import type { Endpoint } from "./http/endpoint.ts";
import { refusals } from "./http/error-shape.ts";
import { facilitatorDocument } from "./http/openapi.ts";
import { type Metrics, metricsText } from "./metrics.ts";
import { ReadCache } from "./schemes/read-cache.ts";
import { supported, supportedShape } from "./supported.ts";

interface Needs extends Omit<HealthNeeds, "isDatabaseThere"> {
  readonly db: Database;
  readonly metrics: Metrics;
  readonly jobRecord: JobRecord;
  readonly config: HealthNeeds["config"] & Pick<Config, "securityContact">;
}

/** Endpoints for what the daemon supports, its health and its OpenAPI document. `all` are the document's endpoints, these among them. */
export function serviceEndpoints(context: Needs, all: () => readonly Endpoint[]): Endpoint[] {
  const probed = { ...context, isDatabaseThere: databaseProbe(context.db) };
  return [
    supportedEndpoint(context),
    healthEndpoint(probed),
    livenessEndpoint(),
    readinessEndpoint(probed),
    metricsEndpoint(context),
    openApiEndpoint(all),
    securityTxtEndpoint(
      context.config.securityContact,
      "reads",
      refusals({ 404: { error: "No contact is named here." } }),
    ),
  ];
}

function supportedEndpoint(context: Needs): Endpoint {
  return {
    method: "get",
    path: "/supported",
    id: "getSupported",
    tag: "Service",
    summary: "Schemes and networks that are settled here, and who pays the network fees.",
    description: "Answers from configuration alone, so also while a chain or the database is away.",
    access: "reads",
    answers: {
      200: jsonAnswer(supportedShape, {
        kinds: [{ x402Version: 2, scheme: "exact", network: "eip155:84532" }],
        extensions: ["bazaar"],
        signers: { "eip155:*": ["0x209693Bc6afc0C5328bA36FaF03C514EF312287C"] },
      }),
    },
    handler: (_request, response) => {
      response.json(supported(context));
    },
  };
}

function healthEndpoint(context: HealthNeeds): Endpoint {
  const chain = {
    network: "hedera:testnet",
    feePayer: "0.0.1001",
    unit: "HBAR",
    empty: false,
    signing: true,
    leased: true,
    settling: true,
    feesTooHigh: false,
  };
  const example = {
    env: "testnet",
    durability: durabilityExample,
    foundAgain: [{ network: "hedera:testnet", payments: 0, lastAt: null }],
    counting: { store: "valkey", shared: true },
    reads: { from: "replica", behind: 240 },
    time: "2026-03-02T09:30:00.000Z",
  } satisfies Partial<z.input<typeof healthShape>>;
  return {
    method: "get",
    path: "/health",
    id: "getHealth",
    tag: "Service",
    summary: "Whether every fee payer can pay.",
    description:
      "Answers 200 when the database answers and every fee payer has money and may pay what its network charges, and 503 otherwise. " +
      "Balances and prices are as last read.",
    access: "unlimited",
    beforeBody: [noStore],
    answers: {
      200: jsonAnswer(healthShape, {
        status: "ok",
        chains: [{ ...chain, balance: 120.5, lowBalance: false }],
        ...example,
      }),
      503: jsonAnswer(
        healthShape,
        {
          status: "degraded",
          chains: [{ ...chain, balance: 9.5, lowBalance: true }],
          ...example,
        },
        {
          description:
            "A fee payer is low, empty or cannot be read, its network's fees are too high, or the database does not answer.",
        },
      ),
    },
    handler: async (_request, response) => {
      const { healthy, body } = await health(context);
      response.status(healthy ? 200 : 503).json(body);
    },
  };
}

function livenessEndpoint(): Endpoint {
  return {
    method: "get",
    path: "/livez",
    id: "getLiveness",
    tag: "Service",
    summary: "The process is up.",
    description: "Asks nothing of the database or the chains. For a supervisor that restarts what hangs.",
    access: "unlimited",
    beforeBody: [noStore],
    answers: { 200: jsonAnswer(livezShape, { status: "ok" }) },
    handler: (_request, response) => {
      response.json({ status: "ok" });
    },
  };
}

function readinessEndpoint(context: HealthNeeds): Endpoint {
  return {
    method: "get",
    path: "/readyz",
    id: "getReadiness",
    tag: "Service",
    summary: "Whether to send work here.",
    description:
      "Ready is a daemon whose database answers, that can ask at least one of its networks and sign there, and that was not told to stop.",
    access: "unlimited",
    beforeBody: [noStore],
    answers: {
      200: jsonAnswer(readyzShape, {
        ready: true,
        database: true,
        networks: { "hedera:testnet": true },
        leaving: false,
      }),
      503: jsonAnswer(
        readyzShape,
        { ready: false, database: true, networks: { "hedera:testnet": false }, leaving: false },
        { description: "Not ready." },
      ),
    },
    handler: async (request, response) => {
      const state = await readiness(context, isLeaving(request));
      response.status(state.ready ? 200 : 503).json(state);
    },
  };
}

function metricsEndpoint(context: Needs): Endpoint {
  const reads = new ReadCache(1);
  return {
    method: "get",
    path: "/metrics",
    id: "getMetrics",
    tag: "Service",
    summary: "Figures for Prometheus.",
    description: "Answers in the text format 0.0.4. A database that does not answer leaves its own figures out.",
    access: "unlimited",
    beforeBody: [noStore],
    answers: {
      200: {
        content: ["text/plain"],
        example: 'facilitator_answers_total{verb="verify",network="eip155:84532",outcome="valid",reason=""} 1\n',
      },
    },
    handler: async (_request, response) => {
      response.type("text/plain; version=0.0.4").send(await reads.read("metrics", 0, () => metricsText(context)));
    },
  };
}

function openApiEndpoint(all: () => readonly Endpoint[]): Endpoint {
  let document: KeptText | undefined;
  return {
    method: "get",
    path: "/openapi.json",
    id: "getOpenApi",
    tag: "Service",
    summary: "This document.",
    description:
      "Answers the OpenAPI 3.1 description of every endpoint, from the declarations by which they are served.",
    access: "reads",
    answers: { 200: jsonAnswer(z.looseObject({ openapi: z.string() }), { openapi: "3.1.0" }), ...notModified },
    handler: (request, response) => {
      document ??= new KeptText(JSON.stringify(facilitatorDocument(all())));
      return document.send(request, response, "application/json");
    },
  };
}
