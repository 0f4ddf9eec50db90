import { isDeepStrictEqual } from "node:util";
import { ApiError } from "../../shared/errors.ts";
import type { PaymentRequirements, SettleResponse } from "../../shared/x402.ts";
import type { Output, Result } from "../connectors/connector.ts";
import type { Context } from "../context.ts";
import { newId, type RunId } from "../ids.ts";
import { recordFailure } from "../runs/record.ts";
import type { EarlyVerdict } from "./head-start.ts";
import { stablecoinOn } from "./networks.ts";
import type { Offer, PaidWork } from "./offer.ts";
import type { AbandonedCall, Held, PaidCall, PaidCallId, Progress } from "./paid-calls.ts";
import type { PaymentId } from "./payment-id.ts";
import { facilitatorRequest, type Proof, proofOf } from "./proof.ts";
import { termsFor } from "./terms.ts";

/**
 * Turns a proof of payment into the agent's result, once. What can be undone runs before it is settled, so that a run
 * that fails costs nothing; what cannot be undone is settled first, and the payment then stays good until a run
 * succeeds. Two posts of one payment, wherever, are one run and one charge. Every refusal is a Redemption, never a
 * guess: a settlement nobody knows the end of is "unknown", and the same proof posted again takes it up.
 */
export async function redeem(context: Context, work: PaidWork, presented: Presented): Promise<Redemption> {
  const { proof, from } = presented;
  context.failedProofs.refuseOverBound(from, proof);
  const redemption = await redeemOnce(context, work, presented);
  if (redemption.outcome === "refused") context.failedProofs.note(from, proof, redemption.reason);
  return redemption;
}

async function redeemOnce(context: Context, work: PaidWork, presented: Presented): Promise<Redemption> {
  const { proof, offer, receivedAt } = presented;
  if (!stablecoinOn(proof.network)) return notOffered(proof);
  const { payment } = proof;
  if (!payment) return { outcome: "refused", reason: "invalid_payload", message: "The payment cannot be read." };
  const id: PaidCallId = { network: proof.network, key: payment.key };
  const asked = { ...work, proof, payment, id, receivedAt };
  const call = context.paidCalls.isKnownHere(id) ? await context.paidCalls.find(id) : undefined;
  if (call) return resume(context, asked, call);
  const requirements = await termsFor(context, offer, proof).catch((error: unknown) => ({ error }));
  if (requirements && !("error" in requirements)) {
    return begin(context, { ...asked, requirements }, await presented.early);
  }
  // What is not offered any more was offered to whoever used this payment before.
  const first = await context.paidCalls.find(id);
  if (first) return resume(context, asked, first);
  if (requirements) throw requirements.error;
  return notOffered(proof);
}

/** A payment as it came for what is offered now. */
export interface Presented {
  readonly proof: Proof;
  readonly offer: Offer;
  /** The network address it came from. */
  readonly from: string;
  readonly receivedAt: Date;
  /** What the facilitator was asked ahead. */
  readonly early?: Promise<EarlyVerdict | undefined>;
}

function notOffered({ network }: Proof): Redemption {
  return { outcome: "refused", reason: "invalid_network", message: `Payment on ${network} is not offered.` };
}

export type Redemption =
  | Delivered
  /** The payment was not taken; nobody was charged for it here. */
  | {
      readonly outcome: "refused";
      readonly reason: string;
      readonly message: string;
      readonly settlement?: SettleResponse;
    }
  /** The agent failed. `charged`: the payment is settled, and good for another try. */
  | { readonly outcome: "failed"; readonly error: string; readonly runId: RunId; readonly charged: boolean }
  | { readonly outcome: "unknown"; readonly message: string };

/** A result, to be handed out (hand-out.ts) and nothing else. */
export interface Delivered {
  readonly outcome: "delivered";
  readonly result: PaidResult;
  /** Records when it was handed out; null: it was not, and the same payment may fetch it. */
  readonly conclude: Conclude;
}

type Conclude = (handedOutAt: Date | null) => Promise<void>;

export interface PaidResult {
  readonly runId: RunId;
  readonly output: Output;
  readonly receipt: object | null;
  readonly settlement: SettleResponse;
}

interface Work extends PaidWork {
  readonly proof: Proof;
  readonly requirements: PaymentRequirements;
  readonly payment: PaymentId;
  readonly id: PaidCallId;
  /** Nobody waits for the result. */
  readonly unattended?: true;
  /** When this post of the payment came in. */
  readonly receivedAt: Date;
}

