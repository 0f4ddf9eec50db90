import type { ReadCache } from "../read-cache.ts";
import type { EvmChain } from "./chain.ts";
import type { EvmPayment } from "./payload.ts";

/** What payers of checked payments hold. A balance may be a moment old: what they paid through us since then is counted against it. */
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
