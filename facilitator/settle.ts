import type { Log } from "../shared/log.ts";
import type { Config } from "./config.ts";
import { listingRequestOf } from "./discovery/listing-requests.ts";
import type { Events } from "./events.ts";
import { checkAndHold } from "./holds/check-and-hold.ts";
import type { HoldStore } from "./holds/store.ts";
import { coolingDown, type PayerCooldowns } from "./limits/payer-cooldowns.ts";
import type { PaymentLimits } from "./limits/payment-limits.ts";
import { parsePaymentRequest } from "./payment-request.ts";
import { isClaimable } from "./payment-states.ts";
import { NoFeePayerError, requireFeePayer } from "./schemes/fee-payers.ts";
import type { SchemeRegistry } from "./schemes/registry.ts";
import {
  type Claim,
  isRefusal,
  type Outcome,
  type Payment,
  type PaymentRequest,
  type Refusal,
  refuse,
  type Scheme,
} from "./schemes/scheme.ts";
import { answer, findOut, resume, type Settled, unknown } from "./settlements/answer.ts";
import { refusalOfLate } from "./settlements/late-payment.ts";
import { type PaymentRecord, refusalToTell } from "./settlements/payment-record.ts";
import type { SettlementStore } from "./settlements/store.ts";

/**
 * POST /settle: checks the payment again, claims it, sends it, waits for the chain. However often and wherever one
 * payment is posted, one caller gets `success: true`; a failure never hides an outcome that is merely unknown
 * (`settlement_pending`). Throws ApiError 400 on a malformed body.
 */
export async function settle(context: SettleNeeds, body: unknown): Promise<Settled> {
  const startedAt = performance.now();
  const request = parsePaymentRequest(body);
  if (isRefusal(request)) return refused(context, undefined, undefined, request, startedAt);
  const scheme = context.schemes.find(request);
  if (isRefusal(scheme)) return refused(context, request, undefined, scheme, startedAt);
  const payment = scheme.decode(request);
  if (isRefusal(payment)) return refused(context, request, undefined, payment, startedAt);

  const deadline = new Date(Date.now() + context.config.settleTimeoutMs);
  const asked: Asked = { request, scheme, payment, startedAt, deadline };
  const record = await context.store.lookup(request.network, payment.key);
  if (record && !isClaimable(record)) return tell(context, asked, record);

  requireFeePayer(scheme, payment);
  const held = await checkAndHold(context, scheme, payment);
  if ("record" in held) return tell(context, asked, held.record);
  // Counted only once it holds: with made-up payments any caller could use up what a payer is allowed.
  const refusal = isRefusal(held)
    ? await refusalOfLate(scheme, payment, held)
    : await context.paymentLimits.ofPayer(request.network, payment);
  if (refusal) {
    if ("holdId" in held) await context.holds.release(held.holdId);
    const earlier = await earlierClaim(context, scheme, request, payment, refusal);
    if (!earlier) return refused(context, request, payment, refusal, startedAt);
    if (isClaimable(earlier)) await context.store.reopen(request.network, payment.key);
    return findOut(context, request, payment, deadline);
  }
  const { holdId } = held as { holdId: string };
  const claim = await context.store.claim(request.network, scheme.scheme, payment, {
    resourceUrl: request.resourceUrl,
    termsDigest: request.termsDigest,
    failuresMax: context.config.limits.failuresPerPayer,
    failuresPerDayMax: context.config.limits.failuresPerPayerDay,
    listingRequest: listingRequestOf(request, context.config.discovery),
  });
  if (!claim) {
    await context.holds.release(holdId);
    const winner = await context.store.lookup(request.network, payment.key);
    if (!winner || isClaimable(winner)) return refused(context, request, payment, coolingDown, startedAt);
    return tell(context, asked, winner);
  }
  // Counted only for a claim: by claims that are never won, no caller can use up what a payee is allowed.
  const overPayTo = await context.paymentLimits.ofPayTo(request.network, payment);
  if (overPayTo) {
    await context.store.withdraw(claim, overPayTo);
    await context.holds.release(holdId);
    return refused(context, request, payment, overPayTo, startedAt);
  }
  return settleClaimed(context, asked, claim, holdId);
}

