import type { SettleResponse } from "../shared/x402.ts";
import type { Context } from "./context.ts";
import { offerOf } from "./discovery/offers.ts";
import { FeePayersEmpty, requireFeePayer } from "./fee-payers/empty.ts";
import { coolingDown } from "./limits/payer-record.ts";
import { parsePaymentRequest } from "./request.ts";
import {
  type Claim,
  isRefusal,
  type Outcome,
  type Payment,
  type PaymentRequest,
  type Refusal,
  type Scheme,
} from "./schemes/scheme.ts";
import { isClaimable, isForSameTerms, type Known, refusalToTell } from "./settlements/known.ts";

/**
 * POST /settle: checks the payment again, claims it, sends it, waits for the chain. However often and wherever one
 * payment is posted, one caller gets `success: true`; a failure never hides an outcome that is merely unknown
 * (`settlement_pending`). Throws ApiError 400 on a malformed body.
 */
export async function settle(context: Context, body: unknown): Promise<Settled> {
  const startedAt = performance.now();
  const request = parsePaymentRequest(body);
  if (isRefusal(request)) return refused(context, undefined, undefined, request, startedAt);
  const scheme = context.schemes.find(request);
  if (isRefusal(scheme)) return refused(context, request, undefined, scheme, startedAt);
  const payment = scheme.decode(request);
  if (isRefusal(payment)) return refused(context, request, undefined, payment, startedAt);

  const deadline = new Date(Date.now() + context.config.settleTimeoutMs);
  const known = await context.store.lookup(request.network, payment.key);
  if (known && !isClaimable(known)) {
    const untold = await refusalToTell(scheme, known, payment);
    if (untold) return refused(context, request, payment, untold, startedAt);
    return resume(context, request, payment, known, deadline);
  }

  requireFeePayer(scheme, payment);
  // Counted only once it holds: with made-up payments anybody could use up what a payer or payee is allowed.
  const refusal = (await scheme.check(payment)) ?? (await context.limits.ofPayment(request.network, payment));
  if (refusal) {
    const isTold = await mayBeTold(context, scheme, request, payment, refusal);
    return isTold
      ? findOut(context, request, payment, deadline)
      : refused(context, request, payment, refusal, startedAt);
  }
  const claim = await context.store.claim(request.network, scheme.scheme, payment, {
    resourceUrl: request.resourceUrl,
    termsDigest: request.termsDigest,
    failuresMax: context.config.limits.failuresPerPayer,
    failuresPerDayMax: context.config.limits.failuresPerPayerDay,
    offer: offerOf(request, context.config.discovery),
  });
  if (!claim) {
    const winner = await context.store.lookup(request.network, payment.key);
    if (!winner || isClaimable(winner)) return refused(context, request, payment, coolingDown, startedAt);
    const untold = await refusalToTell(scheme, winner, payment);
    if (untold) return refused(context, request, payment, untold, startedAt);
    return resume(context, request, payment, winner, deadline);
  }

  const outcome = await submit(context, scheme, payment, claim, deadline);
  if (outcome === "interrupted") return findOut(context, request, payment, deadline);
  const totalMs = performance.now() - startedAt;
  const mine = await recorded(context, claim, payment, outcome, totalMs);
  if (mine === "unrecorded") return answer(context, request, payment, unknown(outcome.transaction));
  context.events.settlementEnded(request.network, payment, outcome, totalMs);
  if (mine) return answer(context, request, payment, outcome);
  return resume(context, request, payment, await context.store.lookup(request.network, payment.key), deadline);
}

/** The answer to write, and what to do should it certainly not have reached the caller. */
export interface Settled {
  readonly response: SettleResponse;
  readonly undelivered?: () => Promise<void>;
}

/** An error on the way says nothing of what became of the payment: that is found out as for a holder that has died. */
async function submit(
  context: Context,
  scheme: Scheme,
  payment: Payment,
  claim: Claim,
  deadline: Date,
): Promise<Outcome | "interrupted"> {
  try {
    return await scheme.submit(payment, claim, deadline);
  } catch (error) {
    if (error instanceof FeePayersEmpty) {
      await context.store.withdraw(claim);
      throw error;
    }
    context.log.error({ err: error, paymentKey: payment.key }, "a submission ended in an error");
    await context.store.giveUp(claim).catch((err) => {
      context.log.error({ err, paymentKey: payment.key }, "the claim was not given up; it runs out by itself");
    });
    return "interrupted";
  }
}

/**
 * Whether a payment that does not hold is one whose outcome is to be told: it was claimed meanwhile, and settling it is
 * perhaps why it does not hold any more; or it counts as failed and the chain says that it is settled.
 */
