import { ApiError } from "../shared/errors.ts";
import type { Log } from "../shared/log.ts";
import type { Config } from "./config.ts";
import { listingRequestOf } from "./discovery/listing-requests.ts";
import type { Events } from "./events.ts";
import { checkAndHold } from "./holds/check-and-hold.ts";
import type { HoldStore } from "./holds/store.ts";
import type { Caller } from "./limits/clients.ts";
import { coolingDown, type PayerCooldowns } from "./limits/payer-cooldowns.ts";
import type { PaymentLimits } from "./limits/payment-limits.ts";
import { parsePaymentRequest, type ReceivedPayment } from "./payment-request.ts";
import { isClaimable } from "./payment-states.ts";
import { NoFeePayerError, requireFeePayer } from "./schemes/fee-payers.ts";
import type { SchemeRegistry } from "./schemes/registry.ts";
import {
  type Claim,
  type Claiming,
  isBarred,
  isRefusal,
  type Outcome,
  type Payment,
  type PaymentRequest,
  type Refusal,
  refuse,
  type Scheme,
  type WantedClaim,
} from "./schemes/scheme.ts";
import { answer, findOut, resume, type Settled } from "./settlements/answer.ts";
import { refusalOfLanded, refusalOfLate } from "./settlements/late-payment.ts";
import type { PaymentRecord } from "./settlements/payment-record.ts";
import { type RefusalNeeds, refusalToTell } from "./settlements/refusal-to-tell.ts";
import type { Retractions } from "./settlements/retractions.ts";
import type { SettlementStore } from "./settlements/store.ts";

/**
 * POST /settle: checks the payment again, claims it, sends it, waits for the chain. However often and wherever one
 * payment is posted, one caller gets `success: true`; a failure never hides an outcome that is merely unknown
 * (`settlement_pending`), nor does a configuration that has changed since. Throws ApiError 400 on a malformed body.
 */
export async function settle(context: SettleNeeds, body: unknown, caller: Caller): Promise<Settled> {
  const startedAt = performance.now();
  const request = parsePaymentRequest(body);
  if (isRefusal(request)) return refused(context, undefined, undefined, request, startedAt);
  const scheme = context.schemes.find(request);
  if (isRefusal(scheme)) return refused(context, request, undefined, scheme, startedAt);
  const decoded = scheme.decode(request);
  if (isRefusal(decoded) && !isBarred(decoded)) return refused(context, request, undefined, decoded, startedAt);
  const payment = isRefusal(decoded) ? decoded.payment : decoded;

  const deadline = new Date(Date.now() + context.config.settleTimeoutMs);
  let counted: Promise<Refusal | undefined> | undefined;
  const ofPayTo = () => {
    counted ??= context.paymentLimits.ofPayTo(request.network, payment, caller);
    return counted;
  };
  const { isStranger } = caller;
  const asked: Asked = { request, scheme, payment, isStranger, startedAt, deadline, ofPayTo };
  const record = await context.store.lookup(request.network, payment.key);
  if (record && !isClaimable(record)) return tell(context, asked, record);
  if (isRefusal(decoded)) return refuseBarred(context, asked, decoded, record);

  requireFeePayer(scheme, payment, caller);
  const held = await checkAndHold(context, scheme, payment);
  if ("record" in held) return tell(context, asked, held.record);
  if (isRefusal(held)) return tellRefusal(context, asked, await refusalOfLate(scheme, payment, held));
  const { holdId } = held;
  try {
    // Counted only once it holds: with made-up payments any caller could use up what a payer is allowed.
    const refusal = await context.paymentLimits.ofPayer(request.network, payment);
    if (refusal) {
      await context.holds.release(holdId);
      return await tellRefusal(context, asked, refusal);
    }
    refuseLate(asked);
    const first = record ? undefined : await settleNew(context, asked, holdId);
    if (first) return first;
    // The payment may have expired while another caller's settlement of it was waited for.
    refuseLate(asked);
    return await claimAndSettle(context, asked, holdId);
  } catch (error) {
    // A payment that was claimed meanwhile stays held.
    await context.holds.release(holdId).catch(() => {});
    throw error;
  }
}

/** The refusal by what is configured now, unless the chain has settled the payment while it is on record as failed. */
async function refuseBarred(
  context: SettleNeeds,
  asked: Asked,
  barred: Refusal,
  record: PaymentRecord | undefined,
): Promise<Settled> {
  const landed = record && (await refusalOfLanded(asked.scheme, asked.payment, record));
  if (landed) return tellRefusal(context, asked, landed);
  return refused(context, asked.request, undefined, barred, asked.startedAt);
}

