import { clientOf, siteOf, siteShares } from "../../shared/client-address.ts";
import type { EnvReader } from "../../shared/env.ts";
import { ApiError } from "../../shared/errors.ts";
import type { Queryable } from "../../shared/postgres.ts";
import { admitOrRefuse } from "../admit-or-refuse.ts";
import type { TraceOptions } from "../tracer/options.ts";
import type { Vectorized } from "../tracer/pool/job.ts";
import { claimTryOfSite, returnTryOfSite } from "../tries-of-site.ts";
import { secondsUntilTomorrow } from "../utc-day.ts";
import { freePixelsMax } from "./free-picture.ts";
import { freeParty, type TracePool } from "./trace-pool.ts";
import { vectorize } from "./vectorize.ts";

/** Pictures a day (UTC) that are traced for nothing, counted over all copies. */
export interface FreeTriesConfig {
  /** Tries of one address; 0: there are no free tries. */
  readonly perAddress: number;
  readonly ofAll: number;
}

export function readFreeTries(env: EnvReader): FreeTriesConfig {
  return {
    perAddress: env.integer("LIMIT_SVG_TRIES_PER_ADDRESS", 3, { max: 1_000 }),
    ofAll: env.integer("LIMIT_SVG_TRIES_OF_ALL", 5_000, { max: 100_000_000 }),
  };
}

export interface FreeDrawing extends Omit<Vectorized, "files"> {
  readonly ms: number;
  /** How many more are free today. */
  readonly tries_left: number;
}

/**
 * Lets an address upload a picture that is traced for nothing. Throws ApiError: 403 no free tries here, 429 used up, too many
 * attempts, or no room. To be asked before the picture is read.
 */
export async function admitFreeTry({ db, tracers, config }: FreeTryNeeds, from: string): Promise<void> {
  const { freeTries } = config;
  if (freeTries.perAddress === 0) throw new ApiError("forbidden", `There are no free tries here. ${paidWays}`);
  const tooMany = "Too many pictures came from here within a minute.";
  await admitOrRefuse(db, `svg-try:${clientOf(from)}`, attemptsPerMinute, tooMany);
  if ((await triesLeft(db, freeTries, from)) === 0) throw usedUp();
  try {
    tracers.admit(freeParty);
  } catch (error) {
    throw asBusy(error);
  }
}

/**
 * Traces an uploaded picture for nothing; nothing of it is stored. A try counts when the picture was traced. `from` is the
 * caller's network address. Throws ApiError: 422 not such a picture, 429 used up or no room.
 */
export async function traceFree(
  needs: FreeTryNeeds,
  from: string,
  bytes: Uint8Array,
  options: TraceOptions,
): Promise<FreeDrawing> {
  const startedAt = performance.now();
  const { db, tracers, config } = needs;
  const client = clientOf(from);
  const day = await claim(db, client, config.freeTries);
  try {
    const means = { deadlineMs: freeDeadlineMs, files: [], from: freeParty, pixelsMax: freePixelsMax };
    const { files: _, ...traced } = await vectorize(tracers, bytes, options, means);
    const tries_left = await triesLeft(db, config.freeTries, from);
    return { ...traced, ms: Math.round(performance.now() - startedAt), tries_left };
  } catch (error) {
    await giveBack(db, client, day);
    throw asBusy(error);
  }
}

export interface FreeTryNeeds {
  readonly db: Queryable;
  readonly tracers: TracePool;
  readonly config: { readonly freeTries: FreeTriesConfig };
}

/** How many tries an address has left today. */
export async function triesLeft(db: Queryable, { perAddress, ofAll }: FreeTriesConfig, from: string): Promise<number> {
  if (perAddress === 0) return 0;
  const client = clientOf(from);
  const site = siteOf(client);
  const { rows } = await db.query<{ client: string; tries: number }>(
    "select client, tries from svg_tries where client in ('*', $1, $2) and day = (now() at time zone 'utc')::date",
    [client, site ?? null],
  );
  const taken = (counted?: string) => rows.find((row) => row.client === counted)?.tries ?? 0;
  const left = Math.min(perAddress - taken(client), siteShares * perAddress - taken(site), ofAll - taken("*"));
  return Math.max(0, left);
}

/** The day that was counted on. */
async function claim(db: Queryable, client: string, { perAddress, ofAll }: FreeTriesConfig): Promise<string> {
  const { rows } = await db.query<{ admitted: boolean; day: string }>(
    "select claim_svg_try($1, $2, $3) as admitted, (now() at time zone 'utc')::date::text as day",
    [client, perAddress, ofAll],
  );
  const { admitted, day } = rows[0]!;
  if (!admitted) throw usedUp();
  if (await claimTryOfSite(db, "svg_tries", client, perAddress)) return day;
  await db.query(returnTry, [client, day]);
  throw usedUp();
}

async function giveBack(db: Queryable, client: string, day: string): Promise<void> {
  await db.query(returnTry, [client, day]);
  await returnTryOfSite(db, "svg_tries", client, day);
}

const returnTry = "select return_svg_try($1, $2::date)";

function usedUp(): ApiError {
  return new ApiError("rate_limited", `Today's free tries of this network are used up. ${paidWays}`, {
    headers: { "retry-after": String(secondsUntilTomorrow()) },
  });
}

function asBusy(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.code !== "rate_limited") return error;
  const message = "Drawings that are paid for go first, and no more free tries may wait now. This one was not counted.";
  return new ApiError("rate_limited", message, { headers: error.headers, cause: error });
}

const paidWays =
  "Sign in and pay with credits, or without an account over x402: POST /api/x402/svg-vectorize says the price.";

/** A trace takes seconds, but a free one may wait long for its turn. */
const freeDeadlineMs = 120_000;

/** Refused pictures cost no try, so they have a limit of their own. */
const attemptsPerMinute = 20;
