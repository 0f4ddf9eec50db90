import { clientOf } from "../../../shared/client-address.ts";
import { ApiError } from "../../../shared/errors.ts";
import type { SettleResponse, VerifyResponse } from "../../../shared/x402.ts";
import { admitOrRefuse } from "../../admit-or-refuse.ts";
import { RefusalError } from "../../connectors/refusal.ts";
import type { Output, Result } from "../../connectors/result.ts";
import { newId } from "../../ids.ts";
import type { ModelBuyer } from "../../models/model-claims.ts";
import { answerOf } from "../../runs/precheck.ts";
import { recordFailure } from "../../runs/record.ts";
import { endDebt, upsertDebt } from "../debts.ts";
import { type FacilitatorClient, nothingSent } from "../facilitator/client.ts";
import { isNetworksDoing } from "../facilitator/refusal-reasons.ts";
import { facilitatorRequest, parsePaymentPayload } from "../payment-payload.ts";
import type { QuoteIds } from "../quotes/quote-id.ts";
import { isByOthers, refusalOfUnquoted } from "./authority.ts";
import { agentIn, type CarryOutNeeds, carryOut, endReservation, isReserved, reserve } from "./carry-out.ts";
import type { AbandonedCall, LeasedCall, Progress } from "./paid-call.ts";
import { presentTerms, refusalOfFormerWallet } from "./present-terms.ts";
import { isOnRecordFor, recordOf, refusalOnRecord } from "./recorded-terms.ts";
import {
  type Delivered,
  type Failed,
  isSettled,
  mayHavePaid,
  notSent,
  outcomeUnknown,
  type PaidWork,
  type Redemption,
  type Refused,
  refusalOf,
  refusedBy,
  type Spent,
  type Unknown,
  type Work,
} from "./redemption.ts";
import { recordAway } from "./settled-elsewhere.ts";
import { isLaterPost, nextStep, stateOf } from "./states.ts";
import type { PaidCalls } from "./store.ts";

/** Does what remains of a call, holding its lease; leaves it in a state that the next post of the same payment can resume. */
export async function processCall(context: ProcessNeeds, work: Work, leased: LeasedCall): Promise<Redemption> {
  const heartbeat = setInterval(() => {
    context.backgroundWork.detach(context.paidCalls.extend(leased));
  }, context.config.runLeaseMs / 4);
  try {
    return await context.backgroundWork.track(takeSteps(context, work, leased));
  } catch (error) {
    await context.paidCalls.releaseLease(leased).catch(() => {});
    throw error;
  } finally {
    clearInterval(heartbeat);
    if (isReserved(work.bought)) await endReservation(context, work.id, 0);
  }
}

/** Goes on with a call whose buyer has not come back, unless a post holds its lease; its result waits for the buyer. */
export async function resume(context: ProcessNeeds, bought: PaidWork, call: AbandonedCall): Promise<void> {
  const { id, requirements } = call;
  const leased = await context.paidCalls.acquireLease(id, newId("run"), "crediting");
  if (!leased) return;
  const payload = parsePaymentPayload(call.paymentPayload, "The payment");
  // The payment's network is not offered any more: until the lease lapses the call is not looked at again.
  if (typeof payload === "string" || !payload.payment) return;
  const { payment } = payload;
  const work: Work = { bought, payload, requirements, payment, id, isHolder: false, holdIds: [] };
  const redemption = await processCall(context, work, leased);
  if (redemption === mayHavePaid) await context.paidCalls.leaveToBuyer(id);
}

export interface ProcessNeeds extends CarryOutNeeds {
  readonly facilitator: FacilitatorClient;
  readonly paidCalls: PaidCalls;
  readonly quoteIds: QuoteIds;
}

/** The result of a call that is done; a copy of it when no leased call is to be concluded. */
export function delivered(work: Work, call: Progress, leased?: Delivered["leased"]): Delivered {
  const { runId, receipt } = call;
  const result = { runId, output: call.output as Output, receipt, settlement: settlementOf(work, call) };
  return { outcome: "delivered", result, ...(leased && { leased }) };
}

/** A payment that bought its result, with the settlement as a facilitator tells it again. */
export function spent(work: Work, call: Progress, why: Pick<Spent, "message" | "advice" | "signIn">): Spent {
  const settlement = { ...settlementOf(work, call), success: false, errorReason: "already_settled" };
  return { outcome: "spent", ...why, settlement };
}

