import { NANOS_PER_MILLISECOND } from "../hapi/ids.ts";

/** The ledger's own time: the machine's, shifted by an offset. Consensus timestamps never repeat. */
export class LedgerClock {
  offsetMs: number;
  #lastConsensus = 0n;

  constructor(offsetMs: number) {
    this.offsetMs = offsetMs;
  }

  /** Nanoseconds since the epoch. */
  now(): bigint {
    return BigInt(Date.now() + this.offsetMs) * NANOS_PER_MILLISECOND;
  }

  nextConsensus(): bigint {
    const now = this.now();
    this.#lastConsensus = now > this.#lastConsensus ? now : this.#lastConsensus + 1n;
    return this.#lastConsensus;
  }

  /** After a restore: no timestamp at or before `consensusAt` is given out again. */
  startAfter(consensusAt: bigint): void {
    if (consensusAt > this.#lastConsensus) this.#lastConsensus = consensusAt;
  }
}
