import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { toSafeNumber } from "../../shared/amounts.ts";
import { ApiError } from "../../shared/errors.ts";
import { canonicalJson } from "../../shared/json.ts";
import type { Queryable } from "../../shared/postgres.ts";
import type { Output } from "../connectors/result.ts";
import type { AccountId, RunId } from "../ids.ts";
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
 * when the name was used for another request, 410 when what it gave is no longer kept, with whether it was charged.
 */
export async function findReplay(
  { db }: { readonly db: Queryable },
  accountId: AccountId,
  request: IdempotentRequest,
): Promise<RunResult | undefined> {
  const deadline = Date.now() + waitMaxMs;
  for (let pauseMs = 20; Date.now() < deadline; pauseMs = Math.min(pauseMs * 1.5, 1_000)) {
    const run = await readRecorded(db, accountId, request.idempotencyKey);
    if (!run) return undefined;
    if (!run.requestDigest.equals(request.digest)) {
      throw new ApiError("conflict", "This Idempotency-Key was used for another request.");
    }
    if (run.state !== "running") return resultOf(run);
    await sleep(pauseMs);
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

async function readRecorded(
  db: Queryable,
  accountId: AccountId,
  idempotencyKey: string,
): Promise<RecordedRun | undefined> {
  const { rows } = await db.query<RecordedRun>({
    name: "read named run",
    text: `
      select id, state, request_digest as "requestDigest", price_credits as "priceCredits",
        credits_remaining as "creditsRemaining", output, receipt, error
      from runs where account_id = $1 and idempotency_key = $2`,
    values: [accountId, idempotencyKey],
  });
  return rows[0];
}

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
