import { type Payment, refuse, type Unfinished } from "../schemes/scheme.ts";

/** A payment somebody has claimed before. */
export interface Known {
  readonly state: "claimed" | "broadcast" | "unknown" | "settled" | "failed";
  readonly payer: string;
  readonly payTo: string;
  readonly asset: string;
  readonly amount: bigint;
  readonly transaction: string;
  readonly errorReason: string | undefined;
  readonly errorMessage: string | undefined;
  readonly retryable: boolean;
}

/** Whoever borrows the id of a settled payment for other terms must not be told that those were met. */
export function isSamePayment(known: Known, { payer, payTo, asset, amount }: Payment): boolean {
  return known.payer === payer && known.payTo === payTo && known.asset === asset && known.amount === amount;
}

export const anotherPayment = refuse("invalid_transaction_state", "Another payment has used this payment's id.");

/** A payment whose holder fell silent. */
export interface Abandoned extends Unfinished {
  readonly state: "claimed" | "broadcast" | "unknown";
  readonly createdAt: Date;
  readonly token: string;
}

// biome-ignore lint/suspicious/noExplicitAny: a row of the payments table, typed by the two functions below
type Row = any;

export function readKnown(row: Row): Known {
  return {
    state: row.state,
    payer: row.payer,
    payTo: row.pay_to,
    asset: row.asset,
    amount: row.amount_atomic,
    transaction: row.transaction_id ?? "",
    errorReason: row.error_reason ?? undefined,
    errorMessage: row.error_message ?? undefined,
    retryable: row.retryable,
  };
}

export function readAbandoned(row: Row): Abandoned {
  return {
    state: row.state,
    createdAt: row.created_at,
    token: row.claim_token,
    id: row.id,
    network: row.network,
    key: row.payment_key,
    payer: row.payer,
    payTo: row.pay_to,
    asset: row.asset,
    amount: row.amount_atomic,
    feePayer: row.fee_payer ?? "",
    transaction: row.transaction_id ?? "",
    raw: row.raw_transactions ?? [],
    nonce: row.nonce ?? undefined,
    expiresAt: row.expires_at,
  };
}
