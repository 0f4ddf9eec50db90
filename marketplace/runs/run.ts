import { setTimeout as sleep } from "node:timers/promises";
import { ApiError } from "../../shared/errors.ts";
import { type Credits, toSafeNumber } from "../../shared/units.ts";
import type { Caller } from "../api-keys/authenticate.ts";
import type { Output } from "../connectors/connector.ts";
import type { Context } from "../context.ts";
import { platformFee } from "../credits/amount.ts";
import { capture, hold, type Resolved, release } from "../credits/ledger.ts";
import { newId, type RunId } from "../ids.ts";
import { executeRun, type Outcome } from "./execute.ts";
import { type PreparedRun, prepareRun } from "./prepare.ts";

/**
 * Runs an agent for a caller and charges credits: hold, connector, then capture or release. The caller leaving does
 * not stop it. 404, 400, 422, 503 as `prepareRun` says, then 402 when the balance is too small; none of them costs
 * anything. An agent that fails is an answer too: `success: false`, nothing charged.
 */
export async function runAgent(context: Context, caller: Caller, asked: AskedRun): Promise<RunResult> {
  const prepared = await prepareRun(context, asked.agent, asked.input);
  const runId = await startRun(context, caller, prepared);
  return context.inFlight.track(finishRun(context, runId, prepared));
}

export interface AskedRun {
  /** `handle/slug`. */
  readonly agent: string;
  readonly input: Readonly<Record<string, unknown>>;
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

async function startRun(context: Context, caller: Caller, { agent }: PreparedRun): Promise<RunId> {
  const id = newId("run");
  const { priceCredits, number: agentVersion } = agent.version;
  context.leases.keep(id);
  const held = await hold(context.db, {
    id,
    accountId: caller.accountId,
    keyId: caller.key.id,
    agentId: agent.id,
    agentVersion,
    priceCredits,
    leaseMs: context.config.runLeaseMs,
  }).catch((error) => {
    context.leases.end(id);
    throw error;
  });
  if (held) return id;
  context.leases.end(id);
  throw await insufficient(context, caller, priceCredits);
}

async function insufficient(context: Context, caller: Caller, price: Credits): Promise<ApiError> {
  const { credits: remaining } = await context.lookups.balance(caller.accountId);
  return new ApiError("payment_required", "Not enough credits.", {
    body: { credits_required: toSafeNumber(price), credits_remaining: toSafeNumber(remaining) },
  });
}

async function finishRun(context: Context, runId: RunId, prepared: PreparedRun): Promise<RunResult> {
  try {
    const outcome = await executeRun(context, { runId, prepared });
    const resolved = await resolve(context, runId, prepared, outcome);
    context.events.runEnded({ runId, agent: prepared.agent.address, state: resolved.state });
    return resultOf(runId, prepared, outcome, resolved);
  } finally {
    context.leases.end(runId);
  }
}

/**
 * Ends the run in the ledger. An answer that was lost on the way is asked for again: a run ends once, however often it
 * is said. When the database stays away the lease lapses and the run is released; nobody pays for a lost answer.
 */
async function resolve(context: Context, id: RunId, prepared: PreparedRun, outcome: Outcome): Promise<Resolved> {
  for (const pauseMs of [50, 250, 1_000, 4_000]) {
    try {
      return await resolveOnce(context, id, prepared, outcome);
    } catch (error) {
      context.events.runNotResolved({ runId: id, error });
      await sleep(pauseMs);
    }
  }
  return resolveOnce(context, id, prepared, outcome);
}

function resolveOnce({ db, config }: Context, id: RunId, prepared: PreparedRun, outcome: Outcome): Promise<Resolved> {
  if (!outcome.success) return release(db, { id, state: "failed", error: outcome.error });
  const fee = platformFee(prepared.agent.version.priceCredits, config.platformFeeBasisPoints);
  return capture(db, { id, creatorId: prepared.creatorId, fee, output: outcome.output, receipt: outcome.receipt });
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
