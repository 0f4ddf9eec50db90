import type { VerifyResponse } from "../shared/x402.ts";
import type { Context } from "./context.ts";
import { requireFeePayer } from "./fee-payers/empty.ts";
import { cover } from "./holds/cover.ts";
import type { Placed } from "./holds/store.ts";
import { parsePaymentRequest } from "./request.ts";
import { isRefusal, type Payment, type PaymentRequest, type Refusal, refuse, type Scheme } from "./schemes/scheme.ts";
import { isClaimable, type Known, refusalToTell } from "./settlements/known.ts";

/**
 * POST /verify: would this payment settle now? Moves nothing. Throws ApiError 400 on a malformed body, 503 when its
 * network is away or nobody can pay its fee; everything else is an answer.
 */
export async function verify(context: Context, body: unknown): Promise<VerifyResponse> {
  const startedAt = performance.now();
  const request = parsePaymentRequest(body);
  if (isRefusal(request)) return refused(context, undefined, undefined, request, startedAt);
  const scheme = context.schemes.find(request);
  if (isRefusal(scheme)) return refused(context, request, undefined, scheme, startedAt);
  const payment = scheme.decode(request);
  if (isRefusal(payment)) return refused(context, request, undefined, payment, startedAt);

  // Only what the payer surely signed is held while the chain is asked: nobody else can tie up a payer's money.
  const { holds } = context;
  const placing = scheme.isSignedForNow(payment) ? holds.placeAhead(request.network, payment) : undefined;
  placing?.catch(() => {});
  const bad = await checked(context, scheme, payment, placing);
  if (bad) {
    // What the table knows of a payment goes before what the chain says.
    const known = await context.store.lookup(request.network, payment.key);
    const refusal = (known && (await refusalOfKnown(scheme, known, payment))) ?? bad;
    return refused(context, request, payment, refusal, startedAt);
  }
  const covered = await cover(holds, scheme, payment, await placing);
  if (!("holdId" in covered)) {
    const refusal = "known" in covered ? await refusalOfKnown(scheme, covered.known, payment) : covered;
    return refused(context, request, payment, refusal ?? beingSettled, startedAt);
  }
  try {
    requireFeePayer(scheme, payment);
  } catch (error) {
    await holds.release(covered.holdId);
    throw error;
  }
  context.events.verified(request.network, payment, performance.now() - startedAt);
  return { isValid: true, payer: payment.payer, holdId: covered.holdId };
}

/** What speaks against the payment. Whatever that is, or is thrown, gives up what was held ahead. */
async function checked(
  { holds, payers }: Context,
  scheme: Scheme,
  payment: Payment,
  placing: Promise<Placed> | undefined,
): Promise<Refusal | undefined> {
  const giveUp = async () => {
    const placed = await placing?.catch(() => undefined);
    if (placed && "holdId" in placed) await holds.release(placed.holdId);
  };
  try {
    const bad = (await scheme.check(payment)) ?? payers.refusalOf(scheme.network, payment);
    if (bad) await giveUp();
    return bad;
  } catch (error) {
    await giveUp().catch(() => {});
    throw error;
  }
}

/** A payment somebody claimed before is not to be had again, unless it failed in a way that left it valid. */
async function refusalOfKnown(scheme: Scheme, known: Known, payment: Payment): Promise<Refusal | undefined> {
  if (isClaimable(known)) return undefined;
  const untold = await refusalToTell(scheme, known, payment);
  if (untold) return untold;
  if (known.state === "settled") {
    return refuse("already_settled", `This payment was settled in transaction ${known.transaction}.`);
  }
  if (known.state === "failed") return refuse(known.errorReason ?? "transaction_failed", known.errorMessage ?? "");
  return beingSettled;
}

const beingSettled = refuse("settlement_pending", "This payment is being settled.");

function refused(
  context: Context,
  request: PaymentRequest | undefined,
  payment: Payment | undefined,
  refusal: Refusal,
  startedAt: number,
): VerifyResponse {
  const payer = payment?.payer ?? refusal.payer ?? "";
  context.events.refused({ kind: "verify", request, payer, refusal, totalMs: performance.now() - startedAt });
  return { isValid: false, invalidReason: refusal.refused, invalidMessage: refusal.message, payer };
}
