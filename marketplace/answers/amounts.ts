/** Base units of the stablecoin, which has six decimals, that a credit is worth: a US cent. All that tells a credit's worth is made of it. */
export const atomicPerCredit = 10_000n;

export const creditsPerDollar = Number(1_000_000n / atomicPerCredit);

/** What credits are worth as programs read it, and as texts say it without a currency: `0.05`. */
export function dollarAmount(credits: number | bigint): string {
  return (Number(credits) / creditsPerDollar).toFixed(2);
}

export const dollarsPerCredit = `US$${dollarAmount(1)}`;

/** How texts say what a credit is worth. */
export const creditWorth = `1 credit is ${dollarsPerCredit}`;