/** The payment as it was read, and since and until when it is worked on. */
interface Asked {
  readonly request: PaymentRequest;
  readonly scheme: Scheme;
  readonly payment: Payment;
  /** As `performance.now()` tells it. */
  readonly startedAt: number;
  readonly deadline: Date;
}

/** Sends the payment that this call won, and records its end before it is told. */
async function settleClaimed(context: SettleNeeds, asked: Asked, claim: Claim, holdId: string): Promise<Settled> {
  const { request, scheme, payment, startedAt, deadline } = asked;
  const outcome = await submit(context, scheme, payment, claim, deadline).catch(async (error) => {
    await context.holds.release(holdId).catch(() => {});
    throw error;
  });
  if (outcome === "interrupted") return findOut(context, request, payment, deadline);
  const totalMs = performance.now() - startedAt;
  // Should it be tried again, it is held again: only who verified it goes on holding it.
  if (outcome.outcome === "failed") await context.holds.release(holdId).catch(() => {});
  const mine = await recorded(context, claim, payment, outcome, totalMs);
  if (mine === "unrecorded") return answer(context, request, payment, unknown(outcome.transaction));
  context.events.settlementEnded(request.network, payment, outcome, totalMs);
  if (mine) return answer(context, request, payment, outcome);
  return resume(context, request, payment, await context.store.lookup(request.network, payment.key), deadline);
}

export interface SettleNeeds {
  readonly config: Pick<Config, "settleTimeoutMs" | "limits" | "discovery">;
  readonly log: Log;
  readonly schemes: SchemeRegistry;
  readonly store: SettlementStore;
  readonly holds: HoldStore;
  readonly cooldowns: PayerCooldowns;
  readonly paymentLimits: PaymentLimits;
  readonly events: Events;
}

/** What became of a payment that was claimed before, unless the caller cannot show that it is theirs. */
async function tell(
  context: SettleNeeds,
  { request, scheme, payment, startedAt, deadline }: Asked,
  record: PaymentRecord,
): Promise<Settled> {
  const untold = await refusalToTell(scheme, record, payment);
  if (untold) return refused(context, request, payment, untold, startedAt);
  return resume(context, request, payment, record, deadline);
}

/**
 * An error on the way says nothing of what became of the payment: that is found out as for a holder that has died. Throws
 * NoFeePayerError, with the claim withdrawn, when no fee payer can pay or sign.
 */
async function submit(
  context: SettleNeeds,
  scheme: Scheme,
  payment: Payment,
  claim: Claim,
  deadline: Date,
): Promise<Outcome | "interrupted"> {
  let timer: NodeJS.Timeout | undefined;
  // Not even a database that hangs keeps the caller longer: what was sent is on record, and the reconciler's.
  const interrupted = new Promise<"interrupted">((resolve) => {
    timer = setTimeout(resolve, deadline.getTime() + submitGraceMs - Date.now(), "interrupted");
  });
  try {
    return await Promise.race([scheme.submit(payment, claim, deadline), interrupted]);
  } catch (error) {
    if (error instanceof NoFeePayerError) {
      await context.store.withdraw(claim, noFeePayer);
      throw error;
    }
    const about = { network: scheme.network, paymentKey: payment.key };
    context.log.error({ err: error, ...about }, "a submission ended in an error");
    await context.store.giveUp(claim).catch((err) => {
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
  { store }: SettleNeeds,
  scheme: Scheme,
  { network }: PaymentRequest,
  payment: Payment,
  { transaction }: Refusal,
): Promise<PaymentRecord | undefined> {
  const record = await store.lookup(network, payment.key);
  if (!record || (isClaimable(record) && !transaction)) return undefined;
  return (await refusalToTell(scheme, record, payment)) ? undefined : record;
}

/** The money may have moved: an outcome the database did not take is pending until recovery has recorded it. */
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

/** A scheme keeps to its deadline by itself, except for what it is in the middle of. */
const submitGraceMs = 2_000;

const noFeePayer = refuse("unexpected_settle_error", "No fee payer could pay the network fee and sign.");
