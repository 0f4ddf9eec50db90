import { type Atomic, atomic, type Credits, credits } from "../../shared/units.ts";

const basisPointsWhole = 10_000n;
/** One credit is US$0.01 and the stablecoin has six decimals. */
const atomicPerCredit = 10_000n;

/** What the platform keeps of a price: rounded down, so the creator gets the remainder. */
export function platformFee(price: Credits, feeBasisPoints: number): Credits {
  return credits((price * BigInt(feeBasisPoints)) / basisPointsWhole);
}

/** The price of one call in base units of a six-decimals dollar stablecoin. */
export function priceInAtomic(price: Credits): Atomic {
  return atomic(price * atomicPerCredit);
}

/** The price in dollars for display: 5 credits are 0.05. */
export function priceInDollars(price: Credits): number {
  return Number(price) / 100;
}
