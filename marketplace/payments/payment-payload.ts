import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { JsonObject } from "../../shared/json.ts";
import { JsonScan, usualJson } from "../../shared/json-scan.ts";
import { toCaip2 } from "../../shared/networks.ts";
import { type PaymentRequirements, paymentHeaders, publicUrl, termsDigest } from "../../shared/x402.ts";
import { stablecoinOn } from "../stablecoins.ts";

/** A payment as a buyer sends it, in a header or in a tool call's `_meta`; nothing of it is believed yet. */
export interface PaymentPayload {
  readonly version: 1 | 2;
  /** CAIP-2. */
  readonly network: string;
  /** The network by the name that the buyer gave it. */
  readonly networkAsGiven: string;
  readonly json: JsonObject;
  /**
   * The payload as text, for the facilitator, which is asked more than once. Written anew from `json`: a name that
   * occurs twice in the buyer's text could mean one thing to us and another to the facilitator.
   */
  readonly jsonText: string;
  /** What the buyer accepted of the quote (version 2). */
  readonly accepted: JsonObject;
  /** Identifies the payment; undefined when that cannot be read, or when no call can be paid on its chain. */
  readonly payment: PaymentId | undefined;
}

export interface PaymentId {
  readonly key: string;
  /** SHA-256 of the message that was signed and of the signature. */
  readonly digest: Buffer;
  /** Network and account of the payer, as the payment says itself; undefined when it does not take from one account. */
  readonly payer?: string | undefined;
  /** The wallet it pays and how many base units, by its own word; undefined when it does not pay one wallet in this asset. */
  readonly pays?: Paid | undefined;
  /** The account that pays the network fee, on Hedera. */
  readonly feePayer?: string;
  /** After this moment the payment can no longer be settled. */
  readonly expiresAt: Date;
}

export interface Paid {
  readonly payTo: string;
  readonly amount: string;
}

/** What one payment is known by, whatever its encoding. */
export interface PaidCallId {
  /** CAIP-2. */
  readonly network: string;
  readonly key: string;
}

/** The payment in either version's header; undefined when there is none; a sentence when it cannot be read. */
export function readPaymentHeader(headers: IncomingHttpHeaders): PaymentPayload | string | undefined {
  const name = [paymentHeaders.payloadV2, paymentHeaders.payloadV1].find(
    (one) => headers[one.toLowerCase()] !== undefined,
  );
  if (name === undefined) return undefined;
  const json = decodeHeader(String(headers[name.toLowerCase()]));
  if (json === undefined) return `The ${name} header is not base64 of a JSON object.`;
  return parsePaymentPayload(json, `The ${name} header`);
}

/** The payment in a JSON object that came in `place`; a sentence when it cannot be read. */
export function parsePaymentPayload(json: JsonObject, place: string): PaymentPayload | string {
  const { x402Version: version, payload } = json;
  if (version !== 1 && version !== 2) return `${place}: x402Version must be 1 or 2.`;
  const accepted = (version === 2 ? json.accepted : {}) as JsonObject | null | undefined;
  if (typeof accepted !== "object" || accepted === null) return `${place} carries no "accepted".`;
  const network = version === 2 ? accepted.network : json.network;
  if (typeof network !== "string") return `${place} names no network.`;
  const chain = toCaip2(network);
  const coin = stablecoinOn(chain);
  const payment = coin && identifyPayment(chain, coin.asset, payload);
  return { version, network: chain, networkAsGiven: network, json, jsonText: JSON.stringify(json), accepted, payment };
}

/** The call that a payment pays for; undefined when the payment cannot be identified. */
export function paidCallIdOf({ network, payment }: PaymentPayload): PaidCallId | undefined {
  return payment && { network, key: payment.key };
}

