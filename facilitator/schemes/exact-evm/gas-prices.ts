import type { EvmChain, GasFees } from "./chain.ts";

/** What a transaction offers for its gas on one chain, from the newest base fee. */
export class GasPrices {
  readonly #chain: EvmChain;
  #fees: (GasFees & { readonly atMs: number }) | undefined;

  constructor(chain: EvmChain) {
    this.#chain = chain;
  }

  /** What the next transaction would about offer: at most half a minute old, so that a check rarely waits for it. */
  async usual(): Promise<GasFees> {
    return this.#fees && Date.now() - this.#fees.atMs < usualFeesValidMs ? this.#fees : this.current();
  }

  /** One read of the base fee serves the payments of about one block; twice the base fee outlasts six full blocks. */
  async current(): Promise<GasFees> {
    if (!this.#fees || Date.now() - this.#fees.atMs > feesValidMs) {
      const { baseFeePerGas } = await this.#chain.latestBlock();
      this.#fees = { atMs: Date.now(), perGas: 2n * baseFeePerGas + tipWei, tip: tipWei };
    }
    return this.#fees;
  }
}

const feesValidMs = 1_000;
const usualFeesValidMs = 30_000;
export const tipWei = 1_000_000n;

/** Nodes want at least 10 % more for a replacement. */
export function raisedFee(fee: bigint): bigint {
  return (fee * 125n) / 100n + 1n;
}
