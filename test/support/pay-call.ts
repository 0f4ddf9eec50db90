import { type Buyer, signAuthorization } from "./evm-payments.ts";
import { hederaProof } from "./hedera-payments.ts";
import type { PaidMarket } from "./paid-market.ts";

/** A POST with or without a proof of payment; the answer as it came. */
export async function post(url: string, options: PostOptions = {}): Promise<PaidAnswer> {
  const { proof, body = {}, header = "PAYMENT-SIGNATURE", key, from, signIn } = options;
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(proof && { [header]: encodeHeader(proof) }),
      ...(from && { "x-forwarded-for": from }),
      ...(signIn && { "sign-in-with-x": encodeHeader(signIn) }),
      ...(key && { authorization: `Bearer ${key}` }),
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

export interface PaidAnswer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  readonly body: any;
}

interface PostOptions {
  readonly proof?: object;
  readonly body?: unknown;
  readonly header?: string;
  readonly key?: string;
  /** What is shown as the wallet that paid. */
  readonly signIn?: object;
  /** The network address it seems to come from. */
  readonly from?: string;
}

export function encodeHeader(value: object) {
  return Buffer.from(JSON.stringify(value)).toString("base64");
}

export function decodeHeader(text: string | null) {
  return JSON.parse(Buffer.from(text ?? "", "base64").toString());
}

/** The version 2 quote of a 402. */
export function quoteIn({ headers }: PaidAnswer) {
  return decodeHeader(headers.get("payment-required"));
}

/** Has the buyer settle the payment with the facilitator, as the protocol has it, before it is presented. */
export async function settleFirst(paid: PaidMarket, proof: Proof): Promise<Proof> {
  const request = { x402Version: 2, paymentPayload: proof, paymentRequirements: proof.accepted };
  const { body } = await paid.facilitator.settle(request);
  if (!body.success) throw new Error(`not settled: ${JSON.stringify(body)}`);
  return proof;
}

/** A fresh payment for a quote, by the buyer of that chain. */
export async function payQuote(
  paid: PaidMarket,
  chain: "hedera" | "evm",
  answer: PaidAnswer,
  changes: PaymentChanges = {},
): Promise<Proof> {
  const { accepts, resource } = quoteIn(answer);
  const network = chain === "hedera" ? "hedera:testnet" : "eip155:84532";
  const quoted = accepts.find((entry: { network: string }) => entry.network === network);
  const accepted = { ...quoted, ...changes.terms };
  if (chain === "hedera") return (await hederaProof(paid.ledger.accounts.buyer, accepted, resource)) as Proof;
  const terms = { ...paid.setting.terms, payTo: accepted.payTo, amount: accepted.amount };
  const validBefore = String(Math.floor(Date.now() / 1_000) + 180);
  const buyer = changes.buyer ?? (await paid.setting.fundedBuyer());
  const payload = await signAuthorization(buyer, terms, { validBefore });
  return { x402Version: 2, resource, accepted, payload };
}

/** The same payment as a stock client of version 1 presents it, with nothing of the quote. */
export function bareProof({ accepted, payload }: Proof) {
  return { x402Version: 1, scheme: "exact", network: accepted.network as string, payload };
}

interface PaymentChanges {
  /** What the payer accepts instead of what was quoted. */
  readonly terms?: object;
  /** Who pays on the EVM chain, with funds; a new buyer when left out. */
  readonly buyer?: Buyer;
}

export interface Proof {
  readonly x402Version: number;
  readonly resource: object;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into terms freely
  readonly accepted: any;
  readonly payload: object;
  readonly extensions?: object;
}