/**
 * A payment seen for the first time, or so it seems: the facilitator is asked before anything is written, and nothing
 * is refused before the row that another copy may have written was looked for.
 */
async function begin(context: Context, work: Work, early?: EarlyVerdict): Promise<Redemption> {
  const verdict = await (isDeepStrictEqual(early?.requirements, work.requirements)
    ? early?.verdict
    : context.facilitator.verify(facilitatorRequest(work.proof, work.requirements)));
  if (verdict?.isValid) {
    const held = await take(context, work, verdict.payer);
    if (held) return workOff(context, work, held);
  }
  const call = await context.paidCalls.find(work.id);
  if (call) return resume(context, work, call);
  if (!verdict) throw unreachable(context);
  if (verdict.isValid) return { outcome: "unknown", message: askAgain };
  const { invalidReason: reason = "invalid", invalidMessage: message = "" } = verdict;
  return settledAlready.has(reason) ? beginSettled(context, work) : { outcome: "refused", reason, message };
}

/** The buyer settled it with the facilitator and now presents it. */
async function beginSettled(context: Context, work: Work): Promise<Redemption> {
  const settlement = await context.facilitator.settle(facilitatorRequest(work.proof, work.requirements));
  const transaction = transactionOf(settlement);
  if (transaction === undefined) return refusalOf(settlement);
  const held = await take(context, work, settlement?.payer, transaction);
  if (held) return workOff(context, work, held);
  const call = await context.paidCalls.find(work.id);
  return call ? resume(context, work, call) : { outcome: "unknown", message: askAgain };
}

function take(context: Context, work: Work, payer?: string, transaction?: string): Promise<Held | undefined> {
  const { id, product, agent, digest, requirements, permanent, goesOn, proof } = work;
  return context.paidCalls.begin({
    id,
    product,
    agentVersion: agent?.agentVersion,
    digest,
    requirements,
    payer,
    runId: newId("run"),
    transaction,
    proof: goesOn && proof,
    runsUnpaid: !permanent && transaction === undefined,
  });
}

/** A payment seen before: wait for whoever works on it, or take it up. */
async function resume(context: Context, asked: Omit<Work, "requirements">, first: PaidCall): Promise<Redemption> {
  // The terms it was first used under.
  const work = { ...asked, requirements: first.requirements };
  if (!first.digest.equals(work.digest)) {
    const message = "This payment was made for another call: it buys the agent and the input it was first used with.";
    return { outcome: "refused", reason: "payment_used_for_another_call", message };
  }
  const deadline = Date.now() + waitMaxMs;
  let call: PaidCall | undefined = first;
  for (let pauseMs = 20; Date.now() < deadline; pauseMs = Math.min(pauseMs * 1.5, 500)) {
    // Whoever worked on it found the agent failing or the payment bad, and charged nothing.
    if (!call) return begin(context, work);
    if (call.deliveredAt !== null) return again(work, call, call.deliveredAt);
    if (!call.leased) {
      const held = await context.paidCalls.takeUp(work.id, newId("run"));
      if (held) return workOff(context, work, held);
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    call = await context.paidCalls.find(work.id);
  }
  return { outcome: "unknown", message: askAgain };
}

/** Goes on with a call whose buyer has not come back, unless somebody else works on it; its result waits for them. */
export async function goOn(context: Context, work: PaidWork, call: AbandonedCall): Promise<void> {
  const { id, requirements } = call;
  const proof = proofOf(call.paymentPayload, "The payment");
  if (typeof proof === "string" || !proof.payment) return;
  const held = await context.paidCalls.takeUp(id, newId("run"));
  if (!held) return;
  const { payment } = proof;
  await workOff(context, { ...work, proof, requirements, payment, id, receivedAt: new Date(), unattended: true }, held);
}

/** A result that was handed out is for those, too, who had asked before. */
function again(work: Work, call: Progress, deliveredAt: Date): Redemption {
  if (deliveredAt > work.receivedAt) return delivered(work, call, async () => {});
  const message = "This payment has been used: its result was delivered.";
  return { outcome: "refused", reason: "already_settled", message };
}

/** Does what remains, holding the lease; puts the call down in a state that the same payment can take up. */
async function workOff(context: Context, work: Work, held: Held): Promise<Redemption> {
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
  }
}

