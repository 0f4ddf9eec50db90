import type { RequestHandler } from "express";
import { batched } from "../shared/batch.ts";
import { clientOf, siteOf, siteShares } from "../shared/client-address.ts";
import type { EnvReader } from "../shared/env.ts";
import { ApiError } from "../shared/errors.ts";
import type { Queryable } from "../shared/postgres.ts";
import { addressOf, InMemoryCounts, limitIn, limitRequests, type RequestCounts } from "../shared/rate-limit.ts";

/** Calls a minute of callers without a key and without a payment, over all copies; 0 is no limit. */
const limits = {
  /** Requests to all public endpoints together. Each copy counts for itself unless a Valkey counts. */
  requestsPerAddress: {
    variable: "LIMIT_PUBLIC_PER_ADDRESS",
    usual: 18_000,
    label: "Requests without a key, from one address",
  },
  quotesPerAddress: {
    variable: "LIMIT_QUOTES_PER_ADDRESS",
    usual: 6_000,
    label: "Prices asked for without a payment, from one address",
  },
  quotesPerOffer: {
    variable: "LIMIT_QUOTES_PER_OFFER",
    usual: 60_000,
    label: "Prices asked for without a payment, of one agent or drawing",
  },
  freeCallsPerAddress: {
    variable: "LIMIT_FREE_CALLS_PER_ADDRESS",
    usual: 120,
    label: "Calls of free agents without a key, from one address",
  },
  freeCallsPerAgent: {
    variable: "LIMIT_FREE_CALLS_PER_AGENT",
    usual: 1_200,
    label: "Calls of one free agent without a key",
  },
} as const;

type LimitName = keyof typeof limits;
const limitNames = Object.keys(limits) as LimitName[];

export type AnonymousLimitsConfig = Readonly<Record<LimitName, number>>;

export function readAnonymousLimits(env: EnvReader): AnonymousLimitsConfig {
  const read = (name: LimitName) => env.integer(limits[name].variable, limits[name].usual, { max: 100_000_000 });
  return Object.fromEntries(limitNames.map((name) => [name, read(name)])) as AnonymousLimitsConfig;
}

/** Each limit as a caller reads of it, and its calls a minute. */
export function describeAnonymousLimits(config: AnonymousLimitsConfig): ReadonlyArray<readonly [string, number]> {
  return limitNames.map((name) => [limits[name].label, config[name]]);
}

/** Bounds how often an address may read what is public, by each copy on its own unless a Valkey counts. */
export function limitPublic({ config, valkey }: PublicNeeds, what: "data" | "pages"): RequestHandler {
  return limitRequests({
    perMinute: config.anonymousLimits.requestsPerAddress,
    callerOf: (request) => `read ${what} ${addressOf(request)}`,
    counts: valkey ?? new InMemoryCounts(),
    tooMany: () => "Too many requests from this address.",
  });
}

interface PublicNeeds {
  readonly config: { readonly anonymousLimits: AnonymousLimitsConfig };
  readonly valkey: RequestCounts | undefined;
}

/**
 * Bounds the calls of unknown callers. Quotes are asked for often, so where a limit is high a copy takes a sixtieth of it
 * at a time and counts that down by itself: copies together let through no more than the limit allows, and few calls wait
 * for the database; a Valkey is asked for each call. All throw 429 with Retry-After, the address's limit first, so that one address
 * cannot use up a whole agent's.
 */
export class AnonymousLimits {
  readonly #limits: AnonymousLimitsConfig;
  readonly #valkey: RequestCounts | undefined;
  /** What this copy may still let through, by subject, the one refilled longest ago first. */
  readonly #shares = new Map<string, Share>();
  readonly #take: (asked: Asked) => Promise<Taken>;

  constructor({ db, valkey }: CountNeeds, limits: AnonymousLimitsConfig) {
    this.#limits = limits;
    this.#valkey = valkey;
    this.#take = batched((asked) => countAll(db, asked), { sizeMax: 500, windowMs: 0 });
  }

