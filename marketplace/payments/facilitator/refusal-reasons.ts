import type { VerifyResponse } from "../../../shared/x402.ts";

/** Why the facilitator refused a payment: `reason` is one of the codes in docs/payment-rules.md, or `not_used`. */
export interface Reason {
  readonly reason: string;
  readonly message?: string | undefined;
}

/** What /verify said against it; `not_used`, which is counted and told to no buyer, of one that was good and bought nothing. */
export function reasonOf({ invalidReason = "not_used", invalidMessage: message }: VerifyResponse): Reason {
  return { reason: invalidReason, message };
}

/** The payment's own nonce: used by its settlement, by another transaction with it, or cancelled. */
export const nonceUsed = "invalid_exact_evm_nonce_already_used";

/** The payment can no longer land, or not yet. */
export function isOutOfTime(reason: string | undefined): boolean {
  return outOfTime.has(reason);
}

const outOfTime: ReadonlySet<string | undefined> = new Set([
  "invalid_exact_evm_payload_authorization_valid_before",
  "invalid_exact_hedera_payload_transaction_expired",
]);

/**
 * The payer signed it, and holds too little. A payment with any other reason may be made up, in the name of a payer who does not
 * know of it.
 */
export function showsPayerLacksFunds({ reason, message }: Reason): boolean {
  return reason === "invalid_exact_evm_insufficient_balance" || isHederaBalance(reason, message);
}

/** The network had no room for a transfer that it had taken. No payer brings that about, unlike all else that ends a settlement. */
export function isNetworksDoing({ reason, message = "" }: Reason): boolean {
  return reason === "transaction_failed" && message.includes("THROTTLED_AT_CONSENSUS");
}

/**
 * Whether the payment has a form that no client of a buyer makes: then the answer shows the right one (`proofShape`). A payment of
 * the right form can still be late, or its payer hold too little (`ofWellFormed`).
 */
export function isMalformed(reason: string): boolean {
  return /^invalid_(payload|exact)/.test(reason) && !ofWellFormed.has(reason);
}

/** Hedera has one code for all that accounts cannot do; the message begins with the cause. */
function isHederaBalance(reason: string, message = ""): boolean {
  return reason === "invalid_exact_hedera_payload_preflight_failed" && message.startsWith("insufficient_balance:");
}

const ofWellFormed: ReadonlySet<string> = new Set([
  "invalid_exact_evm_eip3009_not_supported",
  "invalid_exact_evm_insufficient_balance",
  nonceUsed,
  "invalid_exact_evm_payload_authorization_valid_after",
  "invalid_exact_evm_payload_authorization_valid_before",
  "invalid_exact_evm_transaction_failed",
  "invalid_exact_evm_transaction_simulation_failed",
  "invalid_exact_evm_transfer_event_mismatch",
  "invalid_exact_hedera_payload_preflight_failed",
  "invalid_exact_hedera_payload_transaction_expired",
]);
