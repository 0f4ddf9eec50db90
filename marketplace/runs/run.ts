import { setTimeout as sleep } from "node:timers/promises";
import { ApiError } from "../../shared/errors.ts";
import { type Credits, toSafeNumber } from "../../shared/units.ts";
import type { LiveAgent } from "../agents/find.ts";
import type { Caller } from "../api-keys/authenticate.ts";
import type { Output } from "../connectors/connector.ts";
import { Refusal } from "../connectors/refusal.ts";
import type { Context } from "../context.ts";
import { platformFee } from "../credits/amount.ts";
import { capture, hold, type Resolved, release } from "../credits/ledger.ts";
import { type AccountId, newId, type RunId } from "../ids.ts";
import type { ModelCharge } from "../models/model-charge.ts";
import { executeRun, type Outcome } from "./execute.ts";
import { answerOf, precheck } from "./precheck.ts";
import { type PreparedRun, prepareRun } from "./prepare.ts";
import { findRepeated, type NamedRequest, namedRequest } from "./repeat.ts";

/**
 * Runs an agent for a caller and charges credits: hold, connector, then capture or release. The caller leaving does
 * not stop it. 404, 400, 422, 503 as `prepareRun` says, 503 when nobody pays for the agent's model, then 402 when the
 * price is above what the caller allows or the balance or the key's day are too small, and 400, 409, 422, 503 as
 * `precheck` says; none of them costs anything. An agent that fails is an answer too:
 * `success: false`, nothing charged. A request with an idempotency key runs once, however often and wherever it is
 * repeated; 409 when the key was used for another request.
 */
export function runAgent(context: Context, caller: Caller, asked: AskedRun): Promise<RunAnswer> {
  return runOnce(context, caller, asked, () => prepareRun(context, asked.agent, asked.input));
}

/** The same for a run that somebody else prepares, should it not be a repetition. */
export async function runOnce(
  context: Context,
  caller: Caller,
  asked: AskedRun,
  prepare: () => Promise<PreparedRun>,
): Promise<RunAnswer> {
  const request = namedRequest(asked);
  const repeated = request && (await findRepeated(context, caller.accountId, request));
  if (repeated) return { result: repeated, replayed: true };
  const prepared = await prepare();
  const started = await startRun(context, caller, prepared, asked.maxCredits, request);
  if ("success" in started) return { result: started, replayed: true };
  return { result: await context.inFlight.track(finishRun(context, caller, started, prepared)), replayed: false };
}

export interface AskedRun {
  /** `handle/slug`. */
  readonly agent: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** The run is refused when it costs more. */
  readonly maxCredits?: number | undefined;
  /** The caller's own name for the request, 1 to 255 characters. */
  readonly idempotencyKey?: string | undefined;
}

export interface RunAnswer {
  readonly result: RunResult;
  /** The result is that of an earlier request of the same name. */
  readonly replayed: boolean;
}

/** As the specification names its fields. */
export interface RunResult {
  readonly success: boolean;
  readonly run_id: RunId;
  readonly output?: Output;
  readonly credits_used: number;
  readonly credits_remaining: number;
  readonly receipt: object | null;
  readonly error?: string;
}

interface Started {
  readonly runId: RunId;
  readonly modelCharge: ModelCharge | undefined;
}

/** The new run; the result of an earlier one when this request turns out to repeat it. */
async function startRun(
  context: Context,
  caller: Caller,
  prepared: PreparedRun,
  maxCredits: number | undefined,
  request: NamedRequest | undefined,
): Promise<Started | RunResult> {
  const { agent } = prepared;
  const { priceCredits, number: agentVersion } = agent.version;
  if (maxCredits !== undefined && priceCredits > BigInt(maxCredits)) {
    throw await unpayable(context, caller, priceCredits, "request", `The run costs more than ${maxCredits} credits.`);
  }
  const id = newId("run");
  const { accountId, key } = caller;
  const { runLeaseMs: leaseMs } = context.config;
  context.leases.keep(id);
  let held = false;
  let modelCharge: ModelCharge | undefined;
  try {
    modelCharge = await context.modelFunds.charge(agent, id, paysForModel(context, agent));
    const refused = await reserveOnCredits(context, caller, id, prepared).catch(toRefusal);
    if (refused) {
      const repeated = await repeatedSoon(context, accountId, request);
      if (repeated) return repeated;
      throw answerOf(refused);
    }
    const run = { id, accountId, key, agentId: agent.id, agentVersion, priceCredits, leaseMs, request };
    const { outcome } = await hold(context.db, run);
    held = outcome === "held";
    if (held) return { runId: id, modelCharge };
    await context.modelFunds.end(id, modelCharge);
    // Whatever kept the run from starting: an equal request may have started it a moment ago.
    const repeated = request && (await findRepeated(context, accountId, request));
    if (repeated) return repeated;
    if (outcome === "over_cap") {
      const message = `This key may spend ${key.maxCreditsPerDay} credits a day (UTC).`;
      throw await unpayable(context, caller, priceCredits, "key", message);
    }
    throw await unpayable(context, caller, priceCredits, "balance", "Not enough credits.");
  } finally {
    if (!held) {
      context.leases.end(id);
      await context.modelFunds.end(id, modelCharge);
      await context.reservations.end(id);
    }
  }
}

