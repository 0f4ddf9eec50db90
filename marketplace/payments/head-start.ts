import type { PaymentRequirements, VerifyResponse } from "../../shared/x402.ts";
import type { Context } from "../context.ts";
import type { Offer } from "./offer.ts";
import { facilitatorRequest, type Proof, paidCallIdOf } from "./proof.ts";
import { termsFor } from "./terms.ts";

/**
 * Has the facilitator look at a payment while what it pays for is still being looked up, on the terms of the last offer
 * at that address. Verifying moves nothing, and the verdict counts only if these prove to be the terms of now; so
 * nothing is done on a guess. A wrong one, or one for a call whose input is then refused, costs a question.
 */
export class HeadStart {
  readonly #needs: Needs;
  /** By address, the one noted longest ago first. */
  readonly #lastOffers = new Map<string, Offer>();

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** What is offered at this address now. */
  note(address: string, offer: Offer): void {
    const key = address.toLowerCase();
    this.#lastOffers.delete(key);
    this.#lastOffers.set(key, offer);
    if (this.#lastOffers.size > offersMax) this.#lastOffers.delete(this.#lastOffers.keys().next().value as string);
  }

  /** Undefined when there is nothing to ask about, nothing known yet to hold it against, or who asks (`from`) failed too often. */
  async verify(address: string, proof: Proof, from: string): Promise<EarlyVerdict | undefined> {
    const offer = this.#lastOffers.get(address.toLowerCase());
    if (!offer || this.#needs.failedProofs.waitSeconds(from, proof) > 0) return undefined;
    const id = paidCallIdOf(proof);
    if (id === undefined || this.#needs.paidCalls.wasSeenHere(id)) return undefined;
    const requirements = await termsFor(this.#needs, offer, proof).catch(() => undefined);
    if (!requirements) return undefined;
    return { requirements, verdict: this.#needs.facilitator.verify(facilitatorRequest(proof, requirements)) };
  }
}

/** Gives up what the facilitator holds of the buyer's money for a question asked ahead that led to nothing. */
export async function giveUp({ facilitator }: Pick<Context, "facilitator">, early: Early): Promise<void> {
  const verdict = await early?.then((one) => one?.verdict).catch(() => undefined);
  if (verdict?.holdId !== undefined) await facilitator.release([verdict.holdId]);
}

type Early = Promise<EarlyVerdict | undefined> | undefined;

export interface EarlyVerdict {
  /** The terms that the payment was held against. */
  readonly requirements: PaymentRequirements;
  readonly verdict: Promise<VerifyResponse | undefined>;
}

type Needs = Pick<Context, "facilitator" | "paidCalls" | "failedProofs">;

const offersMax = 1_000;
