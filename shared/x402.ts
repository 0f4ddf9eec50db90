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
  quoteV2: "PAYMENT-REQUIRED",
  proofV1: "X-PAYMENT",
  proofV2: "PAYMENT-SIGNATURE",
  resultV1: "X-PAYMENT-RESPONSE",
  resultV2: "PAYMENT-RESPONSE",
} as const;

export type JsonObject = { readonly [field: string]: unknown };
