import { facilitatorRequest } from "../payment-payload.ts";
import { type ClaimNeeds, type Holder, refusalWithoutWallet } from "./authority.ts";
import type { PaidCall } from "./paid-call.ts";
import { type Asked, isSettled, type Refused, refusedBy, unreachable } from "./redemption.ts";

/**
 * Undefined when the presented payment is the one that the call was begun with, which its public id does not show. For any other payment,
 * and for one that its payer did not sign, the answer is the facilitator's refusal and no more, unless the presenter shows the payer's
 * wallet. Equal bytes are the same payment. Where bytes differ, or no digest was kept, the facilitator judges, which knows the message
 * that it settled. Throws ApiError 503 while it cannot.
 */
export async function judgePayload(
  context: ClaimNeeds,
  asked: Asked,
  { payloadDigest, payer, requirements, transaction }: PaidCall,
): Promise<Holder | Refused | undefined> {
  const { payload, payment, presented, holdIds } = asked;
  if (payloadDigest?.equals(payment.digest)) return undefined;
  if (presented.signIn !== undefined && !(await refusalWithoutWallet(context, asked, payer))) {
    return { isHolder: true, isWalletShown: true };
  }
  const { facilitator } = context;
  const verdict = await facilitator.verify(facilitatorRequest(payload, requirements));
  if (verdict?.holdId !== undefined) holdIds.push(verdict.holdId);
  // One that would settle now is not the one that did: the facilitator has lost its record, and finds it again.
  const isLost = verdict?.isValid && transaction !== null;
  if (!verdict || isLost) throw unreachable(facilitator);
  // A Hedera transaction's id is what its sender writes: another wallet's transfer may have it, too.
  if (verdict.isValid && payer !== null && verdict.payer !== payer) return anothersPayment;
  return verdict.isValid || isSettled(verdict) ? undefined : refusedBy(verdict);
}

const anothersPayment: Refused = {
  outcome: "refused",
  reason: "payment_for_something_else",
  message: "Another wallet's payment with this id is being used.",
};