function settlementOf(
  { payload }: Work,
  { transaction, payer }: Pick<Progress, "transaction" | "payer">,
): SettleResponse {
  return {
    success: true,
    transaction: transaction ?? "",
    network: payload.networkAsGiven,
    ...(payer === null ? {} : { payer }),
  };
}

/** Takes the steps that states.ts says are next, until the result can be delivered or a step ends in an answer of its own. */
async function takeSteps(context: ProcessNeeds, work: Work, leased: LeasedCall): Promise<Redemption> {
  const before = await settledBefore(context, work, leased);
  if (before && "outcome" in before) return before;
  let call: LeasedCall = { ...leased, ...before };
  if (isReserved(work.bought) && call.output === null) {
    const refusal = await reserveOnce(context, work, call);
    if (refusal) return refused(context, work, call, refusal);
  }
  for (let step = nextStep(call, work.bought); step !== "deliver"; step = nextStep(call, work.bought)) {
    const done = step === "settle" ? await settle(context, work, call) : await run(context, work, call);
    if ("outcome" in done) return done;
    call = { ...call, ...done };
  }
  if (work.presented) return delivered(work, call, { call, isHolder: work.isHolder });
  await context.paidCalls.conclude(call, null);
  return outcomeUnknown;
}

/**
 * How the payment of a call was settled that an earlier post began, which may not have lived to keep its transaction; or why
 * that cannot be told. Asked before anything else is, so that no refusal is taken for one of a payment that cost nothing, and so that
 * one which is not settled is held to what is offered now. Undefined when it is not settled, or when settling it is next anyway.
 */
async function settledBefore(
  context: ProcessNeeds,
  work: Work,
  call: LeasedCall,
): Promise<Settled | Redemption | undefined> {
  if (!call.isResumed) return undefined;
  if (stateOf(call) === "ran") return refusalOfLeftWallet(context, work, call);
  if (stateOf(call) !== "begun") return undefined;
  const verdict = await context.facilitator.verify(facilitatorRequest(work.payload, work.requirements));
  if (verdict?.holdId !== undefined) work.holdIds.push(verdict.holdId);
  if (verdict?.isValid) return refusalOfOldTerms(context, work, call);
  const settlesNext = work.bought.permanent && !isReserved(work.bought);
  if (verdict && settlesNext) return undefined;
  if (verdict && isSettled(verdict)) return settle(context, work, call);
  return leaveUnsettled(context, call, verdict);
}

/** Leaves a call whose payment was not judged good for a later post; answers what is told of the payment. */
async function leaveUnsettled(
  { facilitator, paidCalls }: ProcessNeeds,
  call: LeasedCall,
  verdict: VerifyResponse | undefined,
): Promise<Refused | Unknown> {
  const told = verdict ? await refusalOnRecord(facilitator, call, refusedBy(verdict)) : outcomeUnknown;
  await paidCalls.releaseLease(call, told === mayHavePaid);
  return told;
}

/** The result was made at the price it is paid, and is for nobody to have for money that goes to a wallet its seller has left. */
async function refusalOfLeftWallet(
  context: ProcessNeeds,
  { payload, requirements, presented, holdIds }: Work,
  call: LeasedCall,
): Promise<Redemption | undefined> {
  const refusal = presented && refusalOfFormerWallet(presented, requirements);
  if (!refusal) return undefined;
  const verdict = await context.facilitator.verify(facilitatorRequest(payload, requirements));
  if (verdict?.holdId !== undefined) holdIds.push(verdict.holdId);
  // The settlement comes next, and tells its transaction.
  if (verdict && isSettled(verdict)) return undefined;
  if (!verdict?.isValid) return leaveUnsettled(context, call, verdict);
  await context.paidCalls.releaseLease(call);
  return refusal;
}

/** The price or the wallet may have changed since the call was begun. What goes on by itself is bought at a price that does not. */
async function refusalOfOldTerms(
  context: ProcessNeeds,
  { presented }: Work,
  call: LeasedCall,
): Promise<Redemption | undefined> {
  const terms = presented && (await presentTerms(context, presented));
  if (!terms || !("outcome" in terms)) return undefined;
  await context.paidCalls.forget(call);
  return terms;
}

/**
 * Whether the work can be done now; reserves what it will use up. Before a payment is settled, a refusal is thrown as the
 * call's answer, and the payment is as good as new; after that, the refusal is the result. Lookups cost the marketplace
 * something and the payer nothing, so each payer has a number of them a minute.
 */
