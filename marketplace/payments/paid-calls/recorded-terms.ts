import { publicUrl, termsDigest } from "../../../shared/x402.ts";
import type { FacilitatorClient } from "../facilitator/client.ts";
import { type FacilitatorRecord, facilitatorRecordShape } from "../facilitator/facilitator-record.ts";
import { isOutOfTime, nonceUsed } from "../facilitator/refusal-reasons.ts";
import type { PaidCallId, SettleRequirements } from "../payment-payload.ts";
import type { LeasedCall } from "./paid-call.ts";
import { mayHavePaid, outcomeUnknown, type Refused, type Unknown } from "./redemption.ts";

/** What the facilitator has on record of a payment; undefined for what it does not know. Throws when it does not answer. */
export async function recordOf(
  facilitator: Pick<FacilitatorClient, "paymentState">,
  id: PaidCallId,
  terms?: string,
): Promise<FacilitatorRecord | undefined> {
  return facilitatorRecordShape.safeParse(await facilitator.paymentState(id, terms)).data;
}

/**
 * What is told of a call's payment that was refused when it was to be settled. A facilitator that keeps no record does not know a
 * payment again which it settled itself, be its answer lost: then a nonce that was used is no refusal, nor is any that comes later, nor
 * that the payment of a call which an earlier post began comes too late.
 */
export async function refusalOnRecord(
  facilitator: Pick<FacilitatorClient, "paymentState" | "hasNotClaimed">,
  { id, isResumed, mayHavePaid: wasDoubted }: Pick<LeasedCall, "id" | "isResumed" | "mayHavePaid">,
  refusal: Refused | Unknown,
): Promise<Refused | Unknown> {
  if (refusal.outcome === "unknown") return refusal;
  const isDoubted = wasDoubted || refusal.reason === nonceUsed;
  if (!isDoubted && !(isResumed && isOutOfTime(refusal.reason))) return refusal;
  try {
    if ((await recordOf(facilitator, id)) !== undefined) return refusal;
    return isDoubted || !(await facilitator.hasNotClaimed(id)) ? mayHavePaid : refusal;
  } catch {
    // A doubt is kept for good (store.ts), and its record may be there in a moment.
    return isDoubted ? mayHavePaid : outcomeUnknown;
  }
}

/**
 * Whether the facilitator had a payment settled for these requirements, with their quote's secret, whichever resource its envelope named:
 * who posts it writes that, and a later post may name another. Throws when it does not answer.
 */
export async function isOnRecordFor(
  facilitator: Pick<FacilitatorClient, "paymentState">,
  id: PaidCallId,
  requirements: SettleRequirements,
  record: FacilitatorRecord | undefined,
): Promise<boolean> {
  const terms = record && termsDigest(requirements, publicUrl(record.resource_url));
  return terms !== undefined && (await recordOf(facilitator, id, terms))?.for_terms === true;
}
