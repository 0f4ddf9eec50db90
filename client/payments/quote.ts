import { fromBase64, toBase64 } from "../base64.ts";

/** One way to pay that a quote names (x402 version 2, PaymentRequirements). */
export interface Requirements {
  readonly scheme: string;
  /** CAIP-2. */
  readonly network: string;
  readonly asset: string;
  /** Base units. */
  readonly amount: string;
  readonly payTo: string;
  readonly maxTimeoutSeconds: number;
  readonly extra: Readonly<Record<string, unknown>>;
}

/** What a call costs now (x402 version 2, PaymentRequired). */
export interface Quote {
  readonly resource: object;
  readonly accepts: readonly Requirements[];
  readonly extensions?: object;
  readonly error?: string;
}

/** The quote of a 402; undefined where it has none that can be read. */
export function quoteIn(headers: Headers): Quote | undefined {
  const quote = decodeHeader(headers.get("payment-required")) as Partial<Quote> | undefined;
  return Array.isArray(quote?.accepts) ? (quote as Quote) : undefined;
}

/** JSON as payment headers carry it, in base64. */
export function encodeHeader(value: object): string {
  return toBase64(new TextEncoder().encode(JSON.stringify(value)));
}

export function decodeHeader(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(new TextDecoder().decode(fromBase64(text)));
  } catch {
    return undefined;
  }
}

/** By the service's clock, as long as that is not far ahead of ours: a payment must not stay good for longer than is thought. */
export function quotedAt(headers: Headers): Date {
  const told = Date.parse(headers.get("date") ?? "");
  const now = Date.now();
  return new Date(Number.isNaN(told) ? now : Math.min(told, now + clockAheadMs));
}

const clockAheadMs = 3_600_000;
