import type { JsonObject } from "../../shared/json.ts";
import { toCaip2 } from "../../shared/networks.ts";
import type { PaymentRequirements } from "../../shared/x402.ts";

const extraBytesMax = 2_048;

/** One way to pay, as a listing shows it. */
export interface AcceptedRequirements extends PaymentRequirements {
  /** For clients of version 1, which know the amount by this name. */
  readonly maxAmountRequired?: string;
}

/** An entry of a resource's `accepts`, of either version → AcceptedRequirements with a CAIP-2 network; undefined when it is none. */
export function readAcceptedRequirements(given: unknown): AcceptedRequirements | undefined {
  if (typeof given !== "object" || given === null) return undefined;
  const { scheme, network, asset, payTo, maxTimeoutSeconds, amount, maxAmountRequired, extra } = given as JsonObject;
  const price = amount ?? maxAmountRequired;
  if (![scheme, network, asset, payTo].every(isShort) || typeof price !== "string" || !/^\d{1,78}$/.test(price)) {
    return undefined;
  }
  return {
    scheme: scheme as string,
    network: toCaip2(network as string),
    amount: price,
    asset: asset as string,
    payTo: payTo as string,
    maxTimeoutSeconds: Number.isSafeInteger(maxTimeoutSeconds) ? (maxTimeoutSeconds as number) : 60,
    ...(isSmallObject(extra) && { extra: withoutQuoteId(extra) }),
    ...(maxAmountRequired !== undefined && { maxAmountRequired: price }),
  };
}

/** A quote's id is one buyer's, and another one every time, so it is not listed. */
function withoutQuoteId({ quoteId: _, ...extra }: JsonObject): JsonObject {
  return extra;
}

const isShort = (value: unknown) => typeof value === "string" && value.length <= 128 && !value.includes("\0");

function isSmallObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && JSON.stringify(value).length <= extraBytesMax;
}
