import type { SettleResponse } from "../../shared/x402.ts";
import type { Output, Result } from "../connectors/connector.ts";
import type { Refusal } from "../connectors/refusal.ts";
import type { Context } from "../context.ts";
import { recordFailure } from "../runs/record.ts";
import { isByOthers, refusalWithoutWallet } from "./authority.ts";
import { endDebt, noteDebt } from "./debts.ts";
import type { Held, Progress } from "./paid-calls.ts";
import { facilitatorRequest } from "./proof.ts";
import {
  askAgain,
  type Conclude,
  type Delivered,
  type Failed,
  type Redemption,
  refusalOf,
  type Work,
} from "./redemption.ts";
import { reserve } from "./reserve.ts";

/** Does what remains, holding the lease; puts the call down in a state that the same payment can take up. */
export async function workOff(context: Context, work: Work, held: Held): Promise<Redemption> {
  const heartbeat = setInterval(() => {
    context.inFlight.background(context.paidCalls.extend(held));
  }, context.config.runLeaseMs / 4);
  try {
    return await context.inFlight.track(finish(context, work, held));
  } catch (error) {
    await context.paidCalls.putDown(held).catch(() => {});
    throw error;
  } finally {
    clearInterval(heartbeat);
    await work.reservation?.end({ id: held.id, lapseMs: 0 });
  }
}

/** The result of a call that is done, for whoever may have it. */
export function delivered(work: Work, call: Progress, conclude: Conclude): Delivered {
  const { runId, receipt } = call;
  const result = { runId, output: call.output as Output, receipt, settlement: settlementOf(work, call) };
  return { outcome: "delivered", result, conclude };
}

type Payment = Pick<Progress, "transaction" | "payer">;

function settlementOf({ proof }: Work, { transaction, payer }: Payment): SettleResponse {
  return {
    success: true,
    transaction: transaction ?? "",
    network: String(proof.paymentPayload.network ?? proof.accepted.network),
    ...(payer === null ? {} : { payer }),
  };
}

async function finish(context: Context, work: Work, held: Held): Promise<Redemption> {
  let { transaction, payer, output, receipt } = held;
  if (work.reservation && output === null) {
    const refusal = await reserve(context, work, held);
    if (refusal) return refused(context, work, held, refusal);
  }
  if (work.permanent && transaction === null) {
    const settlement = await settle(context, work, held);
    if ("outcome" in settlement) return settlement;
    ({ transaction, payer } = settlement);
    const { agent, requirements: terms } = work;
    await context.paidCalls.keepTransaction(held, { transaction, payer, debtor: agent?.agentId, terms });
  }
  if (output === null) {
    const result = await run(context, work, { ...held, transaction, payer });
    if ("outcome" in result) return result;
    ({ output, receipt = null } = result);
  }
  if (transaction === null) {
    const settlement = await settle(context, work, held);
    if ("outcome" in settlement) return settlement;
    ({ transaction, payer } = settlement);
  }
  const call = { ...held, transaction, payer, output, receipt };
  const conclude: Conclude = (handedOutAt) => context.paidCalls.conclude(call, work.isHolder ? handedOutAt : null);
  if (work.presented) return delivered(work, call, conclude);
  await conclude(null);
  return askAgain;
}

/** A call whose payment is settled cannot work as things stand. */
async function refused(context: Context, work: Work, held: Held, refusal: Refusal): Promise<Failed> {
  const { message: error, remedy } = refusal;
  await noteOwed(context, work, held, error);
  await context.paidCalls.putDown(held);
  return { outcome: "failed", error, runId: held.runId, settlement: settlementOf(work, held), remedy, refusal };
}

async function noteOwed(context: Context, work: Work, held: Held, error: string): Promise<void> {
  const { agent, requirements: terms } = work;
  const { id, payer, transaction } = held;
  if (!agent || transaction === null) return;
  await noteDebt(context.db, { id, agentId: agent.agentId, payer, transaction, terms, error });
}

/** Runs it and keeps the result; or says why there is none. */
async function run(context: Context, work: Work, held: Held): Promise<Result | Redemption> {
  const { db, paidCalls } = context;
  const { runId } = held;
  const charged = held.transaction !== null;
  const deadlineMs = charged ? undefined : work.payment.expiresAt.getTime() - Date.now() - settleMarginMs;
  if (deadlineMs !== undefined && deadlineMs < deadlineMinMs) {
    await paidCalls.forget(held);
    const message = "The payment expires too soon for the agent to run before it is settled.";
    return { outcome: "refused", reason: "payment_expires_too_soon", message };
  }
  const startedAt = new Date();
  const running = work.run({ id: work.id, runId, ...(deadlineMs === undefined ? {} : { deadlineMs }) });
  const outcome = await running.catch(async (notBegun: unknown) => {
    if (!charged) await paidCalls.forget(held);
    throw notBegun;
  });
  if (outcome.success) {
    const kept = await paidCalls.keepResult(held, outcome, work.opensRun ? runId : undefined);
    // The other calls end their debts with their runs.
    if (kept && charged && work.agent && !work.opensRun) context.inFlight.background(endDebt(db, held.id));
    // A lease that lapsed under a stalled process belongs to somebody else, whose run counts.
    return kept ? outcome : askAgain;
  }
  if (outcome.unknown) {
    await paidCalls.putDown(held);
    return { outcome: "unknown", message: outcome.error };
  }
  if (work.agent) await recordFailure(db, { ...work.agent, id: runId, startedAt }, outcome.error);
  if (charged) {
    await noteOwed(context, work, held, outcome.error);
    await paidCalls.putDown(held);
  } else await paidCalls.forget(held);
  const { error, remedy = "again" } = outcome;
  // What has effects was asked before, so here its refusal is a failure.
  const refusal = work.permanent ? undefined : outcome.refusal;
  const settlement = charged ? settlementOf(work, held) : undefined;
  return { outcome: "failed", error, runId, remedy, ...(settlement && { settlement }), ...(refusal && { refusal }) };
}

/** The settled payment's transaction; or why it is not settled, the call being put down. */
async function settle(context: Context, work: Work, held: Held): Promise<Settled | Redemption> {
  const { paidCalls } = context;
  const settlement = await context.facilitator.settle(facilitatorRequest(work.proof, work.requirements));
  const settled = settlement?.success || settlement?.errorReason === "already_settled";
  if (settled && settlement.transaction !== "") {
    const { transaction, payer = held.payer } = settlement;
    const refusal = isByOthers(work, settlement) && (await refusalOfOthers(context, work, payer));
    if (!refusal) return { transaction, payer };
    await paidCalls.discard(held);
    return refusal;
  }
  const refusal = refusalOf(settlement);
  // A result is withheld, not lost: it waits for this payment to be settled. A call without a result is forgotten.
  if (refusal.outcome === "refused") await paidCalls.forget(held);
  else await work.reservation?.end({ id: held.id, lapseMs: unknownSettlementMs });
  await paidCalls.putDown(held);
  return refusal;
}

/** What was settled by other hands is for who shows the wallet. The rest waits for nobody: it is done anew for that one. */
async function refusalOfOthers(context: Context, work: Work, payer: string | null): Promise<Redemption | undefined> {
  const { presented, id } = work;
  return presented ? refusalWithoutWallet(context, { presented, id }, payer) : askAgain;
}

interface Settled {
  readonly transaction: string;
  readonly payer: string | null;
}

/** What is left of a payment's life for settling it after the run. */
const settleMarginMs = 30_000;
const deadlineMinMs = 3_000;
/** As long as a payment may yet turn out to be settled, and its buyer come back. */
const unknownSettlementMs = 300_000;
