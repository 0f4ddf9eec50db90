import type { Request, RequestHandler } from "express";
import { addressOf, InMemoryCounts, limitRequests, type RequestCounts } from "../../shared/rate-limit.ts";
import { type Client, clientCalling } from "./clients.ts";
import type { LimitsConfig } from "./config.ts";

/** A verified payment may be released as often as one may be verified. */
export type LimitedVerb = "verify" | "settle" | "release";

/** 429 for a client or an address that calls too often, counted over all copies. */
export function limitCalls(
  counts: RequestCounts,
  { clients, limits }: { readonly clients: readonly Client[]; readonly limits: LimitsConfig },
  verb: LimitedVerb,
): RequestHandler {
  const perAddress = verb === "settle" ? limits.settlePerAddress : limits.verifyPerAddress;
  const clientOf = (request: Request) => clientCalling(clients, request.headers.authorization);
  return limitRequests({
    perMinute: (request) => clientOf(request)?.callsPerMinute ?? perAddress,
    callerOf: (request) => {
      const client = clientOf(request);
      return client ? `client ${verb} ${client.name}` : `${verb} ${addressOf(request)}`;
    },
    counts,
    tooMany: (request) => `Too many calls of /${verb} from this ${clientOf(request) ? "client" : "address"}.`,
  });
}

/**
 * 429 for an address that reads too often. Each copy counts for itself unless `counts` are shared. `perMinute` is per address; 0
 * is no limit.
 */
export function limitReads(what: "data" | "pages", perMinute: number, counts?: RequestCounts): RequestHandler {
  return limitRequests({
    perMinute,
    callerOf: (request) => `read ${what} ${addressOf(request)}`,
    counts: counts ?? new InMemoryCounts(),
    tooMany: () => "Too many calls from this address.",
  });
}
