import type { EntityNumber } from "./hapi/ids.ts";

/** What the next calls meet. A counter is used up one call at a time; 0 = off. */
export const faultCounters = {
  busy: "transactions are refused with BUSY, before anything happens",
  unavailable: "transactions fail with gRPC UNAVAILABLE, before anything happens",
  dropReply: "transactions are accepted and run, but the caller never gets an answer",
  resetReply: "transactions are accepted and run, but the caller gets gRPC UNAVAILABLE",
  loseTx: "transactions are answered OK but never reach consensus; only that node remembers the id",
  throttleAtConsensus: "transactions fail at consensus with THROTTLED_AT_CONSENSUS, their fee charged",
  queryUnavailable: "queries (receipts too) fail with gRPC UNAVAILABLE",
  mirrorUnavailable: "mirror requests answer 503",
} as const;

/** How the chain behaves all the time, until set otherwise. */
export const faultLevels = {
  delayMs: "every gRPC answer waits this long",
  consensusDelayMs: "from a node's OK to the receipt; lowering it releases what waits",
  mirrorLagMs: "how far the mirror is behind the chain",
  receiptTtlMs: "how long receipts and records are given out",
  clockOffsetMs: "the chain's clock against the machine's; may be negative",
} as const;

/** The switches that make a chain misbehave on purpose. Those not named in a call keep their value. */
export class Faults {
  readonly levels: Levels;
  readonly #initial: Readonly<Levels>;
  readonly #counters = new Map<string, number>();
  /** Called after a switch was turned. */
  turned: () => void = () => {};

  constructor(levels: Levels) {
    this.levels = levels;
    this.#initial = { ...levels };
  }

  /** Counters may be for one node (`0.0.3`) only; levels are for the whole chain. */
  set(values: Partial<Record<CounterName, number>> & Partial<Levels>, node?: string): void {
    for (const [name, value] of Object.entries(values)) {
      if (name in faultLevels) this.levels[name as LevelName] = value;
      else if (value > 0) this.#counters.set(counterKey(name, node), value);
      else this.#counters.delete(counterKey(name, node));
    }
    this.turned();
  }

  /** Counters off, levels as they were at the start. */
  clear(): void {
    this.#counters.clear();
    Object.assign(this.levels, this.#initial);
    this.turned();
  }

  /** What is left of the counters, as `{busy: 2, "dropReply@0.0.3": 1}`, and the levels. */
  current(): Record<string, number> {
    return { ...Object.fromEntries(this.#counters), ...this.levels };
  }

  /** Uses one up: the node's own counter first, then the one for every node. */
  take(name: CounterName, node?: EntityNumber): boolean {
    if (this.#counters.size === 0) return false;
    return this.#takeFrom(counterKey(name, `0.0.${node}`)) || this.#takeFrom(name);
  }

  #takeFrom(key: string): boolean {
    const count = this.#counters.get(key) ?? 0;
    if (count > 1) this.#counters.set(key, count - 1);
    else this.#counters.delete(key);
    return count > 0;
  }
}

const counterKey = (name: string, node?: string): string => (node === undefined ? name : `${name}@${node}`);

export type CounterName = keyof typeof faultCounters;
export type LevelName = keyof typeof faultLevels;
export type Levels = Record<LevelName, number>;