async function reserveOnce(context: ProcessNeeds, work: Work, call: LeasedCall): Promise<RefusalError | undefined> {
  const { id, runId, payer, transaction } = call;
  try {
    await admitOrRefuse(context.db, `precheck:${payer ?? id.key}`, checksPerMinute);
    await reserve(context, work.bought, { id, runId, payer });
    return undefined;
  } catch (error) {
    if (transaction === null) await context.paidCalls.forget(call);
    const refusal = error instanceof RefusalError ? error : transaction === null ? undefined : refusalForNow(error);
    if (!refusal) throw error;
    if (transaction === null) throw answerOf(refusal);
    return refusal;
  }
}

/** A call whose payment is settled cannot work as things stand. */
async function refused(context: ProcessNeeds, work: Work, call: LeasedCall, refusal: RefusalError): Promise<Failed> {
  const { message: error, remedy } = refusal;
  await recordDebt(context, work, call, error);
  await context.paidCalls.releaseLease(call);
  return { outcome: "failed", error, runId: call.runId, settlement: settlementOf(work, call), remedy, refusal };
}

async function recordDebt(context: ProcessNeeds, work: Work, call: LeasedCall, error: string): Promise<void> {
  const { bought, requirements } = work;
  const { id, payer, transaction } = call;
  const agent = agentIn(bought);
  if (!agent || transaction === null) return;
  await upsertDebt(context.db, { id, agentId: agent.agentId, payer, transaction, requirements, error });
}

type Ran = Required<Pick<Progress, "output" | "receipt">>;

/** Runs it and keeps the result; or says why there is none. */
async function run(context: ProcessNeeds, work: Work, call: LeasedCall): Promise<Ran | Redemption> {
  const { db, paidCalls } = context;
  const { runId } = call;
  const { bought } = work;
  const charged = call.transaction !== null;
  const deadlineMs = charged ? undefined : work.payment.expiresAt.getTime() - Date.now() - settleMarginMs;
  if (deadlineMs !== undefined && deadlineMs < deadlineMinMs) {
    await paidCalls.forget(call);
    const message = "The payment expires too soon for the agent to run before it is settled.";
    return { outcome: "refused", reason: "payment_expires_too_soon", message };
  }
  const startedAt = new Date();
  const limit = deadlineMs === undefined ? {} : { deadlineMs };
  const carried = { id: work.id, runId, buyer: buyerOf(work, call), ...limit };
  const outcome = await carryOut(context, bought, carried).catch((error: unknown) =>
    notBegun(context, work, call, error),
  );
  if ("outcome" in outcome) return outcome;
  if (outcome.success) return keepResult(context, work, call, outcome);
  if (outcome.unknown) {
    await paidCalls.releaseLease(call);
    return { outcome: "unknown", message: outcome.error };
  }
  const agent = agentIn(bought);
  if (agent) await recordFailure(db, { ...agent, id: runId, startedAt }, outcome.error);
  if (charged) {
    await recordDebt(context, work, call, outcome.error);
    await paidCalls.releaseLease(call);
  } else await paidCalls.forget(call);
  const { error, remedy = "again" } = outcome;
  // A run with effects was prechecked, so here a refusal of its input is a failure.
  const { refusal } = bought.permanent && outcome.refusal?.code !== "unavailable" ? {} : outcome;
  const settlement = charged ? settlementOf(work, call) : undefined;
  return { outcome: "failed", error, runId, remedy, ...(settlement && { settlement }), ...(refusal && { refusal }) };
}

/** A run that was not begun. Of a payment that is settled the buyer is told so, and that it stays good; any other is as good as new. */
async function notBegun(context: ProcessNeeds, work: Work, call: LeasedCall, error: unknown): Promise<Failed> {
  if (call.transaction === null) await context.paidCalls.forget(call);
  const refusal = call.transaction === null ? undefined : refusalForNow(error);
  if (!refusal) throw error;
  return refused(context, work, call, refusal);
}

/** What the buyer of a settled payment is told of that which cannot be done now and can be later; undefined for anything else. */
function refusalForNow(error: unknown): RefusalError | undefined {
  if (!(error instanceof ApiError) || (error.code !== "rate_limited" && error.code !== "unavailable")) return undefined;
  const retryAfterSeconds = Number(error.headers["retry-after"] ?? retryUsuallySeconds);
  return new RefusalError(error.code, error.message, { retryAfterSeconds });
}

/**
 * The buyer that a run at its creator's cost counts against when it fails: the payer, who was verified before anything ran, and the
 * address. Once the payment is settled it is the payment alone: other failures of its buyer must not keep a paid result from it.
 */
