import { type Answers, jsonAnswer } from "../../shared/endpoint.ts";
import { ApiError, type ErrorCode } from "../../shared/errors.ts";
import { errorShape } from "../http/shapes.ts";
import type { PaymentRecordCache } from "./facilitator/payment-record-cache.ts";
import type { SpeculativeVerdict } from "./facilitator/speculative-verification.ts";
import { isSettled } from "./paid-calls/redemption.ts";
import type { PaidCalls } from "./paid-calls/store.ts";
import { type PaymentPayload, paidCallIdOf } from "./payment-payload.ts";
import { paidFailureShape } from "./shapes.ts";

/**
 * What is wrong with the input, with `charged` beside it: false where nothing was charged, true for a payment that an earlier
 * post had settled. Without it where that is not known: the payment is under way, or may have been settled elsewhere. Any other
 * error is left as it is.
 */
export async function withCharge(context: ChargeNeeds, error: unknown, presented: PresentedPayment): Promise<unknown> {
  if (!(error instanceof ApiError) || !inputCodes.has(error.code) || error.body.charged !== undefined) return error;
  const charged = await isCharged(context, presented).catch(() => undefined);
  if (charged === undefined) return error;
  const { code, message, body, headers, cause } = error;
  return new ApiError(code, message, { body: { ...body, charged }, headers, cause });
}

const inputCodes: ReadonlySet<ErrorCode> = new Set(["bad_request", "invalid_value"]);

interface ChargeNeeds {
  readonly paidCalls: PaidCalls;
  readonly paymentRecords: PaymentRecordCache;
}

interface PresentedPayment {
  readonly payload: PaymentPayload | string | undefined;
  /** The network address it came from. */
  readonly from: string;
  /** What the facilitator was asked about it ahead. */
  readonly speculative?: Promise<SpeculativeVerdict | undefined> | undefined;
}

async function isCharged(
  { paidCalls, paymentRecords }: ChargeNeeds,
  { payload, from, speculative }: PresentedPayment,
): Promise<boolean | undefined> {
  const id = typeof payload === "object" ? paidCallIdOf(payload) : undefined;
  if (id === undefined) return false;
  const call = await paidCalls.find(id);
  if (call) return call.transaction === null ? undefined : true;
  const verdict = await (await speculative)?.verdict;
  if (verdict) return isSettled(verdict) ? undefined : false;
  // The payment may have been settled before it came here.
  const state = await paymentRecords.ofUnknownPayment(id, from);
  const isNowhere = state === "none" || (typeof state === "object" && state.state === "failed");
  return isNowhere ? false : undefined;
}

/** The 400 and the 422 of what is paid with the request and needs `field`. */
export const inputRefusals = (field: string): Answers => ({
  ...missingInput(field),
  422: jsonAnswer(
    paidFailureShape,
    { error: `"${field}" must have at most 20000 characters.`, field, charged: false },
    {
      description:
        "A value broke a declared rule; `field` names it. `charged` is false where it is known that nothing was charged.",
    },
  ),
});

/** The 400 of an input that has no rules besides its shape. */
export const missingInput = (field: string): Answers => ({
  400: jsonAnswer(
    errorShape,
    { error: `"${field}" is required.`, field, charged: false },
    { description: "Not JSON, or an input is missing or unknown. Refused before the payment was used: see `charged`." },
  ),
});
