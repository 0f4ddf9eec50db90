import type { Request, RequestHandler, Response } from "express";
import { clientOf } from "../../shared/client-address.ts";
import { ApiError } from "../../shared/errors.ts";
import type { Queryable } from "../../shared/postgres.ts";
import type { BackgroundWork } from "../background-work.ts";
import { FailureLimiter } from "../failure-limiter.ts";
import { seenClient } from "../seen-client.ts";
import { type Admission, type KeyLookup, noteUse } from "./authenticate.ts";
import type { RefusedCalls } from "./refused-calls.ts";
import { digestOf, isWellFormed } from "./token.ts";

const failuresPerMinute = 300;

/**
 * Lets a request through that carries an active API key and is within its rate limit, and says on every answer how
 * much of the limit is left. 401 without a key, 429 past the limit, 503 when keys cannot be looked up right now.
 */
export function requireKey(context: KeyNeeds): RequestHandler {
  const failures = new FailureLimiter(failuresPerMinute);
  return async (request, response, next) => {
    const admission = await findAdmission(context, request);
    if (!admission) throw refusal(failures, request, context.clients);
    const { caller } = admission;
    if (admission.useIsNews) context.backgroundWork.detach(noteUse(context.db, caller.key.id, seenClient(request)));
    announceLimit(response, admission);
    if (!admission.admitted) {
      context.refusedCalls.note(caller.key.id, "rate_limit", callOf(request));
      response.setHeader("retry-after", admission.resetSeconds);
      throw new ApiError("rate_limited", `This key allows ${caller.key.rateLimitPerMinute} requests a minute.`);
    }
    response.locals.caller = caller;
    next();
  };
}

interface KeyNeeds {
  readonly db: Queryable;
  readonly lookups: KeyLookup;
  readonly backgroundWork: BackgroundWork;
  readonly refusedCalls: RefusedCalls;
  /** Where clients that a person allowed show tokens instead of a key. */
  readonly clients?: ClientTokens | undefined;
}

/** What was asked for, of a call whose body was not read: `POST /api/v1/run`. */
const callOf = ({ method, path }: Request) => `${method} ${path.split("/").slice(0, 4).join("/")}`;

export interface ClientTokens {
  /** The only path that tokens open. */
  readonly path: string;
  /** Where clients learn how to be allowed. */
  readonly metadataUrl: string;
  /** The digest of the key that a token stands for. */
  readonly keyDigestOf: (token: string) => Promise<string | undefined>;
}

async function findAdmission({ lookups, clients }: KeyNeeds, request: Request): Promise<Admission | undefined> {
  const token = bearerToken(request.headers.authorization);
  if (token === undefined) return undefined;
  try {
    if (isWellFormed(token)) return await lookups.key(digestOf(token).toString("hex"));
    const digest = clients && isAt(clients.path, request) ? await clients.keyDigestOf(token) : undefined;
    return digest === undefined ? undefined : await lookups.key(digest);
  } catch (cause) {
    throw new ApiError("unavailable", "Keys cannot be checked right now; try again shortly.", { cause });
  }
}

/** Compares paths as the router does: in any case, with or without a slash at the end. */
const isAt = (path: string, request: Request) => request.path.toLowerCase().replace(/\/$/, "") === path;

function bearerToken(header: string | undefined): string | undefined {
  return header && /^bearer +(\S+) *$/i.exec(header)?.[1];
}

/** 401, or 429 for an address that has failed too often lately. A valid key from there is never refused. */
function refusal(failures: FailureLimiter, request: Request, clients?: ClientTokens): ApiError {
  const { ip = "unknown", headers: sent } = request;
  const client = clientOf(ip);
  const waitSeconds = failures.waitSeconds(client);
  if (waitSeconds > 0) {
    const headers = { "retry-after": String(waitSeconds) };
    return new ApiError("rate_limited", "Too many requests without a valid key.", { headers });
  }
  failures.note(client);
  const invalid = sent.authorization === undefined ? "" : ', error="invalid_token"';
  const how = clients && isAt(clients.path, request) ? `, resource_metadata="${clients.metadataUrl}"${invalid}` : "";
  const challenge = `Bearer realm="marketplace"${how}`;
  return new ApiError("unauthenticated", "A valid API key is required: Authorization: Bearer <API_KEY>.", {
    headers: { "www-authenticate": challenge },
  });
}

/** Both the older X-RateLimit-* (reset as a Unix time) and the IETF draft's RateLimit fields (reset in seconds). */
function announceLimit(response: Response, { caller, remaining, resetSeconds }: Admission): void {
  const limit = caller.key.rateLimitPerMinute;
  response.setHeader("x-ratelimit-limit", limit);
  response.setHeader("x-ratelimit-remaining", remaining);
  response.setHeader("x-ratelimit-reset", Math.ceil(Date.now() / 1000) + resetSeconds);
  response.setHeader("ratelimit-policy", `"key";q=${limit};w=60`);
  response.setHeader("ratelimit", `"key";r=${remaining};t=${resetSeconds}`);
}
