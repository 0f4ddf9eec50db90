import { z } from "zod";
import type { Answers, Shapes } from "../../shared/endpoint.ts";
import { severalHosts } from "../../shared/http.ts";
import { openApiDocument, type ServiceDescription } from "../../shared/openapi.ts";
import type { Access, Endpoint, Tag } from "./endpoint.ts";
import { refusals } from "./error-shape.ts";
import { malformed } from "./query.ts";

/** The OpenAPI 3.1 document of the daemon. */
export function facilitatorDocument(endpoints: readonly Endpoint[]): object {
  return openApiDocument<Access, Tag>(endpoints, {
    title: "x402 payment facilitator",
    version: "1",
    description:
      "Verifies and settles x402 payments of versions 1 and 2. No authentication: the payment is the authorization. " +
      "Calls are counted by address and minute; what is too much is a 429 with Retry-After. A resource server that the " +
      "operator knows sends `Authorization: Bearer <token>` and has a limit of its own; an unknown token is a 401.",
    guidance:
      "Nothing is sold here. GET /discovery/resources lists what others sell and was paid for here; GET /supported says on which " +
      "networks a resource server can be paid. /docs shows how a server uses it.",
    contact: { name: "The operator of this facilitator" },
    serverUrl: "/",
    tags,
    securitySchemes: {
      client: {
        type: "http",
        scheme: "bearer",
        description:
          "The token of a resource server that the operator knows, for a limit of its own. No caller needs one.",
      },
    },
    security,
    meanings,
    usualAnswers,
    usualHeaders,
  });
}

const tags: Readonly<Record<Tag, string>> = {
  Payments: "What a resource server asks of a facilitator: verify a payment, settle it, give it up.",
  Record: "The public record of what was asked for here, and what became of it.",
  Discovery: "Resources that were paid for here (the x402 extension `bazaar`).",
  Service: "What is supported, whether it works, and what describes it.",
};

const security: ServiceDescription<Access, Tag>["security"] = {
  payments: [{}, { client: [] }],
  reads: [],
  unlimited: [],
};

export const meanings: Readonly<Record<number, string>> = {
  200: "As asked.",
  400: "The request is malformed; `field` names what is wrong. Nothing was settled.",
  401: "The token is not known here. None is needed.",
  404: "There is no such thing.",
  408: "The body did not arrive in time.",
  413: "The body is too large.",
  429: "Too often from this address, or of this client; wait as `Retry-After` says.",
  500: "It failed on this side. A payment that was sent is settled or found out later; send the same again to learn it.",
  503: "Not possible right now. Try again.",
};

/** A query can be malformed, and any endpoint can fail. */
export function usualAnswers({ access, query }: Endpoint): Answers {
  return {
    ...(query ? refusals({ 400: givenTwice(query) }) : {}),
    // What comes with two Host headers is refused wherever it goes.
    ...(access === "unlimited" ? refusals({ 400: { error: severalHosts } }) : refusals(429)),
    ...refusals(500),
  };
}

function givenTwice(query: NonNullable<Endpoint["query"]>): { error: string; field: string } {
  const [field] = Object.keys(query) as [string];
  return { error: malformed(field, "given once").message, field };
}

function usualHeaders({ access }: Endpoint, status: number): Shapes {
  return status === 429 || (status === 503 && access !== "unlimited")
    ? { "Retry-After": z.int().describe("Seconds to wait.") }
    : {};
}
