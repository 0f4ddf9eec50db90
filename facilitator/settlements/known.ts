import { ApiError } from "../../shared/errors.ts";
import {
  NetworkAway,
  type Payment,
  type PaymentRequest,
  type Refusal,
  refuse,
  type Scheme,
  type Unfinished,
} from "../schemes/scheme.ts";

/** A payment somebody has claimed before. */
export interface Known {
  readonly state: "claimed" | "broadcast" | "unknown" | "settled" | "failed";
  readonly payer: string;
  readonly payTo: string;
  readonly asset: string;
  readonly amount: bigint;
  readonly expiresAt: Date;
  /** Of what its payer signed; undefined for payments of before this was kept. */
  readonly messageDigest: Buffer | undefined;
  readonly resourceUrl: string | undefined;
  /** Of the terms it was claimed for, where they name a quote. */
  readonly termsDigest: string | undefined;
  readonly transaction: string;
  /** That transaction was none of ours. */
  readonly landedByAnother: boolean;
  readonly errorReason: string | undefined;
  readonly errorMessage: string | undefined;
  readonly retryable: boolean;
}

/** Whoever presents it may claim it again: it failed in a way that left it valid, or whoever claimed it is gone. */
export const isClaimable = ({ state, retryable }: Known): boolean =>
  retryable && (state === "failed" || state === "claimed");

/**
 * Why the caller is told nothing of a payment that was claimed before: it is not the one that the caller presents, or
 * the payer did not sign what is presented. Its key and fields are public. Throws ApiError 503 when only the chain knows.
 */
export async function refusalToTell(scheme: Scheme, known: Known, payment: Payment): Promise<Refusal | undefined> {
  if (!isSamePayment(known, payment)) return anotherPayment;
  try {
    return await scheme.checkSignature(payment);
  } catch (error) {
    if (!(error instanceof NetworkAway)) throw error;
    const message = `${scheme.network} cannot be asked who signed this payment; try again later.`;
    throw new ApiError("unavailable", message, { headers: { "retry-after": "5" } });
  }
}

/** The same message, not the same bytes: signatures can be rewritten. Without its digest, its fields. */
function isSamePayment(known: Known, { payer, payTo, asset, amount, messageDigest, expiresAt }: Payment): boolean {
  if (known.payer !== payer || known.payTo !== payTo || known.asset !== asset || known.amount !== amount) return false;
  if (known.messageDigest) return known.messageDigest.equals(messageDigest);
  return known.expiresAt.getTime() === expiresAt.getTime();
}

/** Whether a payment was claimed for what is asked now: the same quote or, where none was named, the same resource. */
export function isForSameTerms(known: Known, { termsDigest, resourceUrl }: PaymentRequest): boolean {
  if (known.termsDigest !== undefined || termsDigest !== undefined) return known.termsDigest === termsDigest;
  return known.resourceUrl === resourceUrl;
}

export const anotherPayment = refuse("invalid_transaction_state", "Another payment has used this payment's id.");

/** A payment whose holder fell silent. */
export interface Abandoned extends Unfinished {
  readonly state: "claimed" | "broadcast" | "unknown";
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
