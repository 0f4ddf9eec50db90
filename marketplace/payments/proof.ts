import type { IncomingHttpHeaders } from "node:http";
import { toCaip2 } from "../../shared/networks.ts";
import {
  type JsonObject,
  type PaymentRequirements,
  paymentHeaders,
  publicUrl,
  termsDigest,
} from "../../shared/x402.ts";
import type { PaidCallId } from "./paid-calls.ts";
import { identifyPayment, type PaymentId } from "./payment-id.ts";
import { stablecoinOn } from "./stablecoins.ts";

/** A payment as a buyer's header carries it; nothing of it is believed yet. */
export interface Proof {
  readonly version: 1 | 2;
  /** CAIP-2. */
  readonly network: string;
  readonly paymentPayload: JsonObject;
  /**
   * The payload in JSON, for the facilitator, which is asked more than once. Written anew from what was read: a name that
   * occurs twice in what was received could mean one thing to us and another to the facilitator.
   */
  readonly payloadText: string;
  /** What the buyer accepted of the quote (version 2). */
  readonly accepted: JsonObject;
  /** What it is known by; undefined when that cannot be read, or its chain is none of ours. */
  readonly payment: PaymentId | undefined;
}

/** The proof in either version's header; undefined when there is none; a sentence when it cannot be read. */
export function readProof(headers: IncomingHttpHeaders): Proof | string | undefined {
  const name = [paymentHeaders.proofV2, paymentHeaders.proofV1].find((one) => headers[one.toLowerCase()] !== undefined);
  if (name === undefined) return undefined;
  const paymentPayload = decodeHeader(String(headers[name.toLowerCase()]));
  if (paymentPayload === undefined) return `The ${name} header is not base64 of a JSON object.`;
  return proofOf(paymentPayload, `The ${name} header`);
}

/** The proof in a payment payload that came in `place`; a sentence when it cannot be read. */
export function proofOf(paymentPayload: JsonObject, place: string): Proof | string {
  const { x402Version: version, payload } = paymentPayload;
  if (version !== 1 && version !== 2) return `${place}: x402Version must be 1 or 2.`;
  const accepted = (version === 2 ? paymentPayload.accepted : {}) as JsonObject | null | undefined;
  if (typeof accepted !== "object" || accepted === null) return `${place} carries no "accepted".`;
  const network = version === 2 ? accepted.network : paymentPayload.network;
  if (typeof network !== "string") return `${place} names no network.`;
  const chain = toCaip2(network);
  const coin = stablecoinOn(chain);
  const payment = coin && identifyPayment(chain, coin.asset, payload);
  return { version, network: chain, paymentPayload, payloadText: JSON.stringify(paymentPayload), accepted, payment };
}

/** The call that a proof pays for; undefined when its payment cannot be identified. */
export function paidCallIdOf({ network, payment }: Proof): PaidCallId | undefined {
  return payment && { network, key: payment.key };
}

/** Terms as they are settled. Version 1 names the resource among them, version 2 in the payload. */
export interface SettleTerms extends PaymentRequirements {
  readonly resource?: string;
}

/** What the facilitator is asked, in JSON: the buyer's payload on our terms. */
export function facilitatorRequest({ version, payloadText }: Proof, requirements: SettleTerms): string {
  const { amount, ...terms } = requirements;
  const ours = JSON.stringify(version === 2 ? requirements : { ...terms, maxAmountRequired: amount });
  return `{"x402Version":${version},"paymentPayload":${payloadText},"paymentRequirements":${ours}}`;
}

/** What the facilitator names these terms by when they are those that the payment was settled for. */
export function digestOf({ version, paymentPayload }: Proof, terms: SettleTerms): string | undefined {
  const { resource } = paymentPayload;
  const named = typeof resource === "object" && resource !== null ? (resource as { url?: unknown }).url : resource;
  return termsDigest(terms, publicUrl(version === 2 ? named : terms.resource));
}

/** JSON as a payment header carries it. */
export function encodeHeader(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64");
}

function decodeHeader(text: string): JsonObject | undefined {
  try {
    const value = JSON.parse(Buffer.from(text, "base64").toString("utf8"));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
