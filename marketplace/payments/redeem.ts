import { isDeepStrictEqual } from "node:util";
import { ApiError } from "../../shared/errors.ts";
import type { PaymentRequirements, VerifyResponse } from "../../shared/x402.ts";
import type { Context } from "../context.ts";
import { newId } from "../ids.ts";
import { type Asked, claimSettled, holderOf, isPaying, namedTerms, paidIn } from "./authority.ts";
import { giveUp } from "./head-start.ts";
import type { PaidWork } from "./offer.ts";
import { type Owed, owedFor } from "./owed.ts";
import type { AbandonedCall, Held, PaidCall, PaidCallId } from "./paid-calls.ts";
import { facilitatorRequest, type Proof, proofOf } from "./proof.ts";
import { askAgain, type Presented, type Redemption, type Refused, type Work } from "./redemption.ts";
import { stablecoinOn } from "./stablecoins.ts";
import { termsFor, termsPaying } from "./terms.ts";
import { delivered, workOff } from "./work-off.ts";

/**
 * Turns a proof of payment into the agent's result, once. What can be undone runs before it is settled, so that a run
 * that fails costs nothing; what cannot be undone is settled first, and the payment then stays good until a run
 * succeeds. Two posts of one payment, wherever, are one run and one charge. Every refusal is a Redemption, never a
 * guess: a settlement nobody knows the end of is "unknown", and the same proof posted again takes it up. Who may redeem a
 * payment is authority.ts's to say.
 */
export async function redeem(context: Context, work: PaidWork, presented: Presented): Promise<Redemption> {
  const { proof, from } = presented;
  const holdIds: string[] = [];
  let isUnused = true;
  try {
    context.failedProofs.refuseOverBound(from, proof);
    const redemption = await redeemOnce(context, work, presented, holdIds);
    if (redemption.outcome === "refused") context.failedProofs.note(from, proof, redemption.reason);
    isUnused = redemption.outcome === "refused" || (redemption.outcome === "failed" && !redemption.settlement);
    return redemption;
  } finally {
    // Nothing of this post will be settled: the buyer may spend the money on another payment at once.
    if (isUnused) await Promise.all([context.facilitator.release(holdIds), giveUp(context, presented.early)]);
  }
}

async function redeemOnce(
  context: Context,
  work: PaidWork,
  presented: Presented,
  holdIds: string[],
): Promise<Redemption> {
  const { proof, offer } = presented;
  if (!stablecoinOn(proof.network)) return notOffered(proof);
  const { payment } = proof;
  if (!payment) return { outcome: "refused", reason: "invalid_payload", message: "The payment cannot be read." };
  const id: PaidCallId = { network: proof.network, key: payment.key };
  const asked: Asked = { ...work, proof, payment, id, presented, holdIds };
  const call = context.paidCalls.isKnownHere(id) ? await context.paidCalls.find(id) : undefined;
  if (call) return resume(context, asked, call);
  const terms = await termsFor(context, offer, proof).catch((error: unknown) => ({ error }));
  const paid = paidIn(proof);
  if (terms && !("error" in terms) && (!paid || isPaying(paid, terms)) && !offer.isWithdrawn) {
    const early = await presented.early;
    const verdict = isDeepStrictEqual(early?.requirements, terms) ? await early?.verdict : undefined;
    return begin(context, asked, terms, verdict);
  }
  // What is not offered any more was offered to whoever used or settled this payment before.
  const first = await context.paidCalls.find(id);
  if (first) return resume(context, asked, first);
  const claimed = await beginOnOtherTerms(context, asked);
  if (claimed) return claimed;
  if (offer.isWithdrawn) throw new ApiError("not_found", "There is no such agent.");
  if (!terms) return notOffered(proof);
  if ("error" in terms) throw terms.error;
  return {
    outcome: "refused",
    reason: "accepted_payment_requirements_mismatch",
    message: `This costs ${terms.amount} base units to ${terms.payTo} now, which is not what the payment pays.`,
  };
}

function notOffered({ network }: Proof): Redemption {
  return { outcome: "refused", reason: "invalid_network", message: `Payment on ${network} is not offered.` };
}

/**
 * A payment seen for the first time, or so it seems: the facilitator is asked before anything is written, and nothing
 * is refused before the row that another copy may have written was looked for.
 */
async function begin(
  context: Context,
  asked: Asked,
  terms: PaymentRequirements,
  early?: VerifyResponse,
): Promise<Redemption> {
  const verdict = early ?? (await context.facilitator.verify(facilitatorRequest(asked.proof, terms)));
  if (verdict?.holdId !== undefined) asked.holdIds.push(verdict.holdId);
  if (verdict?.isValid) {
    const work: Work = { ...asked, requirements: namedTerms(context, asked, terms), isHolder: true };
    const held = await take(context, work, verdict.payer);
    if (held) return workOff(context, work, held);
  }
  const call = await context.paidCalls.find(asked.id);
  if (call) return resume(context, asked, call);
  if (!verdict) throw unreachable(context);
  if (verdict.isValid) return askAgain;
  if (isSettled(verdict)) return beginSettled(context, asked);
  const { invalidReason: reason = "invalid", invalidMessage: message = "" } = verdict;
  return { outcome: "refused", reason, message };
}

/** The buyer settled it with the facilitator and now presents it. */
async function beginSettled(context: Context, asked: Asked): Promise<Redemption> {
  const claimed = await claimSettled(context, asked);
  if ("outcome" in claimed) return claimed;
  const { requirements, isHolder, settlement } = claimed;
  const work: Work = { ...asked, requirements, isHolder };
  const held = await take(context, work, settlement.payer, settlement.transaction);
  if (held) return workOff(context, work, held);
  const call = await context.paidCalls.find(asked.id);
  return call ? resume(context, asked, call) : askAgain;
}

