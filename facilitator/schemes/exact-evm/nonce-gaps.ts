import { parseTransaction } from "viem/utils";
import type { Log } from "../../../shared/log.ts";
import type { Database } from "../../../shared/postgres.ts";
import type { EvmChain } from "./chain.ts";
import type { EvmConfig } from "./config.ts";
import { type GasPrices, raisedFee, tipTooLow } from "./gas-prices.ts";
import { RpcError } from "./rpc.ts";
import type { EvmSigner, SignedTransaction } from "./signer.ts";

/**
 * The nonces of one address that no payment will use any more while later ones are given out: a chain mines in order, so
 * each of them would hold up every payment after it for good. A transfer of nothing to the address itself uses them.
 */
export class NonceGaps {
  readonly #signer: EvmSigner;
  readonly #config: EvmConfig;
  readonly #needs: Needs;
  readonly #sent = new Map<bigint, Filling>();

  constructor(signer: EvmSigner, config: EvmConfig, needs: Needs) {
    this.#signer = signer;
    this.#config = config;
    this.#needs = needs;
  }

  /** `mined` is how many transactions the chain counts for the address. Throws RpcUnreachableError. */
  async fill(mined: bigint): Promise<void> {
    for (const nonce of this.#sent.keys()) if (nonce < mined) this.#sent.delete(nonce);
    for (const gap of await this.#find(mined)) await this.#fillOne(gap);
  }

  async #find(mined: bigint): Promise<readonly Gap[]> {
    const { db, chain } = this.#needs;
    const { rows } = await db.query(
      `select n as nonce, n = any (s.vacant) as is_vacant, s.next_nonce, failed.raw_transactions as raw
         from signer_nonces s
        cross join generate_series($3::bigint, least(s.next_nonce, $3 + $4) - 1) as n
         left join lateral (select raw_transactions from payments
                             where network = $1 and fee_payer = $2 and nonce = n and state = 'failed'
                             order by id desc limit 1) as failed on true
        where s.network = $1 and s.address = $2
          and not exists (select from payments
                           where network = $1 and fee_payer = $2 and nonce = n and state <> 'failed')
        order by n`,
      [this.#config.network, this.#signer.address, mined, lookedAtMax],
    );
    const gaps: Gap[] = [];
    for (const { nonce, next_nonce: next, is_vacant: isVacant, raw } of rows as UnusedRow[]) {
      const gap = { nonce, raw: raw?.at(-1) };
      if (isVacant) {
        // The next payment takes this nonce, unless others wait for it already.
        if (nonce === mined && next > nonce + 1n) gaps.push({ ...gap, reason: "given back" });
      } else if (raw) {
        gaps.push({ ...gap, reason: "of a failed payment" });
      } else if (nonce === mined) {
        // Perhaps the key was used by something else, whose transaction is on its way.
        const pending = await chain.transactionCount(this.#signer.address, "pending");
        if (pending === mined) gaps.push({ ...gap, reason: "of no payment" });
      }
    }
    return gaps;
  }

  /** Out of what payments are given; false where one has it meanwhile. From now on it is a nonce of no payment. */
  async #take(nonce: bigint): Promise<boolean> {
    const { rowCount } = await this.#needs.db.query(
      `update signer_nonces set vacant = array_remove(vacant, $3::bigint)
        where network = $1 and address = $2 and $3::bigint = any (vacant)`,
      [this.#config.network, this.#signer.address, nonce],
    );
    return rowCount === 1;
  }

  async #fillOne({ nonce, reason, raw }: Gap): Promise<void> {
    const { network, bumpAfterMs } = this.#config;
    const last = this.#sent.get(nonce);
    const isDue = last === undefined || Date.now() - last.firstSentAt >= bumpAfterMs;
    if (reason === "given back" && !(await this.#take(nonce))) return;
    const filling = isDue ? await this.#sign(nonce, last?.raw ?? raw) : last;
    try {
      await this.#needs.chain.send(filling.raw);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      if (isDue && waitsInPool.test(error.message)) this.#sent.set(nonce, filling);
      if (tipTooLow.test(error.message)) await this.#needs.gasPrices.raiseTip(error.message);
      return;
    }
    if (!isDue) return;
    this.#sent.set(nonce, filling);
    const alarm = { network, address: this.#signer.address, nonce: Number(nonce), transaction: filling.hash };
    this.#needs.log.error(alarm, `a nonce ${reason} held up later payments; a transfer of nothing uses it`);
  }

  /** Priced over what was signed with the nonce before, which may still wait in a node's pool. */
  async #sign(nonce: bigint, before: Buffer | undefined): Promise<Filling> {
    const { chainId, feePerGasMaxWei, gasLimit: gas } = this.#config;
    const last = before && parseTransaction(`0x${before.toString("hex")}`);
    const { baseFeePerGas } = await this.#needs.chain.latestBlock();
    const { tip: usual } = this.#needs.gasPrices.note({ baseFeePerGas });
    const tip = max(usual, raisedFee(last?.maxPriorityFeePerGas ?? usual));
    const wanted = max(raisedFee(last?.maxFeePerGas ?? 0n), 2n * baseFeePerGas + tip);
    const maxFeePerGas = min(wanted, feePerGasMaxWei);
    const maxPriorityFeePerGas = min(tip, maxFeePerGas);
    const fields = { chainId, nonce: Number(nonce), to: this.#signer.address, value: 0n, gas };
    const signed = await this.#signer.sign({ type: "eip1559", ...fields, maxFeePerGas, maxPriorityFeePerGas });
    return { ...signed, firstSentAt: Date.now() };
  }
}

/** A nonce that no transaction uses, and what was signed with it last. */
interface Gap {
  readonly nonce: bigint;
  readonly reason: "given back" | "of a failed payment" | "of no payment";
  readonly raw: Buffer | undefined;
}

interface UnusedRow {
  readonly nonce: bigint;
  readonly next_nonce: bigint;
  readonly is_vacant: boolean;
  readonly raw: readonly Buffer[] | null;
}

interface Filling extends SignedTransaction {
  readonly firstSentAt: number;
}

interface Needs {
  readonly chain: EvmChain;
  readonly db: Database;
  readonly log: Log;
  readonly gasPrices: Pick<GasPrices, "note" | "raiseTip">;
}

const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const lookedAtMax = 100;
/** The node holds this transaction, or another one with its nonce that offers as much: a later round offers more. */
const waitsInPool = /underpriced|already known|known transaction|already imported/i;
