import type { SignedPayment } from "./signed-payment.ts";

/**
 * Keeps payments whose end is not known. `save` is awaited before the payment is sent: where it throws, nothing is paid. What it
 * keeps over a crash is not paid for twice.
 */
export interface PaymentStore {
  load(id: string): Promise<SignedPayment | undefined> | SignedPayment | undefined;
  save(payment: SignedPayment): Promise<void> | void;
  /** Its end is known. */
  remove(id: string): Promise<void> | void;
}

/** For as long as this program runs. */
export class PaymentsInMemory implements PaymentStore {
  readonly #payments = new Map<string, SignedPayment>();

  load(id: string): SignedPayment | undefined {
    return this.#payments.get(id);
  }

  save(payment: SignedPayment): void {
    this.#payments.set(payment.id, payment);
  }

  remove(id: string): void {
    this.#payments.delete(id);
  }
}