/** The same where price or wallet have changed since it was quoted. One that is not settled is held to those of now. */
async function beginOnOtherTerms(context: Context, asked: Asked): Promise<Redemption | undefined> {
  const paid = paidIn(asked.proof);
  const terms = paid && (await termsPaying(context, asked.proof, paid).catch(() => undefined));
  const verdict = terms && (await context.facilitator.verify(facilitatorRequest(asked.proof, terms)));
  if (verdict?.holdId !== undefined) asked.holdIds.push(verdict.holdId);
  return verdict && isSettled(verdict) ? beginSettled(context, asked) : undefined;
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
async function resume(context: Context, posted: Asked, first: PaidCall): Promise<Redemption> {
  const asked = await asBought(posted, first);
  if ("outcome" in asked) return asked;
  const isSame = first.digest.equals(asked.digest);
  if (first.product !== asked.product || (!isSame && first.output !== null)) return usedForAnother;
  const holder = await holderOf(context, asked, first);
  if ("outcome" in holder) return holder;
  // The terms it was first used under.
  const work: Work = { ...asked, ...holder, requirements: first.requirements };
  if (!isSame) return resumeWithOther(context, work, first);
  const deadline = Date.now() + waitMaxMs;
  let call: PaidCall | undefined = first;
  for (let pauseMs = 20; Date.now() < deadline; pauseMs = Math.min(pauseMs * 1.5, 500)) {
    // Whoever worked on it found the agent failing or the payment bad, and charged nothing.
    if (!call) return begin(context, posted, first.requirements);
    if (!call.digest.equals(asked.digest)) return usedForAnother;
    const over = call.leased ? undefined : ending(work, call);
    if (over) return over;
    if (!call.leased) {
      const held = await context.paidCalls.takeUp(work.id, newId("run"));
      if (held) return workOff(context, work, held);
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    call = await context.paidCalls.find(work.id);
  }
  return askAgain;
}

/**
 * What is asked, as the version of the agent read it that the payment was first used for; a debt where that ran on another
 * connector, so that what there is now is not what was bought.
 */
async function asBought(
  asked: Asked,
  { product, agentVersion, transaction, output, ...call }: PaidCall,
): Promise<Asked | Owed> {
  const { agent, asOf } = asked;
  if (!agent || !asOf || product !== asked.product || agentVersion === null || agentVersion === agent.agentVersion) {
    return asked;
  }
  const then = await asOf(agentVersion);
  if (then && call.digest.equals(then.digest)) return { ...asked, digest: then.digest };
  if (then || transaction === null || output !== null) return asked;
  return owedFor(asked.proof, agent.address, asked.id, { ...call, transaction });
}

/** A payment that has given no result is good for another input, as long as nothing was done and nothing may be under way. */
async function resumeWithOther(context: Context, work: Work, { leased }: PaidCall): Promise<Redemption> {
  if (leased) return usedForAnother;
  const { paidCalls, tools } = context;
  const held = await paidCalls.takeUp(work.id, newId("run"));
  if (!held) return usedForAnother;
  const effect = await tools.effects.find(`${work.id.network}/${work.id.key}`).catch(() => ({ state: "open" }));
  if (held.output === null && (!effect || effect.state === "void")) {
    const isBound = await paidCalls.rebind(held, work.digest, work.agent?.agentVersion);
    return isBound ? workOff(context, work, held) : askAgain;
  }
  await paidCalls.putDown(held);
  return effect?.state === "open" ? askAgain : usedForAnother;
}

/** Goes on with a call whose buyer has not come back, unless somebody else works on it; its result waits for them. */
export async function goOn(context: Context, work: PaidWork, call: AbandonedCall): Promise<void> {
  const { id, requirements } = call;
  const proof = proofOf(call.paymentPayload, "The payment");
  if (typeof proof === "string" || !proof.payment) return;
  const held = await context.paidCalls.takeUp(id, newId("run"));
  if (!held) return;
  const { payment } = proof;
  await workOff(context, { ...work, proof, requirements, payment, id, isHolder: false }, held);
}

/**
 * What there is to say of a call whose result needs nothing more: one that was handed out is for those, too, who had asked
 * before; one that was not is kept for its holder, and anybody who knows the input may have a copy for a day.
 */
function ending(work: Work, { deliveredAt, output, transaction, isRecent, ...call }: PaidCall): Redemption | undefined {
  const progress = { ...call, output, transaction };
  const copy = () => delivered(work, progress, async () => {});
  if (deliveredAt !== null) {
    const isWaiting = work.presented && deliveredAt > work.presented.receivedAt;
    return isWaiting ? copy() : { outcome: "refused", reason: "already_settled", message: resultDelivered };
  }
  if (work.isHolder || output === null || transaction === null) return undefined;
  return isRecent ? copy() : { outcome: "refused", reason: "already_settled", message: resultNotKept };
}

const isSettled = ({ isValid, invalidReason }: VerifyResponse) => !isValid && settledAlready.has(invalidReason ?? "");

function unreachable({ facilitator }: Context): ApiError {
  return new ApiError("unavailable", "The payment cannot be checked at the moment; nothing was charged. Try again.", {
    headers: { "retry-after": String(facilitator.retryAfterSeconds) },
  });
}

const usedForAnother: Refused = {
  outcome: "refused",
  reason: "payment_used_for_another_call",
  message: "This payment was made for another call: it buys the agent and the input it was first used with.",
};
const resultDelivered = "This payment has been used: its result was delivered.";
const resultNotKept = "This payment has been used: its result is kept for who shows the wallet that paid.";
const settledAlready = new Set(["already_settled", "settlement_pending"]);
const waitMaxMs = 170_000;
