import type { FeePayerFunds, FundsReading } from "./fee-payers.ts";
import type { SignerLeases } from "./signer-leases.ts";

/**
 * Keeps what is known of a network's fee payers new: the balances of those that this copy looks after are read from the network,
 * those of all others as their copies found them.
 */
export class FeePayerRounds {
  readonly #members: readonly Member[];
  readonly #leases: SignerLeases;
  /** Asks the network anything at all. */
  readonly #probe: () => Promise<unknown>;
  #canAsk = true;
  #probedAt = Number.NEGATIVE_INFINITY;

  constructor(members: readonly Member[], leases: SignerLeases, probe: () => Promise<unknown>) {
    this.#members = members;
    this.#leases = leases;
    this.#probe = probe;
  }

  /** Takes leases and reads all balances for the first time. */
  async start(): Promise<void> {
    await this.#leases.start();
    await this.renewLeases();
    await this.readBalances();
  }

  renewLeases(): Promise<void> {
    const usable = this.#members.filter(({ signs }) => signs()).map(({ id }) => id);
    return this.#leases.renew(this.#canAsk, usable);
  }

  async readBalances(): Promise<void> {
    // No copy leases a fee payer whose key no copy can reach: each copy reads its balance until it is known.
    const own = this.#members.filter(
      ({ id, funds, signs }) => this.#leases.holds(id) || funds.isRefused || !(signs() || funds.isKnown),
    );
    await eachOf(own, ({ funds, read }) => funds.readWhenDue(read));
    const others = this.#members.filter((member) => !own.includes(member));
    if (others.length > 0) await this.#shareBalances(others);
    if (own.length > 0) this.#canAsk = own.some(({ funds }) => funds.isKnown);
  }

  /** A copy that cannot ask the network knows of no balance there, whatever others know. */
  async #shareBalances(others: readonly Member[]): Promise<void> {
    if (performance.now() - this.#probedAt >= (this.#canAsk ? probeEveryMs : probeSoonMs)) {
      this.#probedAt = performance.now();
      this.#canAsk = await this.#probe().then(
        () => true,
        () => false,
      );
    }
    const found = this.#canAsk ? await this.#leases.sharedFunds(others.map(({ id }) => id)) : new Map();
    for (const { id, funds } of others) funds.share(found.get(id));
  }
}

interface Member {
  readonly id: string;
  readonly funds: FeePayerFunds;
  /** Whether this copy can sign with its key now. */
  readonly signs: () => boolean;
  readonly read: () => Promise<FundsReading | undefined>;
}

/** Some at a time: a network may have hundreds of fee payers. */
export async function eachOf<T>(
  items: readonly T[],
  run: (item: T) => Promise<unknown>,
  atOnce = atOnceMax,
): Promise<void> {
  const waiting = items.values();
  const work = async () => {
    for (const item of waiting) await run(item);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

const atOnceMax = 8;
const probeEveryMs = 15_000;
const probeSoonMs = 4_000;
