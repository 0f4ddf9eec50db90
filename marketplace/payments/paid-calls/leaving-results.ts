import type { PaidCallId } from "../payment-payload.ts";

/** Settled calls of this copy whose answer is on its way to the buyer, and whose record says so a moment later. */
export class LeavingResults {
  readonly #calls = new Map<string, Leaving>();

  note({ network, key }: PaidCallId, leaving: Leaving): void {
    this.#calls.set(`${network} ${key}`, leaving);
  }

  find({ network, key }: PaidCallId): Leaving | undefined {
    return this.#calls.get(`${network} ${key}`);
  }

  /** Its record says so, or never will. */
  end({ network, key }: PaidCallId): void {
    this.#calls.delete(`${network} ${key}`);
  }
}

interface Leaving {
  readonly transaction: string | null;
  /** Null while it has not left. */
  readonly deliveredAt: Date | null;
}
