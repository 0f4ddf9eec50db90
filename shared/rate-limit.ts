import type { Request, RequestHandler } from "express";
import { rateLimit, type Store } from "express-rate-limit";
import { clientOf, siteOf, siteShares } from "./client-address.ts";
import { ApiError } from "./errors.ts";

/** Where requests are counted: in memory here, or where all copies of a service count together. */
export type RequestCounts = Store;

export interface RequestLimit {
  /** Requests that one caller may send in a minute; 0 is no limit. */
  readonly perMinute: number | ((request: Request) => number);
  /** Names the caller that is counted; may throw ApiError. */
  readonly callerOf?: (request: Request) => string;
  readonly counts: RequestCounts;
  /** What a caller reads who has sent too many. */
  readonly tooMany: (request: Request) => string;
}

/** 429 with Retry-After for a caller who sends too many requests, or whose site does, before anything of them is read. */
export function limitRequests(limit: RequestLimit): RequestHandler {
  const { perMinute, callerOf = addressOf } = limit;
  const limitOf = typeof perMinute === "number" ? () => perMinute : perMinute;
  const ofCaller = limitOne({ ...limit, perMinute: limitOf, callerOf });
  const ofSite = limitOne({
    ...limit,
    perMinute: (request) => (siteOf(callerOf(request)) === undefined ? 0 : siteShares * limitOf(request)),
    callerOf: (request) => siteOf(callerOf(request)) as string,
  });
  return (request, response, next) =>
    ofCaller(request, response, (error) => (error === undefined ? ofSite(request, response, next) : next(error)));
}

interface OneLimit extends RequestLimit {
  readonly perMinute: (request: Request) => number;
  readonly callerOf: (request: Request) => string;
}

function limitOne({ perMinute: limitOf, callerOf, counts, tooMany }: OneLimit): RequestHandler {
  return rateLimit({
    windowMs,
    limit: limitOf,
    skip: (request) => limitOf(request) === 0,
    keyGenerator: callerOf,
    store: counts,
    standardHeaders: false,
    legacyHeaders: false,
    // The library would warn on the console of what is decided here on purpose: proxies, addresses, a store of one's own.
    validate: false,
    handler: (request, _response, next) => {
      const { resetTime } = (request as Request & { rateLimit: { resetTime?: Date } }).rateLimit;
      const seconds = Math.ceil(((resetTime?.getTime() ?? 0) - Date.now()) / 1_000);
      const headers = { "retry-after": String(Math.max(1, seconds)) };
      next(new ApiError("rate_limited", tooMany(request), { headers }));
    },
  });
}

/** Counts one more of the caller and of its site; 429 with Retry-After past the limit. */
export async function limitIn(
  counts: RequestCounts,
  caller: string,
  perMinute: number,
  message: string,
): Promise<void> {
  const { totalHits, resetTime } = await counts.increment(caller);
  const site = siteOf(caller);
  if (totalHits <= perMinute)
    return site === undefined ? undefined : limitIn(counts, site, siteShares * perMinute, message);
  const seconds = Math.ceil(((resetTime?.getTime() ?? 0) - Date.now()) / 1_000);
  throw new ApiError("rate_limited", message, { headers: { "retry-after": String(Math.max(1, seconds)) } });
}

/** The caller's address as limits count it. */
export function addressOf(request: Request): string {
  return clientOf(request.ip ?? "");
}

export const windowMs = 60_000;
const callersMax = 50_000;

/**
 * Counts in the memory of this process, for requests that must be answered without the database and where copies that
 * count apart only let a caller send more.
 */
export class InMemoryCounts implements RequestCounts {
  readonly localKeys = true;
  readonly #requests = new Map<string, number>();
  #windowEndMs = 0;

  increment(caller: string, nowMs = Date.now()): { totalHits: number; resetTime: Date } {
    if (nowMs >= this.#windowEndMs) {
      this.#requests.clear();
      this.#windowEndMs = nowMs + windowMs;
    }
    const totalHits = (this.#requests.get(caller) ?? 0) + 1;
    if (totalHits === 1 && this.#requests.size >= callersMax) this.#forgetOne();
    this.#requests.set(caller, totalHits);
    return { totalHits, resetTime: new Date(this.#windowEndMs) };
  }

  decrement(): void {}

  resetKey(caller: string): void {
    this.#requests.delete(caller);
  }

  #forgetOne(): void {
    for (const caller of this.#requests.keys()) return void this.#requests.delete(caller);
  }
}
