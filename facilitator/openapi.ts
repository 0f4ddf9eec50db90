import { z } from "zod";
import { listingQuery, listingShape } from "./discovery/listing.ts";
import { searchQuery, searchShape } from "./discovery/search.ts";
import { paymentQuery, paymentShape } from "./payments.ts";
import type { Parameters } from "./query.ts";
import { statsQuery, statsShape } from "./stats.ts";
import { transactionsQuery, transactionsShape } from "./transactions.ts";
import {
  errorShape,
  healthShape,
  livezShape,
  paymentBodyShape,
  readyzShape,
  releaseBodyShape,
  releaseShape,
  settleErrorShape,
  settleShape,
  supportedShape,
  verifyErrorShape,
  verifyShape,
} from "./wire-shapes.ts";

/** The OpenAPI 3.1 document of GET /openapi.json, from the definitions that read queries and type answers. */
export function openApiDocument(): object {
  const schemas: Schemas = {};
  const paths: Record<string, Record<string, object>> = {};
  for (const [route, operation] of Object.entries(operations)) {
    const [method = "", path = ""] = route.split(" ");
    paths[path] = { ...paths[path], [method.toLowerCase()]: describe(route, operation, schemas) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "x402 payment facilitator",
      version: "1",
      description:
        "Verifies and settles x402 payments of versions 1 and 2. No authentication: the payment is the authorization. " +
        "Calls are counted by address and minute; what is too much is a 429 with Retry-After. A resource server that the " +
        "operator knows sends `Authorization: Bearer <token>` and has a limit of its own; an unknown token is a 401.",
    },
    servers: [{ url: "/" }],
    paths,
    components: { schemas },
  };
}

type Schemas = Record<string, object>;

interface Operation {
  readonly summary: string;
  readonly body?: z.ZodType;
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Parameters;
  /** By status; a shape is JSON, a text another media type. */
  readonly answers: Readonly<Record<number, z.ZodType | string>>;
  readonly extensionResponses?: boolean;
  /** Answers however often it is asked. */
  readonly unlimited?: boolean;
}

const operations: Readonly<Record<string, Operation>> = {
  "POST /verify": {
    summary: "Would this payment settle now? Moves nothing. A refused payment is a 200 that says why.",
    body: paymentBodyShape,
    answers: {
      200: verifyShape,
      400: verifyErrorShape,
      408: verifyErrorShape,
      401: verifyErrorShape,
      413: verifyErrorShape,
      429: verifyErrorShape,
      500: verifyErrorShape,
      503: verifyErrorShape,
    },
    extensionResponses: true,
  },
  "POST /release": {
    summary:
      "Gives up one verification, so that its payer's money is free at once; for a seller that will not settle it. " +
      "What another verification of the same payment holds stays.",
    body: releaseBodyShape,
    answers: { 200: releaseShape, 400: errorShape, 401: errorShape, 408: errorShape, 413: errorShape, 503: errorShape },
  },
  "POST /settle": {
    summary: "Settles the payment and waits for the chain, 60 s at most. Needs no /verify before.",
    body: paymentBodyShape,
    answers: {
      200: settleShape,
      400: settleErrorShape,
      408: settleErrorShape,
      401: settleErrorShape,
      413: settleErrorShape,
      429: settleErrorShape,
      500: settleErrorShape,
      503: settleErrorShape,
    },
    extensionResponses: true,
  },
  "GET /supported": {
    summary: "Schemes and networks that are settled here, and who pays the fees.",
    answers: { 200: supportedShape },
  },
  "GET /livez": { summary: "The process is up.", answers: { 200: livezShape }, unlimited: true },
  "GET /readyz": {
    summary: "Whether to send work here: the database answers and at least one network can settle.",
    answers: { 200: readyzShape, 503: readyzShape },
    unlimited: true,
  },
  "GET /health": {
    summary: "200 when every fee payer can pay, 503 when one is low.",
    answers: { 200: healthShape, 503: healthShape },
    unlimited: true,
  },
  "GET /stats": {
    summary: "Settlements added up by day, network and outcome.",
    query: statsQuery,
    answers: { 200: statsShape },
  },
  "GET /transactions": {
    summary: "The public record, newest first.",
    query: transactionsQuery,
    answers: { 200: transactionsShape },
  },
  "GET /payments/{transaction}": {
    summary: "What became of one payment.",
    path: { transaction: "EVM transaction hash, or Hedera transaction id as 0.0.5@1.000000002 or 0.0.5-1-000000002." },
    query: paymentQuery,
    answers: { 200: paymentShape, 404: errorShape },
  },
  "GET /discovery/resources": {
    summary: "Resources that were paid for here within 30 days.",
    query: listingQuery,
    answers: { 200: listingShape },
  },
  "GET /discovery/search": {
    summary: "Resources that match words, best first.",
    query: searchQuery,
    answers: { 200: searchShape },
  },
  "GET /metrics": { summary: "Figures for Prometheus.", answers: { 200: "text/plain" }, unlimited: true },
  "GET /openapi.json": { summary: "This document.", answers: { 200: z.looseObject({ openapi: z.string() }) } },
};

function describe(
  route: string,
  { summary, body, path = {}, query = {}, answers, extensionResponses, unlimited = false }: Operation,
  schemas: Schemas,
): object {
  const parameters = [
    ...Object.entries(path).map(([name, description]) => ({
      name,
      in: "path",
      required: true,
      description,
      schema: { type: "string" },
    })),
    ...Object.entries(query).map(([name, { description, schema, required = false }]) => ({
      name,
      in: "query",
      required,
      description,
      schema,
    })),
  ];
  // Whatever has a query can be asked wrongly, and anything can fail.
  const failures = {
    ...(Object.keys(query).length > 0 && { 400: errorShape }),
    ...(!unlimited && { 429: errorShape }),
    500: errorShape,
  };
  const responses = Object.entries({ ...failures, ...answers }).map(([status, shape]) => [
    status,
    {
      description: descriptionOf(status),
      content: typeof shape === "string" ? { [shape]: { schema: { type: "string" } } } : jsonOf(shape, schemas),
      ...(extensionResponses && status === "200" && { headers: extensionHeader }),
      ...(status === "429" && { headers: retryHeader }),
    },
  ]);
  return {
    operationId: route
      .replace(/[^a-zA-Z]+(.)?/g, (_, letter = "") => letter.toUpperCase())
      .replace(/^[A-Z]+(?=[A-Z])/, (verb) => verb.toLowerCase()),
    summary,
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: true, content: jsonOf(body, schemas) } }),
    responses: Object.fromEntries(responses),
  };
}

function descriptionOf(status: string): string {
  if (status === "429") return "Too often from this address.";
  return status.startsWith("2") ? "As asked." : "Not as hoped; see the body.";
}

const retryHeader = { "Retry-After": { description: "Seconds to wait.", schema: { type: "integer" } } };

const extensionHeader = {
  "EXTENSION-RESPONSES": {
    description:
      'Base64 of JSON by extension, e.g. {"bazaar":{"status":"processing"}}; only when an extension was sent.',
    schema: { type: "string" },
  },
};

/** A named shape goes to the components with all that it refers to. */
function jsonOf(shape: z.ZodType, schemas: Schemas): object {
  const { $schema: _, $defs = {}, ...schema } = z.toJSONSchema(shape, { io: "input" });
  const relocated = (part: object) => JSON.parse(JSON.stringify(part).replaceAll("#/$defs/", "#/components/schemas/"));
  for (const [name, definition] of Object.entries($defs)) schemas[name] = relocated(definition as object);
  return { "application/json": { schema: relocated(schema) } };
}
