import type { PaymentProgress } from "../shapes.ts";
import type { SignedPayment } from "./signed-payment.ts";

/** The payment moved no money, and nothing is at work on it. */
export function isUntouched({ state }: PaymentProgress): boolean {
  return state === "unseen" || state === "verified" || state === "failed";
}

/** Posted now, or by a post that is still on its way, it could move money. */
export function canStillLand({ endsAt }: SignedPayment): boolean {
  return Date.now() < Date.parse(endsAt) + clocksDifferMs;
}

const clocksDifferMs = 60_000;
