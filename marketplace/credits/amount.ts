import { creditsPerDollar, dollarAmount } from "../answers/amounts.ts";

declare const unit: unique symbol;

/** Whole marketplace credits, each worth `atomicPerCredit`. */
export type Credits = bigint & { readonly [unit]: "credits" };

export function credits(value: bigint): Credits {
  return value as Credits;
}

/** Counted, as a sentence has it: `1 credit`. */
export function creditsText(count: number | bigint): string {
  return `${count} ${BigInt(count) === 1n ? "credit" : "credits"}`;
}

const basisPointsWhole = 10_000n;

/** What the platform keeps of a price: rounded down, so the creator gets the remainder. */
export function platformFee(price: Credits, feeBasisPoints: number): Credits {
  return credits((price * BigInt(feeBasisPoints)) / basisPointsWhole);
}

/** The price in dollars, for display. */
export function priceInDollars(price: Credits): number {
  return Number(price) / creditsPerDollar;
}

/** The price as text: `$0.05`. */
export function dollarText(price: bigint): string {
  return `$${dollarAmount(price)}`;
}
