import { createHash } from "node:crypto";
import { canonicalAccount } from "./networks.ts";

/**
 * The x402 wire contract, versions 1 and 2, as resource servers, buyers and facilitators speak it.
 * Source: x402 specification v1 and v2, sections "PaymentPayload", "Facilitator interface".
 */

/** One way to pay, as quoted by a resource server. v1 says `maxAmountRequired`, v2 says `amount`. */
export interface PaymentRequirements {
  readonly scheme: string;
  /** CAIP-2 (`eip155:84532`, `hedera:testnet`); v1 also knows names such as `base-sepolia`. */
  readonly network: string;
  /** Whole base units in decimal. */
  readonly amount: string;
  readonly asset: string;
  readonly payTo: string;
  readonly maxTimeoutSeconds: number;
  readonly extra?: Readonly<Record<string, unknown>>;
}

export interface VerifyResponse {
  readonly isValid: boolean;
  readonly invalidReason?: string;
  readonly invalidMessage?: string;
  readonly payer?: string;
  /** Ours: what is held of the payer's balance for this verification, to be given up with POST /release. */
  readonly holdId?: string;
}

export interface SettleResponse {
  readonly success: boolean;
  /** The chain's transaction id; empty when there is none. */
  readonly transaction: string;
  /** Echoes the form the caller used. */
  readonly network: string;
  readonly errorReason?: string;
  readonly errorMessage?: string;
  readonly payer?: string;
  /** With `already_settled`: the terms asked about are those it was settled for, by us (see `termsDigest`). */
  readonly termsDigest?: string;
  /**
   * With `success`: in a transaction that is none of ours, so that it may be another caller's purchase. With `already_settled`: the
   * same, and the terms asked about are those that were asked about first.
   */
  readonly landedByAnother?: true;
}

export interface SupportedKind {
  readonly x402Version: 1 | 2;
  readonly scheme: string;
  readonly network: string;
  readonly extra?: Readonly<Record<string, unknown>>;
}

export interface SupportedResponse {
  readonly kinds: readonly SupportedKind[];
  readonly extensions: readonly string[];
  /** By network pattern (`hedera:*`), the accounts that pay network fees. */
  readonly signers: Readonly<Record<string, readonly string[]>>;
}

/** Header names of both versions' HTTP transports. */
export const paymentHeaders = {
  requiredV2: "PAYMENT-REQUIRED",
  payloadV1: "X-PAYMENT",
  payloadV2: "PAYMENT-SIGNATURE",
  responseV1: "X-PAYMENT-RESPONSE",
  responseV2: "PAYMENT-RESPONSE",
} as const;

/**
 * Names the terms of a quote: hex SHA-256 of scheme, network (CAIP-2), asset, payTo, amount, `extra.quoteId` and the
 * resource, as `publicUrl` gives it. Undefined for terms without a quoteId: those name no quote.
 */
export function termsDigest(
  { scheme, network, asset, payTo, amount, extra }: PaymentRequirements,
  resource: string | undefined,
): string | undefined {
  const quoteId = extra?.quoteId;
  if (typeof quoteId !== "string" || quoteId === "" || quoteId.length > quoteIdLengthMax) return undefined;
  const address = (text: string) => canonicalAccount(network, text);
  // JSON, so that two different lists of texts never give one text.
  const terms = [scheme, network, address(asset), address(payTo), amount, quoteId, resource ?? null];
  return createHash("sha256").update(JSON.stringify(terms)).digest("hex");
}

/**
 * A resource's URL as it may be shown, since tokens live in queries and user names; undefined unless http or https, and
 * where it is too long: before it is percent-encoded, or after.
 */
export function publicUrl(value: unknown): string | undefined {
  if (typeof value !== "string" || value.length > urlLengthMax || !URL.canParse(value)) return undefined;
  const url = new URL(value);
  if (!["http:", "https:"].includes(url.protocol)) return undefined;
  const shown = `${url.origin}${url.pathname}`;
  return shown.length > urlLengthMax ? undefined : shown;
}

/** The resource of a payment, as it is recorded: a publicUrl, or a tool of an MCP server (`mcp://tool/<name>`). */
export function recordedResource(value: unknown): string | undefined {
  const shown = publicUrl(value);
  if (shown !== undefined || typeof value !== "string" || value.length > urlLengthMax) return shown;
  if (!value.startsWith("mcp://") || !URL.canParse(value)) return undefined;
  const { host, pathname } = new URL(value);
  const tool = `mcp://${host}${pathname}`;
  return tool.length > urlLengthMax ? undefined : tool;
}

/** Records are found by their URL: an index takes no more than 2,704 bytes. */
export const urlLengthMax = 2_048;

const quoteIdLengthMax = 512;
