/** Base units of the stablecoin, which has six decimals, that a credit is worth: a credit is a cent. */
export const atomicPerCredit = 10_000n;
