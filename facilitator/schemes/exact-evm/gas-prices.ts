import type { Block, EvmChain, GasFees } from "./chain.ts";

/** What a transaction offers for its gas on one chain, from the newest base fee that was read. */
export class GasPrices {
  readonly #chain: Pick<EvmChain, "latestBlock" | "suggestedTip">;
  readonly #perGasMax: bigint;
  #raised: { readonly tip: bigint; readonly untilMs: number } | undefined;
  #fees: (GasFees & { readonly atMs: number }) | undefined;

  constructor(chain: Pick<EvmChain, "latestBlock" | "suggestedTip">, perGasMax: bigint) {
    this.#chain = chain;
    this.#perGasMax = perGasMax;
  }

  /** What the next transaction would about offer: at most half a minute old, so that a check rarely waits for it. */
  async usual(): Promise<GasFees> {
    return this.#fees && Date.now() - this.#fees.atMs < usualFeesValidMs ? this.#fees : this.current();
  }

  /** One read of the base fee serves the payments of about one block; twice the base fee outlasts six full blocks. */
  async current(): Promise<GasFees> {
    if (this.#fees && Date.now() - this.#fees.atMs <= feesValidMs) return this.#fees;
    return this.note(await this.#chain.latestBlock());
  }

  /** The newest block was read, for this or for something else. */
  note({ baseFeePerGas }: Pick<Block, "baseFeePerGas">): GasFees {
    const tip = this.#tip;
    this.#fees = { atMs: Date.now(), perGas: 2n * baseFeePerGas + tip, tip };
    return this.#fees;
  }

  /** A node refused a transaction for its price, so that it is not what was last read. Never throws. */
  async readAgain(): Promise<void> {
    if (this.#fees) this.#fees = { ...this.#fees, atMs: 0 };
    await this.current().catch(() => {});
  }

  /**
   * The node refused a transaction for its tip: on some chains (Polygon) a node takes none under a minimum of its own. For a while the tip is
   * what it named, or suggests: a pool that was full wanted more than it will. Never throws.
   */
  async raiseTip(refusal: string): Promise<void> {
    const named = BigInt(/minimum needed (\d{1,20})/.exec(refusal)?.[1] ?? 0);
    const wanted = named > 0n ? named : await this.#chain.suggestedTip().catch(() => 0n);
    if (wanted > this.#tip) this.#raised = { tip: wanted, untilMs: Date.now() + raisedTipKeptMs };
    await this.readAgain();
  }

  get #tip(): bigint {
    return this.#raised && Date.now() < this.#raised.untilMs ? this.#raised.tip : tipWei;
  }

  /** Gas costs more than a fee payer may offer, as last read. */
  get isTooHigh(): boolean {
    return this.#fees !== undefined && this.#fees.perGas > this.#perGasMax;
  }

  /** Reads prices while they are too high, so that a fall is known soon. Never throws. */
  async readWhileTooHigh(): Promise<void> {
    if (this.isTooHigh) await this.current().catch(() => {});
  }
}

const feesValidMs = 1_000;
const usualFeesValidMs = 30_000;
const raisedTipKeptMs = 600_000;
const tipWei = 1_000_000n;
/** A node's refusal of a transaction for its tip. */
export const tipTooLow = /gas tip cap|gas price below minimum|(?<!replacement )transaction underpriced/i;

/** Nodes want at least 10 % more for a replacement. */
export function leastRaisedFee(fee: bigint): bigint {
  return (fee * 110n) / 100n + 1n;
}

/** Enough for every node, and for what gas costs more by then. */
export function raisedFee(fee: bigint): bigint {
  return (fee * 125n) / 100n + 1n;
}
