import { isDeepStrictEqual } from "node:util";
import type { PaymentRequirements, VerifyResponse } from "../../../shared/x402.ts";
import type { Versions } from "../../agents/version.ts";
import { newId } from "../../ids.ts";
import { stablecoinOn } from "../../stablecoins.ts";
import { imageRunMs } from "../../time-limits.ts";
import type { WaitingPost } from "../../waiting-posts.ts";
import type { FailedPayments } from "../facilitator/failed-payments.ts";
import { nonceUsed, reasonOf } from "../facilitator/refusal-reasons.ts";
import { releaseSpeculative } from "../facilitator/speculative-verification.ts";
import { facilitatorRequest, type PaidCallId, paidIn } from "../payment-payload.ts";
import { payloadProblem } from "../proof-shape.ts";
import { requirementsPaying } from "../quotes/payment-requirements.ts";
import { howToShowWallet } from "../sign-in-with-x.ts";
import { claimSettled, holderOf, namedRequirements, signInRequestFor } from "./authority.ts";
import { asBought } from "./bought-input.ts";
import { agentIn } from "./carry-out.ts";
import { effectKeyOf, type LeasedCall, type PaidCall } from "./paid-call.ts";
import { notOffered, presentTerms } from "./present-terms.ts";
import { delivered, type ProcessNeeds, processCall, spent } from "./process.ts";
import {
  type Asked,
  isSettled,
  mayHavePaid,
  outcomeUnknown,
  type PaidWork,
  type Presented,
  type Redemption,
  type Refused,
  refusedBy,
  unreachable,
  type Work,
} from "./redemption.ts";
import { judgePayload } from "./same-payment.ts";

/**
 * Turns a payment into what it buys, once. Two posts of one payment, on whatever copy of the service, are one run and one
 * charge. Every refusal is a Redemption, never a guess: a settlement whose end is not known is "unknown", and the next post of
 * the same payment resumes it. states.ts says what becomes of a call, authority.ts who may redeem a payment.
 */
export async function redeem(context: RedeemNeeds, bought: PaidWork, presented: Presented): Promise<Redemption> {
  const { payload, from } = presented;
  const holdIds: string[] = [];
  let isUnused = true;
  try {
    context.failedPayments.refuseOverBound(from, payload.payment?.payer);
    const redemption = await redeemOnce(context, bought, presented, holdIds);
    const { outcome } = redemption;
    if (outcome === "refused") context.failedPayments.note(from, payload.payment, redemption);
    if (redemption === mayHavePaid) context.failedPayments.note(from, payload.payment, { reason: nonceUsed });
    if (outcome === "spent") context.failedPayments.note(from, payload.payment, { reason: "already_settled" });
    isUnused = outcome === "refused" || outcome === "spent" || (outcome === "failed" && !redemption.settlement);
    return redemption;
  } finally {
    // Nothing of this post will be settled: the buyer may spend the money on another payment at once.
    if (isUnused) await giveBack(context, holdIds, presented);
  }
}

async function giveBack(context: RedeemNeeds, holdIds: readonly string[], { speculative }: Presented): Promise<void> {
  await Promise.all([context.facilitator.release(holdIds), releaseSpeculative(context, speculative)]);
}

export interface RedeemNeeds extends ProcessNeeds {
  readonly failedPayments: FailedPayments;
  readonly versions: Versions;
}

/** Begins the call or replays it, whichever what other posts of the same payment do meanwhile asks for, until it has an outcome. */
async function redeemOnce(
  context: RedeemNeeds,
  bought: PaidWork,
  presented: Presented,
  holdIds: string[],
): Promise<Redemption> {
  const { payload } = presented;
  if (!stablecoinOn(payload.network)) return notOffered(payload);
  const { payment } = payload;
  if (!payment) {
    const problem = payloadProblem(payload.network, payload.json.payload);
    return { outcome: "refused", reason: "invalid_payload", message: `The payment cannot be read: ${problem}` };
  }
  const id: PaidCallId = { network: payload.network, key: payment.key };
  const asked: Asked = { bought, payload, payment, id, presented, holdIds };
  let next = await lookUp(context, asked);
  while (next === "forgotten" || "seen" in next) {
    next = next === "forgotten" ? await lookUp(context, asked) : await replay(context, asked, next.seen);
  }
  return next;
}

/** An outcome, or where to go on from: a row of another post that was seen, or one that is forgotten since, having charged nothing. */
type Next = Redemption | { readonly seen: PaidCall } | "forgotten";

