/**
 * A semaphore whose permits are shared fairly: an account may hold a part of the permits that are free, an agent half of
 * that part, so that an account that holds none always finds one, however long the others keep theirs.
 * Source: dynamic thresholds, Choudhury and Hahne, 1998.
 */
export class FairSemaphore {
  readonly #total: number;
  readonly #waitMs: number;
  readonly #parts: readonly [account: number, agent: number];
  readonly #taken = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();
  /** How many wait, by account. */
  readonly #waitingBeside = new Map<string, number>();
  #used = 0;

  /** An account may hold the free permits divided by `part`. */
  constructor({ total, waitMs, part = 4 }: { total: number; waitMs: number; part?: number }) {
    this.#total = total;
    this.#waitMs = waitMs;
    this.#parts = [part, 2 * part];
  }

  /**
   * So many permits at once, when they are free; the function answered releases them. Throws NoPermitError after `waitMs`, or when too
   * many wait.
   */
  async acquire(holder: Holder, signal?: AbortSignal, permits = 1): Promise<() => void> {
    if (!this.#fits(holder, permits)) await this.#wait(holder, permits, signal);
    else this.#count(holder, permits);
    let given = true;
    return () => {
      if (!given) return;
      given = false;
      this.#count(holder, -permits);
      this.#admit();
    };
  }

  /** Whether the last of them would be given to a holder who has the others already. */
  #fits(holder: Holder, permits: number): boolean {
    const others = permits - 1;
    const free = this.#total - this.#used - others;
    return bucketsOf(holder).every((bucket, at) => (this.#taken.get(bucket) ?? 0) + others < free / this.#parts[at]!);
  }

  /** The holder has been counted when this resolves. */
  #wait(holder: Holder, permits: number, signal: AbortSignal | undefined): Promise<void> {
    const { account } = holder;
    const beside = this.#waitingBeside.get(account) ?? 0;
    if (beside >= waitingMax || signal?.aborted) return Promise.reject(new NoPermitError());
    add(this.#waitingBeside, account, 1);
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", giveUp);
        this.#waiting.delete(waiting);
        add(this.#waitingBeside, account, -1);
        settle();
      };
      const giveUp = () => end(() => reject(new NoPermitError()));
      const waiting: Waiting = { holder, permits, admit: () => end(resolve) };
      const timer = setTimeout(giveUp, this.#waitMs);
      signal?.addEventListener("abort", giveUp);
      this.#waiting.add(waiting);
    });
  }

  /** Admits those who fit, in the order in which they came. */
  #admit(): void {
    for (const { holder, permits, admit } of this.#waiting) {
      if (this.#used >= this.#total) return;
      if (!this.#fits(holder, permits)) continue;
      this.#count(holder, permits);
      admit();
    }
  }

  #count(holder: Holder, change: number): void {
    this.#used += change;
    for (const bucket of bucketsOf(holder)) add(this.#taken, bucket, change);
  }
}

/** For whom something is done. */
export interface Holder {
  readonly account: string;
  readonly agent: string;
}

/** The holder's share was in use and stayed so. */
export class NoPermitError extends Error {
  override readonly name = "NoPermitError";

  constructor() {
    super("too many calls of this agent or account are under way");
  }
}

/** How many of one account may wait. */
const waitingMax = 1_000;

interface Waiting {
  readonly holder: Holder;
  readonly permits: number;
  readonly admit: () => void;
}

function bucketsOf({ account, agent }: Holder): readonly string[] {
  return [`account ${account}`, `agent ${agent}`];
}

function add(counts: Map<string, number>, name: string, change: number): void {
  const count = (counts.get(name) ?? 0) + change;
  if (count === 0) counts.delete(name);
  else counts.set(name, count);
}
