import type { Payment, Refusal, Scheme } from "../schemes/scheme.ts";
import { type HeldPayment, holdPayment } from "./hold-payment.ts";
import type { HoldResult, HoldStore } from "./store.ts";

/**
 * Whether a payment would settle now: by the scheme's rules, by its payer's failures, and beside all else that its payer
 * has in flight, which it is then part of. A payment that was claimed and is not to be had again is answered with instead.
 */
export async function checkAndHold(
  { holds, cooldowns }: Needs,
  scheme: Scheme,
  payment: Payment,
): Promise<HeldPayment> {
  // Only what the payer surely signed is held while the chain is asked: no other caller can tie up a payer's money.
  const ahead: { placing?: Promise<HoldResult> } = {};
  const place = () => {
    ahead.placing ??= holds.placeHoldAhead(scheme.network, payment);
    ahead.placing.catch(() => {});
  };
  const giveUp = async () => {
    const placed = await ahead.placing?.catch(() => undefined);
    if (placed && "holdId" in placed) await holds.release(placed.holdId);
  };
  let refusal: Refusal | undefined;
  try {
    refusal = (await scheme.check(payment, place)) ?? cooldowns.refusalOf(scheme.network, payment);
  } catch (error) {
    await giveUp().catch(() => {});
    throw error;
  }
  if (!refusal) return holdPayment(holds, scheme, payment, await ahead.placing);
  await giveUp();
  return refusal;
}

interface Needs {
  readonly holds: HoldStore;
  readonly cooldowns: { refusalOf(network: string, payment: Payment): Refusal | undefined };
}
