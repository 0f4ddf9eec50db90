import { clientOf } from "../../shared/client-address.ts";

const windowMs = 60_000;
const addressesMax = 10_000;

/**
 * Counts failed authentications by network address, within this copy of the service. It slows guessing and makes it
 * visible to the guesser; the keys themselves, 190 random bits, need no help.
 */
export class FailedAttempts {
  readonly #failures = new Map<string, { count: number; until: number }>();
  readonly #countMax: number;

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  /** Seconds until the address is answered like any other again; 0 when it may now. */
  waitSeconds(address: string): number {
    const failed = this.#failures.get(clientOf(address));
    if (!failed || failed.count < this.#countMax) return 0;
    return Math.max(0, Math.ceil((failed.until - Date.now()) / 1000));
  }

  note(from: string): void {
    const address = clientOf(from);
    const now = Date.now();
    const failed = this.#failures.get(address);
    if (failed && failed.until > now) {
      failed.count += 1;
      return;
    }
    // The oldest entry goes first: a Map keeps the order of insertion.
    if (this.#failures.size >= addressesMax) this.#failures.delete(this.#failures.keys().next().value as string);
    this.#failures.delete(address);
    this.#failures.set(address, { count: 1, until: now + windowMs });
  }
}
