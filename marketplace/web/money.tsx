/** @jsxRuntime automatic @jsxImportSource preact */

import { figures } from "../../shared/page/figures.ts";
import { dollarAmount } from "../answers/amounts.ts";

/** A price in credits and in USDC, always together. A free thing is free, `free` says to whom. */
export function Money({ credits, size, free = "no account" }: MoneyProps) {
  const isFree = BigInt(credits) === 0n;
  return (
    <span class={size === "large" ? "money money-lg" : "money"}>
      <b>{isFree ? "Free" : creditsOf(credits)}</b> <span class="money-2">{isFree ? free : usdcOf(credits)}</span>
    </span>
  );
}

interface MoneyProps {
  readonly credits: number | bigint;
  readonly size?: "large";
  readonly free?: string;
}

/** `1 credit`, `1,240 credits`. */
export function creditsOf(credits: number | bigint): string {
  return `${figures(credits)} ${BigInt(credits) === 1n ? "credit" : "credits"}`;
}

/** `0.05 USDC`. */
export function usdcOf(credits: number | bigint): string {
  return `${dollarsOf(credits)} USDC`;
}

/** `0.05`, `1,240.00`. */
export function dollarsOf(credits: number | bigint): string {
  return dollarAmount(credits).replace(/\B(?=(\d{3})+\.)/g, ",");
}
