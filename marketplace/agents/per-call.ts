import { credits, priceInDollars } from "../credits/amount.ts";

/** Where an agent can be called without an account, for how much and on which chains; a free one takes no payment. */
export interface PerCall {
  readonly url: string;
  readonly price_usd: number;
  readonly networks: readonly string[];
}

export function perCallOf(publicUrl: string, address: string, price: bigint, networks: readonly string[]): PerCall {
  return { url: `${publicUrl}/api/agent/${address}`, price_usd: priceInDollars(credits(price)), networks };
}
