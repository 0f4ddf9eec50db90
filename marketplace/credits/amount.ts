import { type Credits, credits } from "../../shared/units.ts";

const basisPointsWhole = 10_000n;

/** What the platform keeps of a price: rounded down, so the creator gets the remainder. */
export function platformFee(price: Credits, feeBasisPoints: number): Credits {
  return credits((price * BigInt(feeBasisPoints)) / basisPointsWhole);
}

/** The price in dollars for display: one credit is US$0.01. */
export function priceInDollars(price: Credits): number {
  return Number(price) / 100;
}