/** For an agent whose effect cannot be taken back: asks whether it can work, once the balance covers it. */
async function reserveOnCredits(context: Context, caller: Caller, runId: RunId, prepared: PreparedRun): Promise<void> {
  const { precheck: asks, priceCredits } = prepared.agent.version;
  if (!asks) return;
  const { credits } = await context.lookups.balance(caller.accountId);
  if (credits < priceCredits) throw await unpayable(context, caller, priceCredits, "balance", "Not enough credits.");
  await precheck(context, { runId, prepared, buyerId: caller.accountId });
}

function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  throw error;
}

/** An equal request may have reserved what this one was refused, and be about to begin its run. */
async function repeatedSoon(
  context: Context,
  accountId: AccountId,
  request: NamedRequest | undefined,
): Promise<RunResult | undefined> {
  if (!request) return undefined;
  await sleep(100);
  return findRepeated(context, accountId, request);
}

/** What is held pays for the model too, whatever the run comes to. */
function paysForModel({ config }: Context, { version }: LiveAgent): boolean {
  const { priceCredits, model } = version;
  return priceCredits - platformFee(priceCredits, config.platformFeeBasisPoints) >= (model?.cost ?? 0n);
}

async function unpayable(
  context: Context,
  caller: Caller,
  price: Credits,
  limitSource: "balance" | "key" | "request",
  message: string,
): Promise<ApiError> {
  const { credits: remaining } = await context.lookups.balance(caller.accountId);
  return new ApiError("payment_required", message, {
    body: {
      credits_required: toSafeNumber(price),
      credits_remaining: toSafeNumber(remaining),
      limit_source: limitSource,
    },
  });
}

async function finishRun(
  context: Context,
  caller: Caller,
  { runId, modelCharge }: Started,
  prepared: PreparedRun,
): Promise<RunResult> {
  try {
    const outcome = await executeRun(context, { runId, prepared, buyerId: caller.accountId, modelCharge });
    if (!outcome.success && outcome.unknown) return await unresolved(context, caller, runId, outcome.error);
    const resolved = await resolve(context, { runId, modelCharge }, prepared, outcome);
    context.events.runEnded({ runId, agent: prepared.agent.address, state: resolved.state });
    return resultOf(runId, prepared, outcome, resolved);
  } finally {
    context.leases.end(runId);
    await context.reservations.end(runId);
  }
}

/**
 * Ends the run in the ledger. An answer that was lost on the way is asked for again: a run ends once, however often it
 * is said. When the database stays away the lease lapses and the run is released; nobody pays for a lost answer.
 */
async function resolve(context: Context, started: Started, prepared: PreparedRun, outcome: Outcome): Promise<Resolved> {
  for (const pauseMs of [50, 250, 1_000, 4_000]) {
    try {
      return await resolveOnce(context, started, prepared, outcome);
    } catch (error) {
      context.events.runNotResolved({ runId: started.runId, error });
      await sleep(pauseMs);
    }
  }
  return resolveOnce(context, started, prepared, outcome);
}

function resolveOnce(
  { db, config }: Context,
  { runId: id, modelCharge }: Started,
  { agent, creatorId }: PreparedRun,
  outcome: Outcome,
): Promise<Resolved> {
  if (!outcome.success) {
    return release(db, { id, state: "failed", error: outcome.error, modelBorne: modelCharge?.borne ?? false });
  }
  const fee = platformFee(agent.version.priceCredits, config.platformFeeBasisPoints);
  const { output, receipt } = outcome;
  return capture(db, { id, creatorId, fee, output, receipt, modelClaimed: modelCharge !== undefined });
}

/** The run stays open, its credits held, until the recovery has learnt from the ledger how it ended. */
async function unresolved({ lookups }: Context, caller: Caller, runId: RunId, error: string): Promise<RunResult> {
  const { credits } = await lookups.balance(caller.accountId);
  const credits_remaining = toSafeNumber(credits);
  return { success: false, run_id: runId, credits_used: 0, credits_remaining, receipt: null, error };
}

function resultOf(runId: RunId, { agent }: PreparedRun, outcome: Outcome, resolved: Resolved): RunResult {
  const credits_remaining = toSafeNumber(resolved.creditsRemaining);
  if (outcome.success && resolved.state === "succeeded") {
    const credits_used = toSafeNumber(agent.version.priceCredits);
    const { output, receipt = null } = outcome;
    return { success: true, run_id: runId, output, credits_used, credits_remaining, receipt };
  }
  // A finished run can find that its lease lapsed meanwhile and its credits went back; then its result is not given.
  const error = outcome.success ? "The run took too long to be recorded and was refunded." : outcome.error;
  return { success: false, run_id: runId, credits_used: 0, credits_remaining, receipt: null, error };
}
