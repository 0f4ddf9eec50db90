import { clientOf } from "../../../shared/client-address.ts";
import { ApiError } from "../../../shared/errors.ts";
import { FailureLimiter } from "../../failure-limiter.ts";
import { type Reason, showsPayerLacksFunds } from "./refusal-reasons.ts";

/**
 * Counts payments that were presented and bought nothing, by address and by payer. Above the limit, the facilitator is not
 * asked about payments of that address or payer for up to a minute: it allows this service a number of questions, and no
 * caller may use them up for the others.
 */
export class FailedPayments {
  readonly #byAddress: FailureLimiter;
  readonly #byPayer: FailureLimiter;
  /** The payments counted, each an object of its own post. */
  readonly #counted = new WeakSet<object>();

  constructor({ perAddress, perPayer }: FailedPaymentLimits) {
    this.#byAddress = new FailureLimiter(perAddress);
    this.#byPayer = new FailureLimiter(perPayer);
  }

  /** Seconds until a payment from this address, of this payer, is looked at again; 0 when it is now. */
  waitSeconds(address: string, payer: string | undefined): number {
    const ofPayer = payer === undefined ? 0 : this.#byPayer.waitSeconds(payer);
    return Math.max(this.#byAddress.waitSeconds(clientOf(address)), ofPayer);
  }

  /** Throws ApiError 429. */
  refuseOverBound(address: string, payer: string | undefined): void {
    const seconds = this.waitSeconds(address, payer);
    if (seconds === 0) return;
    const message =
      "Too many payments that bought nothing came from this address or payer; this one was not looked at.";
    throw new ApiError("rate_limited", message, { headers: { "retry-after": String(seconds) } });
  }

  /**
   * Counts the post that this payment was read from, once however often it is noted. A payer is counted only for what needed
   * the payer's own signature: any caller can put a name on garbage.
   */
  note(address: string, payment: PresentedPayment | undefined, reason: Reason): void {
    if (payment && this.#counted.has(payment)) return;
    if (payment) this.#counted.add(payment);
    this.#byAddress.note(clientOf(address));
    if (payment?.payer !== undefined && showsPayerLacksFunds(reason)) this.#byPayer.note(payment.payer);
  }

  /** Counts a question about a settlement, beside its post: the facilitator answers fewer of these. */
  noteSettleQuestion(address: string): void {
    this.#byAddress.note(clientOf(address));
  }
}

interface PresentedPayment {
  readonly payer?: string | undefined;
}

/** Within a minute, by each copy of the service. */
interface FailedPaymentLimits {
  readonly perAddress: number;
  readonly perPayer: number;
}
