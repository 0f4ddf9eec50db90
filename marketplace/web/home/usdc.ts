const decimals = 6n;

/** Atomic units as dollars, cut to cents where nothing is below them: `96.41`, `0.000001`. */
export function usdc(atomic: bigint): string {
  const unit = 10n ** decimals;
  const fraction = String(atomic % unit).padStart(Number(decimals), "0");
  const shown = fraction.replace(/0{1,4}$/, "");
  return `${new Intl.NumberFormat("en-US").format(atomic / unit)}.${shown}`;
}
