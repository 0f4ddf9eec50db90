/**
 * Hands out a number of places, so that nobody who holds on to theirs keeps others out: an account may have a quarter of what
 * is free, one agent an eighth, and so whoever has none always finds some. (Dynamic thresholds: Choudhury and Hahne, 1998.)
 */
export class Shares {
  readonly #total: number;
  readonly #waitMs: number;
  readonly #taken = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();
  #used = 0;

  constructor({ total, waitMs }: { total: number; waitMs: number }) {
    this.#total = total;
    this.#waitMs = waitMs;
  }

  /** A place, once there is one; the answer gives it back. Throws ShareUsedUp after `waitMs`, or when too many wait. */
  async take(holder: Holder, signal?: AbortSignal): Promise<() => void> {
    if (!this.#fits(holder)) await this.#wait(holder, signal);
    else this.#count(holder, 1);
    let given = true;
    return () => {
      if (!given) return;
      given = false;
      this.#count(holder, -1);
      this.#admit();
    };
  }

  #fits(holder: Holder): boolean {
    const free = this.#total - this.#used;
    return placesOf(holder).every(([place, part]) => (this.#taken.get(place) ?? 0) < free / part);
  }

  /** Whoever waits has been counted when this resolves. */
  #wait(holder: Holder, signal: AbortSignal | undefined): Promise<void> {
    const [[mine]] = placesOf(holder);
    const beside = [...this.#waiting].filter((other) => placesOf(other.holder)[0][0] === mine).length;
    if (beside >= waitingMax) return Promise.reject(new ShareUsedUp());
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", giveUp);
        this.#waiting.delete(waiting);
        settle();
      };
      const giveUp = () => end(() => reject(new ShareUsedUp()));
      const waiting: Waiting = { holder, admit: () => end(resolve) };
      const timer = setTimeout(giveUp, this.#waitMs);
      signal?.addEventListener("abort", giveUp);
      this.#waiting.add(waiting);
    });
  }

  /** Those who fit, in the order in which they came. */
  #admit(): void {
    for (const { holder, admit } of this.#waiting) {
      if (this.#used >= this.#total) return;
      if (!this.#fits(holder)) continue;
      this.#count(holder, 1);
      admit();
    }
  }

  #count(holder: Holder, change: 1 | -1): void {
    this.#used += change;
    for (const [place] of placesOf(holder)) {
      const taken = (this.#taken.get(place) ?? 0) + change;
      if (taken === 0) this.#taken.delete(place);
      else this.#taken.set(place, taken);
    }
  }
}

/** For whom something is done. */
export interface Holder {
  readonly account: string;
  readonly agent: string;
}

/** The share is in use, and stayed so. */
export class ShareUsedUp extends Error {
  override readonly name = "ShareUsedUp";

  constructor() {
    super("too many calls of this agent or account are under way");
  }
}

/** Of one account. */
const waitingMax = 100;

interface Waiting {
  readonly holder: Holder;
  readonly admit: () => void;
}

function placesOf({ account, agent }: Holder): [account: [string, number], agent: [string, number]] {
  return [
    [`account ${account}`, 4],
    [`agent ${agent}`, 8],
  ];
}
