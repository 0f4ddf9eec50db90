import type { AccountId } from "../../ids.ts";
import type { Wallet } from "../../wallet.ts";

/** Something that can be paid for per call, as it is quoted. */
export interface Offer {
  /** The product, under PaidWork's name for it. */
  readonly product: string;
  /** Full address of the route. */
  readonly url: string;
  /** What its quotes name instead, where it is not asked for at that address: a tool. */
  readonly resource?: string | undefined;
  readonly description: string;
  /** Base units of the stablecoin, six decimals. */
  readonly amount: bigint;
  /** Off the market: only calls that are paid already are still answered. */
  readonly isWithdrawn?: boolean;
  /** The account that the call is for, if any: a wallet that is shown for a payment without a quote must name it, too. */
  readonly accountId?: AccountId;
  /** The wallets it pays, by chain; 503 when they cannot be told for certain. */
  readonly wallets: () => readonly Wallet[];
  /** JSON Schema 2020-12 of the body, a body that satisfies it, and one of few short values where that one may be long. */
  readonly input: { readonly schema: object; readonly example: object; readonly brief?: object };
}

/** What a payment of an offer is verified for. */
export type PricedOffer = Pick<Offer, "amount" | "wallets">;

/** Whether so much, paid before, is enough for it now. What it buys is counted by the price where it is credits. */
export function isPaidBy({ amount, accountId }: Offer, paid: string): boolean {
  if (!/^\d{1,78}$/.test(paid)) return false;
  return accountId === undefined ? BigInt(paid) >= amount : BigInt(paid) === amount;
}
