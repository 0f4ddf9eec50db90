import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { toSafeNumber } from "../../shared/amounts.ts";
import { batched } from "../../shared/batch.ts";
import { ApiError } from "../../shared/errors.ts";
import { canonicalJson } from "../../shared/json.ts";
import type { Queryable } from "../../shared/postgres.ts";
import type { Output } from "../connectors/result.ts";
import { usedForAnother } from "../http/idempotency-key.ts";
import type { AccountId, RunId } from "../ids.ts";
import { type WaitingPost, WaitingPosts } from "../waiting-posts.ts";
import type { AskedRun, RunResult } from "./asked-run.ts";
import { outputLetGoText } from "./kept-outputs.ts";

/** A request that can be told from others by its caller's name for it and a digest of what it asks. */
export interface IdempotentRequest {
  readonly idempotencyKey: string;
  readonly digest: Buffer;
}

/** Undefined when the caller gave the request no name. The order of keys in the input makes no difference. */
export function idempotentRequest({
  idempotencyKey,
  agent,
  input,
  maxCredits,
}: AskedRun): IdempotentRequest | undefined {
  if (idempotencyKey === undefined) return undefined;
  const text = canonicalJson([agent.toLowerCase(), input, maxCredits ?? null]);
  return { idempotencyKey, digest: createHash("sha256").update(text).digest() };
}

/**
 * The result of the run that the account started with an equal request before, as it was answered then; waits for it
 * while it runs, on whatever copy of the service. Undefined when there is none: refused requests leave no trace. 409
 * when the name was used for another request, 410 when what it gave is no longer kept, with whether it was charged, 503 when it runs
 * for long or many wait for it.
 */
export async function findReplay(
  { db }: { readonly db: Queryable },
  accountId: AccountId,
  request: IdempotentRequest,
): Promise<RunResult | undefined> {
  const named = { accountId, idempotencyKey: request.idempotencyKey };
  const deadline = Date.now() + waitMaxMs;
  let waiting: WaitingPost<RecordedRun> | undefined;
  let run = await readRecorded(db, named);
  try {
    for (let pauseMs = 20; Date.now() < deadline; pauseMs = Math.min(pauseMs * 1.5, 1_000)) {
      if (!run) return undefined;
      if (!run.requestDigest.equals(request.digest)) throw usedForAnother();
      if (run.state !== "running") return resultOf(run);
      waiting ??= waitingAt(db).enter(named, postsMax);
      if (!waiting) break;
      run = await waiting.look(pauseMs);
    }
  } finally {
    waiting?.leave();
  }
  throw new ApiError("unavailable", "The run this request started earlier still goes on; ask again.", {
    headers: { "retry-after": "10" },
  });
}

/**
 * Like findReplay, for a request that was refused: an equal request may have taken what it lacked and be about to start its run.
 * Waits while `isStarting`, until the equal one has started or was refused too.
 */
export async function findReplayOfStarting(
  context: { readonly db: Queryable },
  accountId: AccountId,
  request: IdempotentRequest,
  isStarting: () => Promise<boolean>,
): Promise<RunResult | undefined> {
  const deadline = Date.now() + startMaxMs;
  for (let pauseMs = 20; ; pauseMs = Math.min(pauseMs * 1.5, 1_000)) {
    // Asked first: one that has started in between has its run by then.
    const mayStart = Date.now() < deadline && (await isStarting());
    const replay = await findReplay(context, accountId, request);
    if (replay || !mayStart) return replay;
    await sleep(pauseMs);
  }
}

/** What stands for the request among all accounts' requests. */
export const nameOf = (accountId: AccountId, { idempotencyKey }: IdempotentRequest) => `${accountId} ${idempotencyKey}`;

async function readRecorded(db: Queryable, { accountId, idempotencyKey }: Named): Promise<RecordedRun | undefined> {
  const { rows } = await db.query<RecordedRun>({
    name: "read named run",
    text: `select ${recorded} from runs r where account_id = $1 and idempotency_key = $2`,
    values: [accountId, idempotencyKey],
  });
  return rows[0];
}

/** For requests that wait: in the order asked. */
async function readAllRecorded(
  db: Queryable,
  named: readonly Named[],
): Promise<ReadonlyArray<RecordedRun | undefined>> {
  const { rows } = await db.query<RecordedRun & { n: bigint }>({
    name: "read named runs",
    text: `
      select n, ${recorded} from unnest($1::text[], $2::text[]) with ordinality asked (account, key, n)
      join runs r on r.account_id = asked.account and r.idempotency_key = asked.key`,
    values: [named.map(({ accountId }) => accountId), named.map(({ idempotencyKey }) => idempotencyKey)],
  });
  const found = new Map(rows.map((row) => [Number(row.n), row]));
  return named.map((_, at) => found.get(at + 1));
}

const recorded = `r.id, r.state, r.request_digest as "requestDigest", r.price_credits as "priceCredits",
  r.credits_remaining as "creditsRemaining", r.output, r.receipt, r.error`;

interface Named {
  readonly accountId: AccountId;
  readonly idempotencyKey: string;
}

/** The requests that wait at this copy of the service, by its database. */
const waitingBy = new WeakMap<Queryable, WaitingPosts<Named, RecordedRun>>();

function waitingAt(db: Queryable): WaitingPosts<Named, RecordedRun> {
  const known = waitingBy.get(db);
  if (known) return known;
  const find = batched((named: readonly Named[]) => readAllRecorded(db, named), looks);
  const waiting = new WaitingPosts(({ accountId, idempotencyKey }: Named) => `${accountId} ${idempotencyKey}`, find);
  waitingBy.set(db, waiting);
  return waiting;
}

/** Few at a time, since each may have ended with megabytes. */
const looks = { sizeMax: 20, windowMs: 0, spacingMs: 50 };
/** Equal requests that may wait at a copy of the service. */
const postsMax = 64;

function resultOf(run: RecordedRun): RunResult {
  const credits_remaining = toSafeNumber(run.creditsRemaining ?? 0n);
  if (run.state === "succeeded") {
    if (!run.output) throw new ApiError("gone", outputLetGoText, { body: { charged: run.priceCredits > 0n } });
    const credits_used = toSafeNumber(run.priceCredits);
    const { output, receipt } = run;
    return { success: true, run_id: run.id, output, credits_used, credits_remaining, receipt };
  }
  const error = run.error ?? "The agent failed.";
  return { success: false, run_id: run.id, credits_used: 0, credits_remaining, receipt: null, error };
}

/** Longer than any run: its time limit and, had its copy of the service died, the lapse of its lease. */
const waitMaxMs = 420_000;

/** Longer than it takes to look whether a run can work, and to hold its price. */
const startMaxMs = 30_000;

interface RecordedRun {
  readonly id: RunId;
  readonly state: "running" | "succeeded" | "failed" | "lost";
  readonly requestDigest: Buffer;
  readonly priceCredits: bigint;
  readonly creditsRemaining: bigint | null;
  readonly output: Output | null;
  readonly receipt: object | null;
  readonly error: string | null;
}