  /** A quote of the offer at `url`. */
  async admitQuote(address: string, url: string): Promise<void> {
    const { quotesPerAddress, quotesPerOffer } = this.#limits;
    await this.#admit(
      `quotes-from:${clientOf(address)}`,
      quotesPerAddress,
      "Too many prices were asked for from here.",
    );
    await this.#admit(`quotes-of:${url}`, quotesPerOffer, "The price of this is asked for too often.");
  }

  /** A call of a free agent. */
  async admitFreeCall(address: string, agentId: string): Promise<void> {
    const { freeCallsPerAddress, freeCallsPerAgent } = this.#limits;
    await this.#admit(`free-from:${clientOf(address)}`, freeCallsPerAddress, "Too many free calls came from here.");
    await this.#admit(`free-of:${agentId}`, freeCallsPerAgent, "This free agent is called too often at the moment.");
  }

  async #admit(subject: string, perMinute: number, message: string): Promise<void> {
    if (perMinute === 0) return;
    if (this.#valkey) return limitIn(this.#valkey, subject, perMinute, message);
    await this.#admitOne(subject, perMinute, message);
    const site = siteOf(subject);
    if (site !== undefined) await this.#admitOne(site, siteShares * perMinute, message);
  }

  async #admitOne(subject: string, perMinute: number, message: string): Promise<void> {
    const now = Date.now();
    const share = this.#shares.get(subject);
    if (share && share.until > now) {
      if (share.refused) throw refusal(message, share.resetSeconds);
      if (share.left > 0) {
        share.left -= 1;
        return;
      }
    }
    const { admitted, left, resetSeconds } = await this.#take({ subject, perMinute }).catch((cause) => {
      throw new ApiError("unavailable", "Calls cannot be counted right now; try again shortly.", { cause });
    });
    if (admitted && left > 0) this.#keep(subject, { left, refused: false, resetSeconds, until: now + shareMs });
    if (!admitted) this.#keep(subject, { left: 0, refused: true, resetSeconds, until: now + refusedMs });
    if (!admitted) throw refusal(message, resetSeconds);
  }

  #keep(subject: string, share: Share): void {
    const rest = this.#shares.get(subject);
    if (rest && !rest.refused && rest.until > Date.now()) share.left += rest.left;
    this.#shares.delete(subject);
    this.#shares.set(subject, share);
    if (this.#shares.size > sharesMax) this.#shares.delete(this.#shares.keys().next().value as string);
  }
}

interface CountNeeds {
  readonly db: Queryable;
  /** Counts each call by itself, where it is configured. */
  readonly valkey: RequestCounts | undefined;
}

interface Share {
  left: number;
  /** The limit was used up. */
  readonly refused: boolean;
  readonly resetSeconds: number;
  readonly until: number;
}

interface Asked {
  readonly subject: string;
  readonly perMinute: number;
}

interface Taken {
  readonly admitted: boolean;
  /** Calls that were counted for this copy and not let through yet; given to one of the requests that asked together. */
  readonly left: number;
  readonly resetSeconds: number;
}

/** How long a copy may use its share, and how long it refuses without asking again. */
const shareMs = 30_000;
const refusedMs = 500;
const sharesMax = 20_000;
const sharesOfLimit = 60;

/** Counts for all requests of the same moment; the first is admitted first. */
async function countAll(db: Queryable, asked: readonly Asked[]): Promise<Taken[]> {
  const wanted = new Map<string, { calls: number; perMinute: number }>();
  for (const { subject, perMinute } of asked) {
    const calls = (wanted.get(subject)?.calls ?? 0) + 1;
    wanted.set(subject, { calls, perMinute });
  }
  // In one order on every copy, so that none waits for another that waits for it.
  const rows = [...wanted].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const { rows: counted } = await db.query<{ subject: string; admitted: number; reset_seconds: number }>({
    name: "count anonymous calls",
    text: `select asked.subject, counted.admitted, counted.reset_seconds
           from unnest($1::text[], $2::integer[], $3::integer[]) asked (subject, calls, allowed)
           cross join lateral count_calls(asked.subject, asked.calls, asked.allowed) counted`,
    values: [
      rows.map(([subject]) => subject),
      rows.map(([, { calls, perMinute }]) => Math.max(calls, Math.floor(perMinute / sharesOfLimit))),
      rows.map(([, { perMinute }]) => perMinute),
    ],
  });
  const rest = new Map(counted.map((row) => [row.subject, { left: row.admitted, resetSeconds: row.reset_seconds }]));
  const taken = asked.map(({ subject }) => {
    const one = rest.get(subject)!;
    const admitted = one.left > 0;
    if (admitted) one.left -= 1;
    return { admitted, resetSeconds: Math.max(1, one.resetSeconds) };
  });
  return taken.map((one, index) => {
    const { subject } = asked[index]!;
    const share = rest.get(subject)!;
    const left = share.left;
    share.left = 0;
    return { ...one, left };
  });
}

function refusal(message: string, resetSeconds: number): ApiError {
  return new ApiError("rate_limited", message, { headers: { "retry-after": String(resetSeconds) } });
}