async function mayBeTold(
  { store }: Context,
  scheme: Scheme,
  { network }: PaymentRequest,
  payment: Payment,
  { transaction }: Refusal,
): Promise<boolean> {
  const known = await store.lookup(network, payment.key);
  if (!known || (isClaimable(known) && !transaction) || (await refusalToTell(scheme, known, payment))) return false;
  if (isClaimable(known)) await store.reopen(network, payment.key);
  return true;
}

/** Waits for what the reconciler finds out about a payment that was given up, or counts as failed and is settled. */
async function findOut(context: Context, request: PaymentRequest, payment: Payment, deadline: Date): Promise<Settled> {
  try {
    return await resume(context, request, payment, undefined, deadline);
  } catch (error) {
    context.log.error({ err: error, paymentKey: payment.key }, "the database cannot say what became of a payment");
    return answer(context, request, payment, unknown(""));
  }
}

/** The money may have moved: an outcome the database did not take is pending until recovery has recorded it. */
async function recorded(context: Context, claim: Claim, payment: Payment, outcome: Outcome, totalMs: number) {
  try {
    return await context.store.finish(claim, outcome, Math.round(totalMs), true);
  } catch (error) {
    const { transaction } = outcome;
    context.log.error({ err: error, paymentKey: payment.key, transaction }, "an outcome was not recorded");
    return "unrecorded";
  }
}

/**
 * A payment claimed before: wait for its end, then say what became of it. A success that was told to nobody yet is for
 * who asks about the terms it was claimed for.
 */
async function resume(
  context: Context,
  request: PaymentRequest,
  payment: Payment,
  first: Known | undefined,
  deadline: Date,
): Promise<Settled> {
  const known = await untilEnded(context, request, payment, first, deadline);
  if (known?.state === "settled") {
    const byAnother = known.landedByAnother && ({ byAnother: true } as const);
    const outcome: Outcome = { outcome: "settled", transaction: known.transaction, ...byAnother };
    const mine = isForSameTerms(known, request) && (await context.store.deliver(request.network, payment.key));
    return mine ? answer(context, request, payment, outcome) : alreadySettled(request, payment, known);
  }
  if (known?.state === "failed") {
    return answer(context, request, payment, {
      outcome: "failed",
      reason: known.errorReason ?? "transaction_failed",
      message: known.errorMessage ?? "The settlement failed.",
      transaction: known.transaction,
      retryable: known.retryable,
    });
  }
  return answer(context, request, payment, unknown(known?.transaction ?? ""));
}

async function untilEnded(
  context: Context,
  request: PaymentRequest,
  payment: Payment,
  first: Known | undefined,
  deadline: Date,
): Promise<Known | undefined> {
  let known = first;
  for (let pauseMs = 10; known === undefined || !hasEnded(known); pauseMs = Math.min(pauseMs * 1.5, 250)) {
    if (Date.now() + pauseMs >= deadline.getTime()) return known;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    known = await context.store.lookup(request.network, payment.key);
  }
  return known;
}

/** What its one caller is told of an outcome. */
function answer(context: Context, request: PaymentRequest, payment: Payment, outcome: Outcome): Settled {
  const common = { transaction: outcome.transaction, network: request.networkAsGiven, payer: payment.payer };
  switch (outcome.outcome) {
    case "settled":
      return {
        response: { success: true, ...common, ...(outcome.byAnother && { landedByAnother: true }) },
        undelivered: () => context.store.undeliver(request.network, payment.key),
      };
    case "failed":
      return { response: { success: false, errorReason: outcome.reason, errorMessage: outcome.message, ...common } };
    case "unknown": {
      const errorMessage = "The chain has not answered yet; send the same settlement again to learn its outcome.";
      return { response: { success: false, errorReason: "settlement_pending", errorMessage, ...common } };
    }
  }
}

/** No proof of a purchase by itself, for whoever reads the chain can present it; with the digest, of the terms' own. */
function alreadySettled(request: PaymentRequest, payment: Payment, known: Known): Settled {
  const { transaction, termsDigest } = known;
  const errorMessage = `This payment was settled in transaction ${transaction}.`;
  const common = { transaction, network: request.networkAsGiven, payer: payment.payer };
  const isProven = termsDigest !== undefined && termsDigest === request.termsDigest && !known.landedByAnother;
  const proof = isProven ? { termsDigest } : {};
  return { response: { success: false, errorReason: "already_settled", errorMessage, ...common, ...proof } };
}

function refused(
  context: Context,
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

const unknown = (transaction: string): Outcome => ({ outcome: "unknown", transaction });
/** Nor is there anything to wait for when whoever sends it again is to claim it. */
const hasEnded = (known: Known) => known.state === "settled" || known.state === "failed" || isClaimable(known);
