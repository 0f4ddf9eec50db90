import type { VerifyResponse } from "../shared/x402.ts";
import type { Events } from "./events.ts";
import { checkAndHold } from "./holds/check-and-hold.ts";
import type { HoldStore } from "./holds/store.ts";
import type { Caller } from "./limits/clients.ts";
import type { PayerCooldowns } from "./limits/payer-cooldowns.ts";
import { parsePaymentRequest } from "./payment-request.ts";
import { isClaimable } from "./payment-states.ts";
import { requireFeePayer } from "./schemes/fee-payers.ts";
import type { SchemeRegistry } from "./schemes/registry.ts";
import { isRefusal, type Payment, type PaymentRequest, type Refusal, refuse, type Scheme } from "./schemes/scheme.ts";
import { refusalOfLanded } from "./settlements/late-payment.ts";
import type { PaymentRecord } from "./settlements/payment-record.ts";
import { type RefusalNeeds, refusalToTell } from "./settlements/refusal-to-tell.ts";
import type { SettlementStore } from "./settlements/store.ts";

/**
 * POST /verify: would this payment settle now? Moves nothing. Throws ApiError 400 on a malformed body, 503 when its
 * network is away or no fee payer can pay; everything else is an answer.
 */
export async function verify(context: VerifyNeeds, body: unknown, caller: Caller): Promise<VerifyResponse> {
  const startedAt = performance.now();
  const request = parsePaymentRequest(body);
  if (isRefusal(request)) return refused(context, undefined, undefined, request, startedAt);
  const scheme = context.schemes.find(request);
  if (isRefusal(scheme)) return refused(context, request, undefined, scheme, startedAt);
  const payment = scheme.decode(request);
  if (isRefusal(payment)) return refuseUnlessKnown(context, scheme, request, payment, startedAt);

  const held = await checkAndHold(context, scheme, payment);
  if (!("holdId" in held)) {
    // The table's record of a payment goes before the chain's answer.
    const record = "record" in held ? held.record : await context.store.lookup(request.network, payment.key);
    const known = record && (await refusalOfRecord(context, scheme, record, payment));
    return refused(context, request, payment, known ?? (isRefusal(held) ? held : beingSettled), startedAt);
  }
  try {
    requireFeePayer(scheme, payment, caller);
  } catch (error) {
    await context.holds.release(held.holdId);
    throw error;
  }
  context.events.verified(request.network, payment, performance.now() - startedAt);
  return { isValid: true, payer: payment.payer, holdId: held.holdId };
}

export interface VerifyNeeds extends RefusalNeeds {
  readonly schemes: SchemeRegistry;
  readonly store: SettlementStore;
  readonly holds: HoldStore;
  readonly cooldowns: PayerCooldowns;
  readonly events: Events;
}

/** The refusal; where the configuration alone refuses the payment, what became of it before that changed. */
async function refuseUnlessKnown(
  context: VerifyNeeds,
  scheme: Scheme,
  request: PaymentRequest,
  refusal: Refusal,
  startedAt: number,
): Promise<VerifyResponse> {
  const { payment } = refusal;
  const known = payment && (await refusalOfKnown(context, scheme, payment));
  return refused(context, request, known && payment, known ?? refusal, startedAt);
}

/** That the payment was claimed before, or that the chain has settled it since it failed. */
async function refusalOfKnown(context: VerifyNeeds, scheme: Scheme, payment: Payment): Promise<Refusal | undefined> {
  const record = await context.store.lookup(scheme.network, payment.key);
  if (!record) return undefined;
  if (!isClaimable(record)) return refusalOfRecord(context, scheme, record, payment);
  return refusalOfLanded(scheme, payment, record);
}

/** A payment that was claimed before cannot be settled again, unless it failed in a way that left it valid. */
async function refusalOfRecord(
  needs: RefusalNeeds,
  scheme: Scheme,
  record: PaymentRecord,
  payment: Payment,
): Promise<Refusal | undefined> {
  if (isClaimable(record)) return undefined;
  const untold = await refusalToTell(needs, scheme, record, payment);
  if (untold) return untold;
  if (record.state === "settled") {
    return refuse("already_settled", `This payment was settled in transaction ${record.transaction}.`);
  }
  if (record.state === "failed") return refuse(record.errorReason ?? "transaction_failed", record.errorMessage ?? "");
  return beingSettled;
}

const beingSettled = refuse("settlement_pending", "This payment is being settled.");

function refused(
  context: VerifyNeeds,
  request: PaymentRequest | undefined,
  payment: Payment | undefined,
  refusal: Refusal,
  startedAt: number,
): VerifyResponse {
  const payer = payment?.payer ?? refusal.payer ?? "";
  context.events.refused({ kind: "verify", request, payer, refusal, totalMs: performance.now() - startedAt });
  return { isValid: false, invalidReason: refusal.refused, invalidMessage: refusal.message, payer };
}
