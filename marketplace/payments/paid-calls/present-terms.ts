import { ApiError } from "../../../shared/errors.ts";
import type { PaymentRequirements } from "../../../shared/x402.ts";
import type { Wallet } from "../../wallet.ts";
import type { FacilitatorClient } from "../facilitator/client.ts";
import { type PaymentPayload, paidIn } from "../payment-payload.ts";
import { isPaying, isSameWallet, requirementsFor } from "../quotes/payment-requirements.ts";
import type { Presented, Refused } from "./redemption.ts";

/**
 * The requirements that a payment which is not settled yet must meet: the present price, to the seller's present wallet. Refused where it
 * does not pay that. Throws ApiError 404 for what is off the market, 503 where it cannot be told.
 */
export async function presentTerms(
  context: { readonly facilitator: FacilitatorClient },
  { offer, payload }: Pick<Presented, "offer" | "payload">,
): Promise<PaymentRequirements | Refused> {
  if (offer.isWithdrawn) throw new ApiError("not_found", "There is no such agent.");
  const requirements = await requirementsFor(context, offer, payload);
  if (!requirements) return notOffered(payload);
  const paid = paidIn(payload);
  if (!paid || isPaying(paid, requirements)) return requirements;
  return {
    outcome: "refused",
    reason: "accepted_payment_requirements_mismatch",
    message: `This costs ${requirements.amount} base units to ${requirements.payTo} now, which is not what the payment pays.`,
  };
}

/**
 * Refused where the seller is not paid any more to the wallet that a payment pays, which may be lost or another's by now; a result that was
 * made at its price keeps that. Undefined too where it cannot be told.
 */
export function refusalOfFormerWallet(
  { offer }: Pick<Presented, "offer">,
  { network, payTo }: PaymentRequirements,
): Refused | undefined {
  const wallets = walletsNow(offer);
  if (
    !wallets ||
    wallets.some((wallet) => wallet.network === network && isSameWallet(network, wallet.address, payTo))
  ) {
    return undefined;
  }
  return {
    outcome: "refused",
    reason: "accepted_payment_requirements_mismatch",
    message: `The seller is not paid to ${payTo} any more.`,
  };
}

function walletsNow(offer: Presented["offer"]): readonly Wallet[] | undefined {
  try {
    return offer.wallets();
  } catch {
    return undefined;
  }
}

export function notOffered({ network }: Pick<PaymentPayload, "network">): Refused {
  return { outcome: "refused", reason: "invalid_network", message: `Payment on ${network} is not offered.` };
}