async function finish(context: Context, work: Work, held: Held): Promise<Redemption> {
  let { transaction, payer, output, receipt } = held;
  if (work.permanent && transaction === null) {
    const settlement = await settle(context, work, held);
    if ("outcome" in settlement) return settlement;
    ({ transaction, payer } = settlement);
    await context.paidCalls.keepTransaction(held, transaction, payer);
  }
  if (output === null) {
    const result = await run(context, work, held, transaction !== null);
    if ("outcome" in result) return result;
    ({ output, receipt = null } = result);
  }
  if (transaction === null) {
    const settlement = await settle(context, work, held);
    if ("outcome" in settlement) return settlement;
    ({ transaction, payer } = settlement);
  }
  const call = { ...held, transaction, payer, output, receipt };
  const conclude: Conclude = (handedOutAt) => context.paidCalls.conclude(call, handedOutAt);
  if (!work.unattended) return delivered(work, call, conclude);
  await conclude(null);
  return { outcome: "unknown", message: askAgain };
}

/** Runs it and keeps the result; or says why there is none. */
async function run(context: Context, work: Work, held: Held, charged: boolean): Promise<Result | Redemption> {
  const { db, paidCalls } = context;
  const { runId } = held;
  const deadlineMs = charged ? undefined : work.payment.expiresAt.getTime() - Date.now() - settleMarginMs;
  if (deadlineMs !== undefined && deadlineMs < deadlineMinMs) {
    await paidCalls.forget(held);
    const message = "The payment expires too soon for the agent to run before it is settled.";
    return { outcome: "refused", reason: "payment_expires_too_soon", message };
  }
  const startedAt = new Date();
  const outcome = await work.run({ id: work.id, runId, ...(deadlineMs === undefined ? {} : { deadlineMs }) });
  if (outcome.success) {
    const kept = await paidCalls.keepResult(held, outcome, work.opensRun ? runId : undefined);
    // A lease that lapsed under a stalled process belongs to somebody else, whose run counts.
    return kept ? outcome : { outcome: "unknown", message: askAgain };
  }
  if (outcome.unknown) {
    await paidCalls.putDown(held);
    return { outcome: "unknown", message: outcome.error };
  }
  if (work.agent) await recordFailure(db, { ...work.agent, id: runId, startedAt }, outcome.error);
  if (charged) await paidCalls.putDown(held);
  else await paidCalls.forget(held);
  return { outcome: "failed", error: outcome.error, runId, charged };
}

/** The settled payment's transaction; or why it is not settled, the call being put down. */
async function settle(context: Context, work: Work, held: Held): Promise<Settled | Redemption> {
  const settlement = await context.facilitator.settle(facilitatorRequest(work.proof, work.requirements));
  const transaction = transactionOf(settlement);
  if (transaction !== undefined) return { transaction, payer: settlement?.payer ?? held.payer };
  const refusal = refusalOf(settlement);
  // A result is withheld, not lost: it waits for this payment to be settled. A call without a result is forgotten.
  if (refusal.outcome === "refused") await context.paidCalls.forget(held);
  await context.paidCalls.putDown(held);
  return refusal;
}

interface Settled {
  readonly transaction: string;
  readonly payer: string | null;
}

function delivered({ proof }: Work, call: Progress, conclude: Conclude): Redemption {
  const settlement: SettleResponse = {
    success: true,
    transaction: call.transaction ?? "",
    network: String(proof.paymentPayload.network ?? proof.accepted.network),
    ...(call.payer === null ? {} : { payer: call.payer }),
  };
  const { runId, receipt } = call;
  return { outcome: "delivered", result: { runId, output: call.output as Output, receipt, settlement }, conclude };
}

/** The payment is ours by its row, so `already_settled` is as good as success. */
function transactionOf(settlement: SettleResponse | undefined): string | undefined {
  if (!settlement) return undefined;
  const settled = settlement.success || settlement.errorReason === "already_settled";
  return settled && settlement.transaction !== "" ? settlement.transaction : undefined;
}

function refusalOf(settlement: SettleResponse | undefined): Redemption {
  if (!settlement || settlement.errorReason === "settlement_pending") return { outcome: "unknown", message: askAgain };
  const { errorReason: reason = "unexpected_settle_error", errorMessage: message = "" } = settlement;
  return { outcome: "refused", reason, message, settlement };
}

function unreachable({ facilitator }: Context): ApiError {
  return new ApiError("unavailable", "The payment cannot be checked at the moment; nothing was charged. Try again.", {
    headers: { "retry-after": String(facilitator.retryAfterSeconds) },
  });
}

const settledAlready = new Set(["already_settled", "settlement_pending"]);
const askAgain = "The outcome is not known yet. Post the same payment again to learn it; do not pay anew.";
/** What is left of a payment's life for settling it after the run. */
const settleMarginMs = 30_000;
const deadlineMinMs = 3_000;
const waitMaxMs = 170_000;
