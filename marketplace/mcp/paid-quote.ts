import type { CallToolResult } from "@modelcontextprotocol/server";
import type { JsonObject } from "../../shared/json.ts";
import type { PaymentRequirements } from "../../shared/x402.ts";
import type { Config } from "../config.ts";
import type { FacilitatorClient } from "../payments/facilitator/client.ts";
import { decodeHeader, type PaymentPayload, parsePaymentPayload } from "../payments/payment-payload.ts";
import type { Offer } from "../payments/quotes/offer.ts";
import { acceptsOf, paymentRequired, resourceOf } from "../payments/quotes/payment-required.ts";
import { quotedRequirements } from "../payments/quotes/payment-requirements.ts";
import type { QuoteIds } from "../payments/quotes/quote-id.ts";
import { type SignInRequest, signInChallenge, signInExtension } from "../payments/sign-in-with-x.ts";
import { structured } from "./results.ts";

/** Where clients put the payment: the specification's name, and an older one. */
const paymentKeys = ["x402/payment", "x402.payment"] as const;

/** The payment in a call's `_meta`, as an object or, as over HTTP, in base64. A sentence when it cannot be read. */
export function readPayment(meta: Readonly<Record<string, unknown>>): PaymentPayload | string | undefined {
  const key = paymentKeys.find((one) => meta[one] !== undefined);
  if (key === undefined) return undefined;
  const given = meta[key];
  const payment = typeof given === "string" ? decodeHeader(given) : given;
  const isObject = typeof payment === "object" && payment !== null && !Array.isArray(payment);
  if (isObject) return parsePaymentPayload(payment as JsonObject, `_meta["${key}"]`);
  return `_meta["${key}"] is neither the object of a payment nor that object's JSON in base64.`;
}

/** The price as a client of x402 reads it, in every place where one may look. */
export async function quoteResult(context: QuoteNeeds, offer: Offer, why: WhyUnpaid): Promise<CallToolResult> {
  const { publicUrl } = context.config;
  const requirements = await quotedRequirements(context, offer);
  const quote =
    why.version === 1
      ? paymentRequired(context.quoteIds, offer, requirements, { ...why, v1Names: true, publicUrl }).body
      : quoteV2(context, offer, requirements, why);
  return { isError: true, ...structured(quote), _meta: { "x402/error": quote } };
}

interface WhyUnpaid {
  /** The version of x402 that the caller reads. */
  readonly version: 1 | 2;
  readonly error: string;
  readonly signIn?: SignInRequest | undefined;
  /** Digest of the arguments. */
  readonly bodyDigest: Buffer;
}

interface QuoteNeeds {
  readonly config: Pick<Config, "publicUrl">;
  readonly facilitator: FacilitatorClient;
  readonly quoteIds: QuoteIds;
}

function quoteV2(
  { quoteIds }: QuoteNeeds,
  offer: Offer,
  requirements: readonly PaymentRequirements[],
  { error, signIn }: WhyUnpaid,
): object {
  const resource = resourceOf(offer);
  const accepts = acceptsOf(quoteIds, offer, requirements, signIn);
  const extensions = signIn && { extensions: { [signInExtension]: signInChallenge(signIn) } };
  return { x402Version: 2, error, resource, accepts, ...extensions };
}