async function lookUp(context: RedeemNeeds, asked: Asked): Promise<Next> {
  const { id, presented } = asked;
  const call = context.paidCalls.markSeenHere(id) ? await context.paidCalls.find(id) : undefined;
  if (call) return { seen: call };
  const terms = await presentTerms(context, presented).catch((error: unknown) => ({ error }));
  if (!("error" in terms || "outcome" in terms)) {
    const speculative = await presented.speculative;
    const verdict = isDeepStrictEqual(speculative?.requirements, terms) ? await speculative?.verdict : undefined;
    return begin(context, asked, terms, verdict);
  }
  // An offer that is withdrawn now was made to the buyer who used or settled this payment before.
  const first = await context.paidCalls.find(id);
  if (first) return { seen: first };
  const claimed = await beginOnOtherTerms(context, asked);
  if (claimed) return claimed;
  if ("error" in terms) throw terms.error;
  return terms;
}

/**
 * A payment seen for the first time, or so it seems: the facilitator is asked before anything is written, and nothing
 * is refused before the row that another copy may have written was looked for.
 */
async function begin(
  context: RedeemNeeds,
  asked: Asked,
  requirements: PaymentRequirements,
  speculative?: VerifyResponse,
): Promise<Next> {
  const verdict = speculative ?? (await context.facilitator.verify(facilitatorRequest(asked.payload, requirements)));
  if (verdict?.holdId !== undefined) asked.holdIds.push(verdict.holdId);
  if (verdict?.isValid) {
    const work: Work = { ...asked, requirements: namedRequirements(context, asked, requirements), isHolder: true };
    const leased = await take(context, work, verdict.payer);
    if (leased) return processCall(context, work, leased);
  }
  const call = await context.paidCalls.find(asked.id);
  if (call) return { seen: call };
  if (!verdict) throw unreachable(context.facilitator);
  if (verdict.isValid) return outcomeUnknown;
  if (isSettled(verdict)) return beginSettled(context, asked);
  return refusedBy(verdict);
}

/** The buyer settled it with the facilitator and now presents it. */
async function beginSettled(context: RedeemNeeds, asked: Asked): Promise<Next> {
  const claimed = await claimSettled(context, asked);
  if ("outcome" in claimed) return claimed;
  const { requirements, isHolder, settlement } = claimed;
  const work: Work = { ...asked, requirements, isHolder };
  const leased = await take(context, work, settlement.payer, settlement.transaction);
  if (leased) return processCall(context, work, leased);
  const call = await context.paidCalls.find(asked.id);
  return call ? { seen: call } : outcomeUnknown;
}

/**
 * Begins a call whose price or wallet have changed since its payment was quoted, if the payment was settled. Undefined
 * where it was not: then it must pay what is asked now.
 */
async function beginOnOtherTerms(context: RedeemNeeds, asked: Asked): Promise<Next | undefined> {
  const paid = paidIn(asked.payload);
  const requirements = paid && (await requirementsPaying(context, asked.payload, paid).catch(() => undefined));
  const verdict = requirements && (await context.facilitator.verify(facilitatorRequest(asked.payload, requirements)));
  if (verdict?.holdId !== undefined) asked.holdIds.push(verdict.holdId);
  if (verdict && isSettled(verdict)) return beginSettled(context, asked);
  // Nothing comes of the question, whatever the answer: it counts like a payment that bought nothing.
  if (verdict) context.failedPayments.note(asked.presented.from, asked.payment, reasonOf(verdict));
  return undefined;
}

function take(context: RedeemNeeds, work: Work, payer?: string, transaction?: string): Promise<LeasedCall | undefined> {
  const { id, bought, requirements, payload, payment } = work;
  const { product, digest, permanent } = bought;
  const call = {
    id,
    product,
    agentVersion: agentIn(bought)?.agentVersion,
    digest,
    payloadDigest: payment.digest,
    requirements,
    payer,
    runId: newId("run"),
    transaction,
    payload: bought.kind === "credits" ? payload : undefined,
    runsUnpaid: !permanent && transaction === undefined,
  };
  return bought.kind === "credits"
    ? context.paidCalls.beginPurchase(call, bought.accountId)
    : context.paidCalls.begin(call);
}

/** A payment seen before: waits for the post that works on it, or goes on with it. */
async function replay(context: RedeemNeeds, posted: Asked, first: PaidCall): Promise<Next> {
  const other = await judgePayload(context, posted, first);
  if (other && "outcome" in other) return other;
  const asked = await asBought(context.db, posted, first);
  if ("outcome" in asked) return asked;
  const isSpent = first.output !== null && !first.digest.equals(asked.bought.digest);
  if (first.product !== asked.bought.product || isSpent) return usedForAnother;
  const holder = other ?? (await holderOf(context, asked, first));
  if ("outcome" in holder) return holder;
  // The requirements it was first used under.
  return goOn(context, { ...asked, ...holder, requirements: first.requirements }, first);
}