function buyerOf({ id: { network, key }, payment, presented }: Work, { payer, transaction }: LeasedCall): ModelBuyer {
  if (transaction !== null) return { id: `${network} ${key}` };
  const id = (payer ?? payment.payer ?? payment.key).toLowerCase();
  return presented ? { id, address: clientOf(presented.from) } : { id };
}

async function keepResult(
  { db, paidCalls, backgroundWork }: ProcessNeeds,
  { bought }: Work,
  call: LeasedCall,
  result: Result,
): Promise<Ran | Redemption> {
  const agent = agentIn(bought);
  const kept = await paidCalls.keepResult(call, result, agent?.opensRun ? call.runId : undefined);
  // The other calls end their debts with their runs.
  if (kept && call.transaction !== null && agent && !agent.opensRun) backgroundWork.detach(endDebt(db, call.id));
  // A lease that lapsed under a stalled process belongs to another post, whose run counts.
  return kept ? { output: result.output, receipt: result.receipt ?? null } : outcomeUnknown;
}

type Settled = Pick<Progress, "payer"> & { readonly transaction: string };

/** Settles the payment, and keeps its transaction where the run comes next; or says why it is not settled. */
async function settle(context: ProcessNeeds, work: Work, call: LeasedCall): Promise<Settled | Redemption> {
  const { paidCalls } = context;
  const { bought, requirements } = work;
  const settlement = await context.facilitator.settle(facilitatorRequest(work.payload, requirements));
  const hasMoved = settlement?.success || settlement?.errorReason === "already_settled";
  if (hasMoved && settlement.transaction !== "") {
    const { transaction, payer = call.payer } = settlement;
    const refusal =
      isByOthers(work, settlement) &&
      !(await wasSettledForCall(context, call, requirements, settlement)) &&
      (await refusalOfOthers(context, work, settlement, payer));
    if (refusal) {
      if (refusal.outcome === "refused" && !refusal.signIn && !isLaterPost(call)) await noteUnpaid(context, work, call);
      await paidCalls.discard(call);
      return refusal;
    }
    const charged = { transaction, payer, debtor: agentIn(bought)?.agentId, requirements };
    if (bought.permanent || call.output === null) await paidCalls.keepTransaction(call, charged);
    return { transaction, payer };
  }
  const said = settlement?.errorReason === nothingSent ? notSent(settlement) : refusalOf(settlement);
  const refusal = await refusalOnRecord(context.facilitator, call, said);
  const isUnpaid = refusal === mayHavePaid || (refusal.outcome === "refused" && !isNetworksDoing(refusal));
  if (isUnpaid) await noteUnpaid(context, work, call);
  // A result is withheld, not lost: it waits for this payment to be settled. A call without a result is forgotten.
  if (refusal.outcome === "refused") await paidCalls.forget(call);
  else if (isReserved(bought) && refusal !== mayHavePaid) await endReservation(context, call.id, unknownSettlementMs);
  await paidCalls.releaseLease(call, refusal === mayHavePaid);
  return refusal;
}

/** Another envelope than the call's first may name another resource, and the payment be settled for the call all the same. */
async function wasSettledForCall(
  { facilitator }: ProcessNeeds,
  call: LeasedCall,
  requirements: Work["requirements"],
  { landedByAnother }: SettleResponse,
): Promise<boolean> {
  if (!isLaterPost(call) || landedByAnother) return false;
  try {
    return await isOnRecordFor(facilitator, call.id, requirements, await recordOf(facilitator, call.id));
  } catch (cause) {
    throw recordAway(cause);
  }
}

/** A run whose result its buyer does not pay for. */
async function noteUnpaid({ modelFunds }: ProcessNeeds, work: Work, call: LeasedCall): Promise<void> {
  const { bought } = work;
  if (call.output === null || bought.kind !== "run") return;
  await modelFunds.noteUnpaid(call.runId, bought.prepared.runnable, buyerOf(work, call));
}

/** Undefined for its payer, when it is for this. A call that no buyer waits for is begun anew when its buyer comes back. */
async function refusalOfOthers(
  context: ProcessNeeds,
  { presented, ...work }: Work,
  settlement: SettleResponse,
  payer: string | null,
): Promise<Redemption | undefined> {
  return presented ? refusalOfUnquoted(context, { ...work, presented }, settlement, payer) : outcomeUnknown;
}

const checksPerMinute = 120;
const retryUsuallySeconds = 5;
/** What is left of a payment's life for settling it after the run. */
const settleMarginMs = 30_000;
const deadlineMinMs = 3_000;
/** For this long a payment may yet turn out to be settled, and its buyer come back. */
const unknownSettlementMs = 300_000;
