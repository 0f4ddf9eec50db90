import type { ReadCache } from "../read-cache.ts";
import type { EvmChain } from "./chain.ts";
import type { EvmPayment } from "./payload.ts";

/** What the payers of payments that were checked hold. It may be a moment old: what left it through us meanwhile is counted. */
export class PayerBalances {
  readonly #chain: EvmChain;
  readonly #reads: ReadCache;
  readonly #noted = new WeakMap<EvmPayment, bigint>();

  constructor(chain: EvmChain, reads: ReadCache) {
    this.#chain = chain;
    this.#reads = reads;
  }

  async note(payment: EvmPayment): Promise<void> {
    const { asset, payer } = payment;
    const read = () => this.#chain.holding(asset, payer);
    this.#noted.set(payment, await this.#reads.read(`${asset} ${payer}`, balanceAgeMaxMs, read));
  }

  of(payment: EvmPayment): bigint {
    return this.#noted.get(payment) ?? 0n;
  }
}

const balanceAgeMaxMs = 1_000;