type ReplayedWork = Work & Pick<Asked, "presented">;

/**
 * Waits until no other post works on the call, and goes on with what that left of it. Another input waits too: what the first
 * post ends with decides whether the payment is still good for it.
 */
async function goOn(context: RedeemNeeds, work: ReplayedWork, first: PaidCall): Promise<Next> {
  const deadline = Date.now() + imageRunMs;
  let call: PaidCall | undefined = first;
  let waiting: WaitingPost<PaidCall> | undefined;
  try {
    for (let pauseMs = 20; Date.now() < deadline; pauseMs = Math.min(pauseMs * 1.5, 500)) {
      // The post that worked on it found the agent failing or the payment bad, and charged nothing.
      if (!call) return "forgotten";
      const isSame = call.digest.equals(work.bought.digest);
      if (!isSame && (call.output !== null || !work.isHolder)) return usedForAnother;
      const over = call.leased || !isSame ? undefined : ending(work, call);
      if (over) return over;
      const leased = call.leased
        ? undefined
        : await context.paidCalls.acquireLease(work.id, newId("run"), "buyer", call.digest);
      if (leased) return isSame ? processCall(context, work, leased) : processWithOtherInput(context, work, leased);
      waiting ??= context.paidCalls.waitingPosts.enter(work.id, waitingMax(work));
      if (!waiting) return outcomeUnknown;
      call = await waiting.look(pauseMs);
    }
    return outcomeUnknown;
  } finally {
    waiting?.leave();
  }
}

/** A payment that has given no result is good for another input, as long as nothing was done and nothing may be under way. */
async function processWithOtherInput(context: RedeemNeeds, work: Work, leased: LeasedCall): Promise<Redemption> {
  const { paidCalls, tools } = context;
  const effect = await tools.sideEffects.find(effectKeyOf(work.id)).catch(() => ({ state: "open" }));
  if (leased.output === null && (!effect || effect.state === "void")) {
    const isBound = await paidCalls.rebind(leased, work.bought.digest, agentIn(work.bought)?.agentVersion);
    return isBound ? processCall(context, work, leased) : outcomeUnknown;
  }
  await paidCalls.releaseLease(leased);
  return effect?.state === "open" ? outcomeUnknown : usedForAnother;
}

/**
 * The answer about a call whose result needs nothing more: one that was delivered is for those presenters, too, who had asked
 * before, and for the wallet that paid, which an answer that was lost on its way did not reach; one that was not is kept for its
 * holder, and any presenter who knows the input may have a copy for `copiesForHours` (store.ts).
 */
function ending(
  work: ReplayedWork,
  { deliveredAt, output, transaction, isRecent, isKept, ...call }: PaidCall,
): Redemption | undefined {
  const progress = { ...call, output, transaction };
  const copy = () => delivered(work, progress);
  if (deliveredAt !== null) {
    const isWaiting = deliveredAt > work.presented.receivedAt;
    if (isWaiting || (work.isWalletShown && isKept)) return copy();
    return spent(work, progress, isKept ? { ...resultLost, signIn: signInRequestFor(work) } : resultDelivered);
  }
  if (work.isHolder || output === null || transaction === null) return undefined;
  return isRecent ? copy() : spent(work, progress, { ...resultForWallet, signIn: signInRequestFor(work) });
}

/**
 * Posts that may wait for one payment, whose buyer may post it again while it is under way: presenters who have not shown that it is
 * theirs leave half of the places to its buyer.
 */
export const waitingMax = ({ isHolder }: Pick<Work, "isHolder">) => (isHolder ? 64 : 32);

const usedForAnother: Refused = {
  outcome: "refused",
  reason: "payment_used_for_another_call",
  message: "This payment was made for another call: it buys the agent and the input it was first used with.",
};
const resultDelivered = {
  message: "This payment has been used: its result was delivered.",
  advice:
    "Do not pay anew for this call: the answer that was delivered is what it bought. Another payment buys another run.",
};
const resultLost = {
  message: resultDelivered.message,
  advice: `Do not pay anew for this call: the answer that was delivered is what it bought. If it did not arrive, ${howToShowWallet}`,
};
const resultForWallet = {
  message: "This payment has been used: its result is kept for the presenter who shows the wallet that paid.",
  advice: `Do not pay anew for this call: ${howToShowWallet}`,
};
