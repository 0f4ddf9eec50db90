import type { PaymentState, unfinishedStates } from "../payment-states.ts";
import { type Payment, type PaymentRequest, refuse, type Unfinished } from "../schemes/scheme.ts";

/** A payment that was claimed before, as the payments table has it. */
export interface PaymentRecord {
  readonly state: PaymentState;
  readonly payer: string;
  readonly payTo: string;
  readonly asset: string;
  readonly amount: bigint;
  readonly expiresAt: Date;
  /** Digest of what its payer signed; undefined for payments from before it was kept. */
  readonly messageDigest: Buffer | undefined;
  readonly resourceUrl: string | undefined;
  /** Digest of the terms that it was claimed for, where they name a quote. */
  readonly termsDigest: string | undefined;
  readonly transaction: string;
  /** This service did not send that transaction. */
  readonly landedByAnother: boolean;
  readonly errorReason: string | undefined;
  readonly errorMessage: string | undefined;
  readonly retryable: boolean;
}

/** Compares messages, not bytes: a signature can be rewritten. Where no digest was kept, compares the fields. */
export function isSamePayment(
  record: Pick<PaymentRecord, "payer" | "payTo" | "asset" | "amount" | "expiresAt" | "messageDigest">,
  { payer, payTo, asset, amount, messageDigest, expiresAt }: Payment,
): boolean {
  if (record.payer !== payer || record.payTo !== payTo || record.asset !== asset || record.amount !== amount)
    return false;
  if (record.messageDigest) return record.messageDigest.equals(messageDigest);
  return record.expiresAt.getTime() === expiresAt.getTime();
}

/** Whether a payment was claimed for what is asked now: the same quote or, where none was named, the same resource. */
export function isForSameTerms(record: PaymentRecord, { termsDigest, resourceUrl }: PaymentRequest): boolean {
  if (record.termsDigest !== undefined || termsDigest !== undefined) return record.termsDigest === termsDigest;
  return record.resourceUrl === resourceUrl;
}

export const anotherPayment = refuse("invalid_transaction_state", "Another payment has used this payment's id.");

/** A payment whose lease has run out. */
export interface Abandoned extends Unfinished {
  readonly state: (typeof unfinishedStates)[number];
  readonly token: string;
}

// biome-ignore lint/suspicious/noExplicitAny: a row of the payments table, typed by the two functions below
type Row = any;

/** What `readPaymentRecord` reads of a payment `p`; by name, so that a column that a newer version adds changes no prepared statement. */
export const recordColumns = `p.state, p.payer, p.pay_to, p.asset, p.amount_atomic, p.expires_at, p.message_digest, p.resource_url,
  p.terms_digest, p.transaction_id, p.landed_by_another, p.error_reason, p.error_message, p.retryable`;

export function readPaymentRecord(row: Row): PaymentRecord {
  return {
    state: row.state,
    payer: row.payer,
    payTo: row.pay_to,
    asset: row.asset,
    amount: row.amount_atomic,
    expiresAt: row.expires_at,
    messageDigest: row.message_digest ?? undefined,
    resourceUrl: row.resource_url ?? undefined,
    termsDigest: row.terms_digest ?? undefined,
    transaction: row.transaction_id ?? "",
    landedByAnother: row.landed_by_another,
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
    signedTransactions: row.signed_transactions,
    raw: row.raw_transactions ?? [],
    nonce: row.nonce ?? undefined,
    expiresAt: row.expires_at,
  };
}
