import { clientOf } from "../../shared/client-address.ts";
import { ApiError } from "../../shared/errors.ts";
import { RecentFailures } from "../recent-failures.ts";
import type { Proof } from "./proof.ts";

/**
 * Counts payments that were presented and did not hold, by address and by payer. Past the bound the facilitator is not asked
 * about theirs for up to a minute: it allows this service so many questions, which nobody shall use up for the others.
 */
export class FailedProofs {
  readonly #byAddress: RecentFailures;
  readonly #byPayer: RecentFailures;

  constructor({ perAddress, perPayer }: FailedProofLimits) {
    this.#byAddress = new RecentFailures(perAddress);
    this.#byPayer = new RecentFailures(perPayer);
  }

  /** Seconds until a payment from this address, of this payer, is looked at again; 0 when it is now. */
  waitSeconds(address: string, { payment }: Proof): number {
    const ofPayer = payment?.payer === undefined ? 0 : this.#byPayer.waitSeconds(payment.payer);
    return Math.max(this.#byAddress.waitSeconds(clientOf(address)), ofPayer);
  }

  /** Throws ApiError 429. */
  refuseOverBound(address: string, proof: Proof): void {
    const seconds = this.waitSeconds(address, proof);
    if (seconds === 0) return;
    const message = "Too many payments that did not hold came from this address or payer; nothing was charged.";
    throw new ApiError("rate_limited", message, { headers: { "retry-after": String(seconds) } });
  }

  /** A payer is counted only for what needed the payer's own signature: anybody can put a name on garbage. */
  note(address: string, { payment }: Proof, reason: string): void {
    this.#byAddress.note(clientOf(address));
    if (payment?.payer !== undefined && reasonsAfterSignature.test(reason)) this.#byPayer.note(payment.payer);
  }
}

/** Within a minute, by each copy of the service. */
export interface FailedProofLimits {
  readonly perAddress: number;
  readonly perPayer: number;
}

const reasonsAfterSignature = /insufficient_(funds|balance)/;
