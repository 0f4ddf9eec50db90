import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { Log } from "../../shared/log.ts";
import { isDatabaseAway } from "../../shared/postgres.ts";
import type { SettleResponse } from "../../shared/x402.ts";
import { isClaimable } from "../payment-states.ts";
import type { Outcome, Payment, PaymentRequest } from "../schemes/scheme.ts";
import { anotherPayment, isForSameTerms, isSamePayment, type PaymentRecord } from "./payment-record.ts";
import type { Retractions } from "./retractions.ts";
import type { SettlementStore } from "./store.ts";

/** The answer to write, and what to do should it certainly not have reached the caller. */
export interface Settled {
  readonly response: SettleResponse;
  readonly undelivered?: () => Promise<void>;
}

interface AnswerNeeds {
  readonly log: Log;
  readonly store: SettlementStore;
  readonly retractions: Retractions;
}

/**
 * Waits for what the reconciler finds out about a payment that was given up, or counts as failed and is settled; while the database is
 * away, for the database: it may have this caller down as told already.
 */
export async function findOut(
  context: AnswerNeeds,
  request: PaymentRequest,
  payment: Payment,
  deadline: Date,
  known: Omit<Known, "first"> = {},
): Promise<Settled> {
  const { sent = "", holder = randomUUID() } = known;
  try {
    return await untilThere(deadline, () => resume(context, request, payment, deadline, { sent, holder }));
  } catch (error) {
    context.log.error({ err: error, paymentKey: payment.key }, "the database cannot say what became of a payment");
    context.retractions.begin(request.network, payment.key, holder);
    return answer(context, request, payment, unknown(sent));
  }
}

/** Asks the database again while it is away, until the deadline. */
async function untilThere<T>(deadline: Date, ask: () => Promise<T>): Promise<T> {
  for (let pauseMs = 100; ; pauseMs = Math.min(pauseMs * 1.5, awayPauseMaxMs)) {
    try {
      return await ask();
    } catch (error) {
      if (!isDatabaseAway(error) || Date.now() + pauseMs >= deadline.getTime()) throw error;
    }
    await setTimeout(pauseMs);
  }
}

interface Known {
  /** The record as it was read just now. */
  readonly first?: PaymentRecord | undefined;
  /** The payment's transaction as far as the caller knows it: the database may have lost it. */
  readonly sent?: string;
  /** The token of the caller's claim. */
  readonly holder?: string | undefined;
}

/**
 * A payment claimed before: wait for its end, then say what became of it. A success that no caller was told yet goes to
 * the caller who asks about the terms that it was claimed for.
 */
export async function resume(
  context: AnswerNeeds,
  request: PaymentRequest,
  payment: Payment,
  deadline: Date,
  { first, sent = "", holder = randomUUID() }: Known,
): Promise<Settled> {
  const record = await untilEnded(context, request, payment, first, deadline);
  if (record && !isSamePayment(record, payment)) {
    const { refused: reason, message } = anotherPayment;
    return answer(context, request, payment, { outcome: "failed", reason, message, transaction: "", retryable: false });
  }
  if (record?.state === "settled") {
    const byAnother = record.landedByAnother && ({ byAnother: true } as const);
    const outcome: Outcome = { outcome: "settled", transaction: record.transaction, ...byAnother };
    const deliver = () => context.store.deliver(request.network, payment.key, holder);
    const isHanded = () =>
      untilThere(deadline, deliver).catch((error: unknown) => {
        context.retractions.begin(request.network, payment.key, holder);
        throw error;
      });
    const isRetracted = () => context.retractions.ended(request.network, payment.key, deadline);
    const mine =
      isForSameTerms(record, request) && ((await isHanded()) || ((await isRetracted()) && (await isHanded())));
    return mine ? answer(context, request, payment, outcome) : alreadySettled(request, payment, record);
  }
  if (record?.state === "failed") {
    return answer(context, request, payment, {
      outcome: "failed",
      reason: record.errorReason ?? "transaction_failed",
      message: record.errorMessage ?? "The settlement failed.",
      transaction: record.transaction,
      retryable: record.retryable,
    });
  }
  return answer(context, request, payment, unknown(record?.transaction || sent));
}

/** Looks once more when the deadline is over: a client asks again about a pending payment only where it is told its transaction. */
async function untilEnded(
  context: AnswerNeeds,
  request: PaymentRequest,
  payment: Payment,
  first: PaymentRecord | undefined,
  deadline: Date,
): Promise<PaymentRecord | undefined> {
  const look = () => context.store.lookup(request.network, payment.key);
  let record = first;
  for (let pauseMs = 10; record === undefined || !hasEnded(record); pauseMs = Math.min(pauseMs * 1.5, 250)) {
    if (Date.now() + pauseMs >= deadline.getTime()) {
      const late = setTimeout(lastLookMs, undefined, { ref: false });
      return (await Promise.race([look(), late])) ?? record;
    }
    await setTimeout(pauseMs);
    record = await look();
  }
  return record;
}

/** What its one caller is told of an outcome. */
export function answer(context: AnswerNeeds, request: PaymentRequest, payment: Payment, outcome: Outcome): Settled {
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

/** By itself it proves no purchase: every reader of the chain can present it. The digest shows the terms it was settled for. */
function alreadySettled(request: PaymentRequest, payment: Payment, record: PaymentRecord): Settled {
  const { transaction, termsDigest } = record;
  const errorMessage = `This payment was settled in transaction ${transaction}.`;
  const common = { transaction, network: request.networkAsGiven, payer: payment.payer };
  const refusal = { success: false, errorReason: "already_settled", errorMessage, ...common };
  if (termsDigest === undefined || termsDigest !== request.termsDigest) return { response: refusal };
  return { response: { ...refusal, ...(record.landedByAnother ? { landedByAnother: true } : { termsDigest }) } };
}

export function unknown(transaction: string): Outcome {
  return { outcome: "unknown", transaction };
}

const lastLookMs = 1_000;
const awayPauseMaxMs = 1_000;

/** Nor is there anything to wait for when the next caller who sends it is to claim it. */
const hasEnded = (record: PaymentRecord) =>
  record.state === "settled" || record.state === "failed" || isClaimable(record);
