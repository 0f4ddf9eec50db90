/**
 * How long a network usually takes from accepting a transaction to its receipt, learned from the payments it settled: asked
 * much earlier, it has nothing to say; asked at fixed times, a payer waits for the next of them.
 */
export class UsualWait {
  #ms = untoldMs;
  #changedAtMs = 0;

  /** When to ask first, and after how long again. */
  get schedule(): Schedule {
    return { firstMs: this.#ms, againMs: Math.max(leastAgainMs, this.#ms / 16) };
  }

  /**
   * A receipt was there `tookMs` after the network accepted a transaction at `acceptedAtMs`, when it was asked for the first time
   * or again. What began before the last change was asked for by an older schedule and changes nothing, so that many payments
   * at once count as one.
   */
  note(acceptedAtMs: number, tookMs: number, asked: "first" | "again"): void {
    if (acceptedAtMs < this.#changedAtMs) return;
    // At most twice as long: one payment that took long says little of the next.
    const longer = Math.min((tookMs - this.#ms) * 0.2, this.#ms);
    const ms = asked === "first" ? this.#ms * 0.96 : this.#ms + longer;
    this.#ms = Math.min(Math.max(ms, leastMs), mostMs);
    this.#changedAtMs = Date.now();
  }
}

interface Schedule {
  readonly firstMs: number;
  readonly againMs: number;
}

/** Before anything is known. */
const untoldMs = 25;
const leastMs = 5;
const leastAgainMs = 5;
/** Hedera takes two to three seconds. While it takes longer, it is asked for the first time then, so that it is soon noticed when it no longer does. */
const mostMs = 3_000;
