import type { PaymentRequirements, VerifyResponse } from "../../../shared/x402.ts";
import type { Wallet } from "../../wallet.ts";
import type { PaidCalls } from "../paid-calls/store.ts";
import { facilitatorRequest, type PaymentPayload, paidCallIdOf } from "../payment-payload.ts";
import type { PricedOffer } from "../quotes/offer.ts";
import { requirementsFor } from "../quotes/payment-requirements.ts";
import type { FacilitatorClient } from "./client.ts";
import type { FailedPayments } from "./failed-payments.ts";
import { reasonOf } from "./refusal-reasons.ts";

/**
 * Has the facilitator look at a payment while what it pays for is still being looked up, for the requirements of the last
 * offer at that address. Verifying moves nothing, and the verdict counts only if these prove to be the requirements of now; so
 * nothing is done on a guess. A wrong one, or one for a call whose input is then refused, costs a question, which is counted.
 */
export class SpeculativeVerification {
  readonly #needs: Needs;
  /** By address, the one noted longest ago first. */
  readonly #lastOffers = new Map<string, PricedOffer>();

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** What is offered at this address now. Keeps the price and the wallets alone: what an offer says, and the agent behind it, can be large. */
  note(address: string, { amount, wallets }: PricedOffer): void {
    const key = address.toLowerCase();
    this.#lastOffers.delete(key);
    const paid = walletsOrNone(wallets);
    this.#lastOffers.set(key, { amount, wallets: () => paid });
    if (this.#lastOffers.size > offersMax) this.#lastOffers.delete(this.#lastOffers.keys().next().value as string);
  }

  /** Nothing is sold at this address now. */
  forget(address: string): void {
    this.#lastOffers.delete(address.toLowerCase());
  }

  /** Undefined when there is nothing to ask about, nothing known yet to hold it against, or the caller at `from` failed too often. */
  async verify(address: string, payload: PaymentPayload, from: string): Promise<SpeculativeVerdict | undefined> {
    const offer = this.#lastOffers.get(address.toLowerCase());
    if (!offer || this.#needs.failedPayments.waitSeconds(from, payload.payment?.payer) > 0) return undefined;
    const id = paidCallIdOf(payload);
    if (id === undefined || this.#needs.paidCalls.wasSeenHere(id)) return undefined;
    const requirements = await requirementsFor(this.#needs, offer, payload).catch(() => undefined);
    if (!requirements) return undefined;
    return { requirements, verdict: this.#needs.facilitator.verify(facilitatorRequest(payload, requirements)) };
  }

  /** Gives a question up, and counts it for an address (`from`) whose post was refused beside it: such posts are not paid for. */
  async giveUp(asked: AskedAhead, { payment }: PaymentPayload, from: string): Promise<void> {
    const verdict = await asked?.then((one) => one?.verdict).catch(() => undefined);
    if (verdict) this.#needs.failedPayments.note(from, payment, reasonOf(verdict));
    await releaseSpeculative(this.#needs, asked);
  }
}

/** None where they cannot be told for certain: then nothing is asked ahead. */
function walletsOrNone(wallets: PricedOffer["wallets"]): readonly Wallet[] {
  try {
    return wallets();
  } catch {
    return [];
  }
}

/** Gives up what the facilitator holds of the buyer's money for a question asked ahead that led to nothing. */
export async function releaseSpeculative(
  { facilitator }: Pick<Needs, "facilitator">,
  asked: AskedAhead,
): Promise<void> {
  const verdict = await asked?.then((one) => one?.verdict).catch(() => undefined);
  if (verdict?.holdId !== undefined) await facilitator.release([verdict.holdId]);
}

type AskedAhead = Promise<SpeculativeVerdict | undefined> | undefined;

export interface SpeculativeVerdict {
  /** What the payment was verified for. */
  readonly requirements: PaymentRequirements;
  readonly verdict: Promise<VerifyResponse | undefined>;
}

interface Needs {
  readonly facilitator: FacilitatorClient;
  readonly paidCalls: PaidCalls;
  readonly failedPayments: FailedPayments;
}

const offersMax = 1_000;
