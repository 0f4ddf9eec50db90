import type { EntityNumber } from "./hapi/ids.ts";

/** Switches that make the ledger misbehave on purpose. A counter is used up one call at a time; 0 = off. */
export class Faults {
  readonly #counters = new Map<string, number>();

  /** Sets counters, for every node or for one. Those not named keep their value. */
  set(counts: Partial<Record<FaultName, number>>, node?: EntityNumber): void {
    for (const [name, count] of Object.entries(counts)) {
      const key = counterKey(name as FaultName, node);
      if (count > 0) this.#counters.set(key, count);
      else this.#counters.delete(key);
    }
  }

  clear(): void {
    this.#counters.clear();
  }

  /** Uses one up: the node's own counter first, then the one for every node. */
  take(name: FaultName, node: EntityNumber): boolean {
    if (this.#counters.size === 0) return false;
    return this.#takeFrom(counterKey(name, node)) || this.#takeFrom(counterKey(name));
  }

  /** What is left, as `{busy: 2, "dropReply@0.0.3": 1}`. */
  left(): Record<string, number> {
    return Object.fromEntries(this.#counters);
  }

  #takeFrom(key: string): boolean {
    const count = this.#counters.get(key) ?? 0;
    if (count === 0) return false;
    if (count === 1) this.#counters.delete(key);
    else this.#counters.set(key, count - 1);
    return true;
  }
}

const counterKey = (name: FaultName, node?: EntityNumber): string =>
  node === undefined ? name : `${name}@0.0.${node}`;

/** Each counter and what the next calls it hits will meet. */
export const FAULTS = {
  busy: "transactions are refused with BUSY, before anything happens",
  unavailable: "transactions fail with gRPC UNAVAILABLE, before anything happens",
  dropReply: "transactions are accepted and run, but the caller never gets an answer",
  resetReply: "transactions are accepted and run, but the caller gets gRPC UNAVAILABLE",
  loseTx: "transactions are answered OK but never reach consensus; only that node remembers the id",
  throttleAtConsensus: "transactions fail at consensus with THROTTLED_AT_CONSENSUS, their fee charged",
  queryUnavailable: "queries (receipts too) fail with gRPC UNAVAILABLE",
  mirrorUnavailable: "mirror requests answer 503",
} as const;

export type FaultName = keyof typeof FAULTS;