/** What a payload says it pays; undefined when it does not say. The facilitator holds the payment to it. */
export function paidIn({ version, accepted, payment }: PaymentPayload): Paid | undefined {
  if (version === 1) return payment?.pays;
  const { payTo, amount } = accepted;
  return typeof payTo === "string" && typeof amount === "string" ? { payTo, amount } : undefined;
}

/** Payment requirements as they are settled. Version 1 names the resource in them, version 2 in the payload. */
export interface SettleRequirements extends PaymentRequirements {
  readonly resource?: string;
}

/** The body of the facilitator's /verify and /settle, in JSON: the buyer's payload and our requirements. */
export function facilitatorRequest({ version, jsonText }: PaymentPayload, requirements: SettleRequirements): string {
  const { amount, ...rest } = requirements;
  const ours = JSON.stringify(version === 2 ? requirements : { ...rest, maxAmountRequired: amount });
  return `{"x402Version":${version},"paymentPayload":${jsonText},"paymentRequirements":${ours}}`;
}

/** The `termsDigest` that the facilitator answers when the payment was settled for these requirements. */
export function termsDigestOf({ version, json }: PaymentPayload, requirements: SettleRequirements): string | undefined {
  const { resource } = json;
  const named = typeof resource === "object" && resource !== null ? (resource as { url?: unknown }).url : resource;
  return termsDigest(requirements, publicUrl(version === 2 ? named : requirements.resource));
}

/** JSON as a payment header carries it. */
export function encodeHeader(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64");
}

