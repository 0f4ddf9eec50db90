import type { Levels } from "../faults.ts";
import { nanosPerMillisecond } from "../hapi/ids.ts";

/** The chain's own time: the machine's, shifted by `clockOffsetMs`. Consensus timestamps never repeat. */
export class ChainClock {
  readonly #levels: Levels;
  #lastConsensus = 0n;

  constructor(levels: Levels) {
    this.#levels = levels;
  }

  /** Nanoseconds since the epoch. */
  now(): bigint {
    return BigInt(Date.now() + this.#levels.clockOffsetMs) * nanosPerMillisecond;
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