/** The refusal, unless a claim that was made meanwhile, or what the chain shows of an earlier one, is to be told instead. */
async function tellRefusal(
  context: SettleNeeds,
  { request, scheme, payment, startedAt, deadline }: Asked,
  refusal: Refusal,
): Promise<Settled> {
  const earlier = await earlierClaim(context, scheme, request, payment, refusal);
  if (!earlier) return refused(context, request, payment, refusal, startedAt);
  if (isClaimable(earlier)) await context.store.reopen(request.network, payment.key);
  return findOut(context, request, payment, deadline);
}

/**
 * Settles a payment that has no claim yet, where the scheme claims it with what it signs: one transaction instead of two. Undefined when
 * that claimed nothing.
 */
async function settleNew(context: SettleNeeds, asked: Asked, holdId: string): Promise<Settled | undefined> {
  const { scheme, request, payment, isStranger, startedAt } = asked;
  if (!scheme.claimAndSubmit) return undefined;
  const id = `${request.network} ${payment.key}`;
  const another = context.newPayments.get(id);
  if (another) {
    await another.catch(() => {});
    const record = await context.store.lookup(request.network, payment.key);
    if (!record) return undefined;
    await context.holds.release(holdId);
    return tell(context, asked, record);
  }
  const overPayTo = asked.ofPayTo();
  const settling = overPayTo.then(async (refusal) => {
    if (!refusal) return settleClaimed(context, asked, { wanted: wantedOf(context, asked), isStranger }, holdId);
    await context.holds.release(holdId);
    return refused(context, request, payment, refusal, startedAt);
  });
  context.newPayments.set(id, settling);
  return settling.finally(() => context.newPayments.delete(id));
}

/** Claims the payment, and sends it once the claim is won. */
async function claimAndSettle(context: SettleNeeds, asked: Asked, holdId: string): Promise<Settled> {
  const { request, scheme, payment, isStranger, startedAt } = asked;
  const wanted = wantedOf(context, asked);
  const claim = await context.store.claim(request.network, scheme.scheme, payment, wanted.terms);
  if (!claim) {
    await context.holds.release(holdId);
    const winner = await context.store.lookup(request.network, payment.key);
    if (!winner || isClaimable(winner)) return refused(context, request, payment, coolingDown, startedAt);
    return tell(context, asked, winner);
  }
  // Counted only for a claim: by claims that are never won, no caller can use up what a payee is allowed.
  const overPayTo = await asked.ofPayTo();
  if (overPayTo) {
    await context.store.withdraw(claim, overPayTo);
    await context.holds.release(holdId);
    return refused(context, request, payment, overPayTo, startedAt);
  }
  return settleClaimed(context, asked, { wanted, isStranger, claim }, holdId) as Promise<Settled>;
}

function wantedOf({ config }: SettleNeeds, { request, scheme, payment }: Asked): WantedClaim {
  return {
    network: request.network,
    scheme: scheme.scheme,
    payment,
    terms: {
      resourceUrl: request.resourceUrl,
      termsDigest: request.termsDigest,
      failuresMax: config.limits.failuresPerPayer,
      failuresPerDayMax: config.limits.failuresPerPayerDay,
      listingRequest: listingRequestOf(request, config.discovery),
    },
  };
}

/** The payment as it was read, and since and until when it is worked on. */
interface Asked {
  readonly request: ReceivedPayment;
  readonly scheme: Scheme;
  readonly payment: Payment;
  readonly isStranger: boolean;
  /** By `performance.now()`. */
  readonly startedAt: number;
  readonly deadline: Date;
  /** Counts it for its payee, once. */
  readonly ofPayTo: () => Promise<Refusal | undefined>;
}

/** Sends the payment that this call won or is to win, and records its end before it is told. Undefined when it was not to be claimed. */
async function settleClaimed(
  context: SettleNeeds,
  asked: Asked,
  claiming: Claiming,
  holdId: string,
): Promise<Settled | undefined> {
  const { request, payment, startedAt, deadline } = asked;
  const outcome = await submit(context, asked, claiming).catch(async (error) => {
    await context.holds.release(holdId).catch(() => {});
    throw error;
  });
  if (outcome === "unclaimed") return undefined;
  if (outcome === "interrupted") return findOut(context, request, payment, deadline);
  const totalMs = performance.now() - startedAt;
  // Should it be tried again, it is held again: only who verified it goes on holding it.
  if (outcome.outcome === "failed") await context.holds.release(holdId).catch(() => {});
  const claim = claiming.claim as Claim;
  const sent = outcome.transaction;
  const mine = await recorded(context, claim, payment, outcome, totalMs);
  if (mine === "unrecorded") return findOut(context, request, payment, deadline, { sent, holder: claim.token });
  context.events.settlementEnded(request.network, payment, outcome, totalMs);
  if (mine) return answer(context, request, payment, outcome);
  return findOut(context, request, payment, deadline, { sent });
}