/** The JSON object in base64; undefined when it is none. */
export function decodeHeader(text: string): JsonObject | undefined {
  try {
    const bytes = Buffer.from(text, "base64");
    // JSON that is nested too deep could be parsed, but not written anew.
    new JsonScan(usualJson).see(bytes);
    const value = JSON.parse(bytes.toString("utf8"));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Reads from a payload what identifies the payment: the same for every encoding of it. Whether the payment is any good
 * is the facilitator's to say; undefined means it cannot be identified.
 */
function identifyPayment(network: string, asset: string, payload: unknown): PaymentId | undefined {
  if (typeof payload !== "object" || payload === null) return undefined;
  return network.startsWith("eip155:") ? identifyEvm(network, asset, payload) : identifyHedera(network, asset, payload);
}

/** A token spends an authorizer's nonce once. */
function identifyEvm(network: string, asset: string, payload: EvmPayload): PaymentId | undefined {
  const { from, to, value, nonce, validAfter, validBefore } = (payload.authorization ?? {}) as Record<string, unknown>;
  if (typeof from !== "string" || !/^0x[0-9a-fA-F]{40}$/.test(from)) return undefined;
  if (typeof nonce !== "string" || !/^0x[0-9a-fA-F]{64}$/.test(nonce)) return undefined;
  if (typeof validBefore !== "string" || !/^\d{1,78}$/.test(validBefore)) return undefined;
  const key = `${asset}:${from}:${nonce}`.toLowerCase();
  const pays = typeof to === "string" && typeof value === "string" ? { payTo: to, amount: value } : undefined;
  const signed = JSON.stringify([from, to, value, validAfter, validBefore, nonce, payload.signature]).toLowerCase();
  const digest = hash("sha256", signed, "buffer");
  const payer = `${network} ${from}`.toLowerCase();
  return { key, digest, payer, pays, expiresAt: secondsAsDate(BigInt(validBefore)) };
}

interface EvmPayload {
  readonly authorization?: unknown;
  readonly signature?: unknown;
}

/** The transaction id inside: TransactionList.1 → Transaction.5 → SignedTransaction.1 → TransactionBody.1 and .4. */
function identifyHedera(network: string, asset: string, payload: { transaction?: unknown }): PaymentId | undefined {
  if (typeof payload.transaction !== "string" || payload.transaction.length > transactionTextMax) return undefined;
  try {
    const bytes = Buffer.from(payload.transaction, "base64");
    const list = fieldsOf(bytes);
    const body = fieldsOf(only(fieldsOf(only(fieldsOf(bytesIn(list[0])), 5)), 1));
    const id = fieldsOf(only(body, 1));
    const start = fieldsOf(only(id, 1));
    const seconds = numberIn(start, 1);
    const nanos = numberIn(start, 2);
    const duration = numberIn(fieldsOf(only(body, 4)), 1);
    const feePayer = accountIn(only(id, 2));
    const key = `${feePayer}@${seconds}.${String(nanos).padStart(9, "0")}`;
    const { payer, pays } = transferIn(asset, body);
    const account = payer && `${network} ${payer}`;
    const digest = hash("sha256", bytes, "buffer");
    return { key, digest, feePayer, payer: account, pays, expiresAt: secondsAsDate(seconds + duration) };
  } catch {
    return undefined;
  }
}

/** TransactionBody.14 (cryptoTransfer) → .2 (tokenTransfers) → .1 (token), .2 (accountID .1, amount .2). */
function transferIn(asset: string, body: readonly ProtobufField[]): Pick<PaymentId, "payer" | "pays"> {
  try {
    const lists = fieldsOf(only(body, 14)).filter(({ number }) => number === 2);
    const rows = lists.flatMap(({ value }) => {
      const list = fieldsOf(value as Buffer);
      if (accountIn(only(list, 1)) !== asset) return [];
      return list.filter(({ number }) => number === 2).map((row) => fieldsOf(bytesIn(row)));
    });
    const moved = rows.map((row) => ({ account: accountIn(only(row, 1)), units: unZigzag(numberIn(row, 2)) }));
    const [[from, ...moreFrom], [to, ...moreTo]] = [
      moved.filter(({ units }) => units < 0n),
      moved.filter(({ units }) => units > 0n),
    ];
    return {
      payer: moreFrom.length === 0 ? from?.account : undefined,
      pays: to && moreTo.length === 0 ? { payTo: to.account, amount: `${to.units}` } : undefined,
    };
  } catch {
    return {};
  }
}

const unZigzag = (value: bigint) => (value % 2n === 0n ? value / 2n : -(value + 1n) / 2n);

/** Accounts and tokens have their number in the same place. */
const accountIn = (bytes: Buffer) => `0.0.${numberIn(fieldsOf(bytes), 3)}`;

const transactionTextMax = 65_536;

interface ProtobufField {
  readonly number: number;
  readonly value: bigint | Buffer;
}

function fieldsOf(bytes: Buffer): readonly ProtobufField[] {
  const fields: ProtobufField[] = [];
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined || shift > 63n) throw new RangeError("not a varint");
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const isBytes = (tag & 7) === 2;
    if (!isBytes && (tag & 7) !== 0) throw new RangeError("not a field of these messages");
    const head = varint();
    const end = at + Number(head);
    if (isBytes && end > bytes.length) throw new RangeError("ends after its message");
    fields.push({ number: tag >> 3, value: isBytes ? bytes.subarray(at, end) : head });
    if (isBytes) at = end;
  }
  return fields;
}

/** A field given twice could be read either way. */
function only(fields: readonly ProtobufField[], number: number): Buffer {
  const found = fields.filter((field) => field.number === number);
  if (found.length !== 1) throw new RangeError("missing or given twice");
  return bytesIn(found[0]);
}

function bytesIn(field: ProtobufField | undefined): Buffer {
  if (!Buffer.isBuffer(field?.value)) throw new RangeError("not bytes");
  return field.value;
}

function numberIn(fields: readonly ProtobufField[], number: number): bigint {
  const found = fields.filter((field) => field.number === number);
  const value = found[0]?.value ?? 0n;
  if (found.length > 1 || typeof value !== "bigint") throw new RangeError("not one number");
  return value;
}

function secondsAsDate(seconds: bigint): Date {
  const last = 253_402_300_799n;
  return new Date(Number(seconds < last ? seconds : last) * 1_000);
}
