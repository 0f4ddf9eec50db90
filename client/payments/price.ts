/** US dollars in base units of a stablecoin with six decimals. What is no plain amount is refused, not rounded. */
export function atomicOf(dollars: string | number): bigint {
  const [, whole = "", cents = ""] = /^(\d{1,15})(?:\.(\d{1,6}))?$/.exec(String(dollars)) ?? [];
  if (whole === "")
    throw new TypeError(`"${dollars}" is no amount of dollars with at most six decimals, such as "0.05".`);
  return BigInt(whole) * 1_000_000n + BigInt(cents.padEnd(6, "0"));
}

/** `0.05` */
export function dollarsOf(atomic: bigint): string {
  const digits = String(atomic).padStart(7, "0");
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`.replace(/(\.\d\d\d*?)0+$/, "$1");
}
