import {
  NetworkAwayError,
  networkUnavailable,
  type Payment,
  type Refusal,
  refuse,
  type Scheme,
  type SentSettlement,
} from "../schemes/scheme.ts";
import type { LostSettlements } from "./lost-settlements.ts";
import { anotherPayment, isSamePayment, type PaymentRecord } from "./payment-record.ts";

/**
 * Why the caller is told nothing of a payment that was claimed before: it is not the one that the caller presents, or
 * the payer did not sign what is presented. Its key and fields are public. Throws ApiError 503 when only the chain knows.
 */
export async function refusalToTell(
  { lostSettlements }: RefusalNeeds,
  scheme: Scheme,
  record: PaymentRecord,
  payment: Payment,
): Promise<Refusal | undefined> {
  const isSame = isSamePayment(record, payment);
  // The payment that is settled is the one that landed.
  if (!isSame && (record.state === "settled" || !scheme.findSent)) return anotherPayment;
  try {
    const unsigned = await scheme.checkSignature(payment);
    if (isSame) return unsigned;
    const landed = unsigned ? undefined : await scheme.findSent?.(payment);
    return landed ? await refusalOfLanded(lostSettlements, scheme, landed, { record, payment }) : anotherPayment;
  } catch (error) {
    if (!(error instanceof NetworkAwayError)) throw error;
    throw networkUnavailable(`${scheme.network} cannot be asked about this payment; try again later.`, error);
  }
}

/**
 * The database has lost what the chain settled under a payment's key, and another payment has claimed the key since. It moved nothing: once
 * it has failed, the one that landed is on record instead of it.
 */
async function refusalOfLanded(
  lostSettlements: RefusalNeeds["lostSettlements"],
  { network }: Scheme,
  landed: SentSettlement,
  { record, payment }: { readonly record: PaymentRecord; readonly payment: Payment },
): Promise<Refusal> {
  if (record.state === "failed") await lostSettlements.add(network, landed);
  if (!isSamePayment({ ...landed, messageDigest: undefined }, payment)) return anotherPayment;
  const { transaction } = landed;
  return { ...refuse("already_settled", `This payment was settled in transaction ${transaction}.`), transaction };
}

export interface RefusalNeeds {
  readonly lostSettlements: Pick<LostSettlements, "add">;
}
