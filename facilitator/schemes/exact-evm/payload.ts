import type { Payment } from "../scheme.ts";
import type { Authorization } from "./eip3009.ts";
import type { Hex } from "./hex.ts";

/** An EIP-3009 payment whose fields are certain; whether it holds is for the chain to say. */
export interface EvmPayment extends Payment {
  /** With its EIP-55 checksum, like all addresses in it. */
  readonly asset: string;
  readonly authorization: Authorization;
  readonly signature: Buffer;
  /** EIP-712 name and version as the caller claims them. */
  readonly domain: { readonly name: string; readonly version: string };
  /** A strict signature made by the payer's own key. False leaves only a contract wallet. */
  readonly signedByKey: boolean;
}

/** `asset:from:nonce`: the token contract spends a nonce once, however the rest is encoded. */
export function paymentKeyOf(asset: string, { from, nonce }: Pick<Authorization, "from" | "nonce">): string {
  return `${asset}:${from}:${nonce}`.toLowerCase();
}

/** The parts of a key, in lower case. */
export function authorizationOf(key: string): { readonly asset: string; readonly payer: Hex; readonly nonce: Hex } {
  const [asset = "", payer, nonce] = key.split(":");
  return { asset, payer: payer as Hex, nonce: nonce as Hex };
}

/** Dates end in the year 275760, uint256 does not. */
export function expiryOf(validBeforeSeconds: bigint): Date {
  const last = 253_402_300_799n;
  return new Date(Number(validBeforeSeconds < last ? validBeforeSeconds : last) * 1_000);
}
