import { siteOf, siteShares } from "../shared/client-address.ts";

const windowMs = 60_000;
const subjectsMax = 10_000;

/** Counts failures of a client and of its site in the last minute, within this copy of the service: it slows down guessing and flooding. */
export class FailureLimiter {
  readonly #failures = new Map<string, { count: number; until: number }>();
  readonly #countMax: number;

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  /** Seconds until the client is answered again; 0 when it is answered now. */
  waitSeconds(subject: string): number {
    const site = siteOf(subject);
    const ofSite = site === undefined ? 0 : this.#wait(site, siteShares * this.#countMax);
    return Math.max(this.#wait(subject, this.#countMax), ofSite);
  }

  #wait(subject: string, countMax: number): number {
    const failed = this.#failures.get(subject);
    if (!failed || failed.count < countMax) return 0;
    return Math.max(0, Math.ceil((failed.until - Date.now()) / 1000));
  }

  note(subject: string): void {
    const site = siteOf(subject);
    if (site !== undefined) this.#noteOne(site);
    this.#noteOne(subject);
  }

  #noteOne(subject: string): void {
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
