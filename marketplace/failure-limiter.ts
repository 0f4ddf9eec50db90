const windowMs = 60_000;
const subjectsMax = 10_000;

/** Counts a client's failures of the last minute, within this copy of the service: it slows down guessing and flooding. */
export class FailureLimiter {
  readonly #failures = new Map<string, { count: number; until: number }>();
  readonly #countMax: number;

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  /** Seconds until the client is answered again; 0 when it is answered now. */
  waitSeconds(subject: string): number {
    const failed = this.#failures.get(subject);
    if (!failed || failed.count < this.#countMax) return 0;
    return Math.max(0, Math.ceil((failed.until - Date.now()) / 1000));
  }

  note(subject: string): void {
    const now = Date.now();
    const failed = this.#failures.get(subject);
    if (failed && failed.until > now) {
      failed.count += 1;
      return;
    }
    // The oldest entry goes first: a Map keeps the order of insertion.
    if (this.#failures.size >= subjectsMax) this.#failures.delete(this.#failures.keys().next().value as string);
    this.#failures.delete(subject);
    this.#failures.set(subject, { count: 1, until: now + windowMs });
  }
}
