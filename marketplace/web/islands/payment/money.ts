import { figures } from "../../../../shared/page/figures.ts";
import { dollarAmount } from "../../../answers/amounts.ts";

/** `1 credit`, `1,240 credits`. */
export function creditsOf(credits: number): string {
  return `${figures(credits)} ${credits === 1 ? "credit" : "credits"}`;
}

/** `0.05 USDC`, `1,240.00 USDC`. */
export function usdcOf(credits: number): string {
  return `${dollarAmount(credits).replace(/\B(?=(\d{3})+\.)/g, ",")} USDC`;
}

/** Base units in USDC: `0.12`, or as many digits as it takes. */
export function usdc(atomic: string): string {
  const digits = atomic.padStart(7, "0");
  const dollars = `${digits.slice(0, -6)}.${digits.slice(-6)}`;
  return dollars.replace(/(\.\d\d\d*?)0+$/, "$1");
}