export interface SettleNeeds extends RefusalNeeds {
  readonly config: Pick<Config, "settleTimeoutMs" | "limits" | "discovery">;
  readonly log: Log;
  readonly schemes: SchemeRegistry;
  readonly store: SettlementStore;
  readonly retractions: Retractions;
  readonly holds: HoldStore;
  readonly cooldowns: PayerCooldowns;
  readonly paymentLimits: PaymentLimits;
  /** Payments that this copy is settling without a claim that was made before, by network and key. */
  readonly newPayments: Map<string, Promise<unknown>>;
  readonly events: Events;
}

/** What became of a payment that was claimed before, unless the caller cannot show that it is theirs. */
async function tell(
  context: SettleNeeds,
  { request, scheme, payment, startedAt, deadline }: Asked,
  record: PaymentRecord,
): Promise<Settled> {
  const untold = await refusalToTell(context, scheme, record, payment);
  if (untold) return refused(context, request, payment, untold, startedAt);
  return resume(context, request, payment, deadline, { first: record });
}

/**
 * An error on the way says nothing of what became of the payment: that is found out as for a holder that has died. Throws
 * NoFeePayerError, with the claim withdrawn, when no fee payer can pay or sign.
 */
async function submit(
  context: SettleNeeds,
  { scheme, payment, deadline }: Asked,
  claiming: Claiming,
): Promise<Outcome | "interrupted" | "unclaimed"> {
  let timer: NodeJS.Timeout | undefined;
  // Not even a database that hangs keeps the caller longer: what was sent is on record, and the reconciler's.
  const interrupted = new Promise<"interrupted">((resolve) => {
    timer = setTimeout(resolve, deadline.getTime() + submitGraceMs - Date.now(), "interrupted");
  });
  try {
    const submitting = claiming.claim
      ? scheme.submit(payment, claiming.claim, deadline, claiming.isStranger)
      : scheme.claimAndSubmit?.(payment, claiming, deadline);
    if (!submitting) return "unclaimed";
    return await Promise.race([submitting, interrupted]);
  } catch (error) {
    const { claim } = claiming;
    if (error instanceof NoFeePayerError) {
      if (claim) await context.store.withdraw(claim, noFeePayer);
      throw error;
    }
    const about = { network: scheme.network, paymentKey: payment.key };
    context.log.error({ err: error, ...about }, "a submission ended in an error");
    await (claim && context.store.giveUp(claim))?.catch((err) => {
      context.log.error({ err, ...about }, "the claim was not given up; it runs out by itself");
    });
    return "interrupted";
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The claim whose outcome is to be told of a payment that does not hold: one made meanwhile, whose settlement is perhaps why
 * it does not hold any more; or one that counts as failed while the chain says that the payment is settled.
 */
async function earlierClaim(
  context: SettleNeeds,
  scheme: Scheme,
  { network }: PaymentRequest,
  payment: Payment,
  { transaction }: Refusal,
): Promise<PaymentRecord | undefined> {
  const record = await context.store.lookup(network, payment.key);
  if (!record || (isClaimable(record) && !transaction)) return undefined;
  return (await refusalToTell(context, scheme, record, payment)) ? undefined : record;
}

/** The money may have moved: an outcome that the database perhaps did not take is what is found on record then. */
async function recorded(context: SettleNeeds, claim: Claim, payment: Payment, outcome: Outcome, totalMs: number) {
  try {
    return await context.store.finish(claim, outcome, Math.round(totalMs), true);
  } catch (error) {
    const { transaction } = outcome;
    context.log.error({ err: error, paymentKey: payment.key, transaction }, "an outcome was not recorded");
    return "unrecorded";
  }
}

function refused(
  context: SettleNeeds,
  request: PaymentRequest | undefined,
  payment: Payment | undefined,
  refusal: Refusal,
  startedAt: number,
): Settled {
  const payer = payment?.payer ?? refusal.payer ?? "";
  context.events.refused({ kind: "settle", request, payer, refusal, totalMs: performance.now() - startedAt });
  return {
    response: {
      success: false,
      errorReason: refusal.refused,
      errorMessage: refusal.message,
      transaction: refusal.transaction ?? "",
      network: request?.networkAsGiven ?? "",
      payer,
    },
  };
}

/** Its caller may have given up, and sell nothing for what would be paid now. */
function refuseLate({ request: { network }, deadline }: Asked): void {
  if (Date.now() < deadline.getTime()) return;
  const message = "Checking this payment took longer than a settlement may; nothing was sent. Send it again.";
  throw new ApiError("unavailable", message, { headers: { "retry-after": "5" }, body: { network, sent: false } });
}

/** A scheme keeps to its deadline by itself, except for what it is in the middle of. */
const submitGraceMs = 2_000;

const noFeePayer = refuse("unexpected_settle_error", "No fee payer could pay the network fee and sign.");
