import { parseTransaction } from "viem/utils";
import type { Log } from "../../shared/log.ts";
import { type Database, inTransaction, type Queryable, type Transaction } from "../../shared/postgres.ts";
import type { EvmConfig } from "../config.ts";
import { spentToday } from "../limits/fee-budget.ts";
import type { EvmChain, GasFees } from "../schemes/exact-evm/chain.ts";
import type { Hex } from "../schemes/exact-evm/hex.ts";
import { authorizationOf, type EvmPayment } from "../schemes/exact-evm/payload.ts";
import { RpcError } from "../schemes/exact-evm/rpc.ts";
import { type Claim, type FeePayerBalance, NetworkAway } from "../schemes/scheme.ts";
import type { SettlementStore } from "../settlements/store.ts";
import { EvmSigner } from "./evm-signer.ts";
import { keepMoving } from "./evm-upkeep.ts";

/**
 * One address that pays gas, and its queue. What waits is signed in one database transaction that allocates the
 * nonces, stores the signed bytes and only then commits; sending comes after. So nonces have no gaps, a crash loses
 * nothing, and any number of daemons can share the address.
 */
export class EvmFeePayer {
  readonly #signer: EvmSigner;
  readonly #config: EvmConfig;
  readonly #needs: { chain: EvmChain; db: Database; store: SettlementStore; log: Log };
  #queue: Job[] = [];
  #draining = false;
  #balance: bigint | undefined;
  #spentToday = 0n;
  /** What a transaction would have cost that the node refused for want of money; 0 while it refuses none. */
  #lacks = 0n;
  #readAt = 0;
  #fees: { readonly at: number; readonly perGas: bigint; readonly tip: bigint } | undefined;

  constructor(
    privateKey: string,
    config: EvmConfig,
    needs: { chain: EvmChain; db: Database; store: SettlementStore; log: Log },
  ) {
    this.#signer = new EvmSigner(privateKey);
    this.#config = config;
    this.#needs = needs;
  }

  get address(): Hex {
    return this.#signer.address;
  }

  /** Payments waiting for a nonce. */
  get waiting(): number {
    return this.#queue.length;
  }

  get balance(): FeePayerBalance {
    const { balanceLow, balanceEmpty, dailyBudget } = this.#config;
    const balance = this.#balance;
    const overBudget = dailyBudget > 0n && this.#spentToday >= dailyBudget;
    return {
      feePayer: this.address,
      balance,
      unit: "ETH",
      decimals: 18,
      low: balance !== undefined && balance < balanceLow,
      empty: this.#lacks > 0n || (balance !== undefined && (balance < balanceEmpty || overBudget)),
    };
  }

  /** Raises stuck fees and closes gaps; a node that does not answer is asked again in the next round. */
  async upkeep(): Promise<void> {
    const { log } = this.#needs;
    await keepMoving(this.#signer, this.#config, this.#needs).catch((error) => {
      log.warn({ err: error, address: this.address }, "transactions could not be looked after");
    });
  }

  /** Reads the balance if that is due: sooner while it is not known, or says that nothing can be paid. */
  async readBalance(): Promise<void> {
    const { balance, empty } = this.balance;
    const askedAt = Date.now();
    if (askedAt - this.#readAt < (balance === undefined || empty ? readSoonMs : readEveryMs)) return;
    this.#readAt = askedAt;
    this.#balance = await this.#needs.chain.balance(this.address).catch(() => undefined);
    if (this.#readAt === askedAt && (this.#balance ?? 0n) >= this.#lacks) this.#lacks = 0n;
    if (this.#balance === undefined || this.#config.dailyBudget === 0n) return;
    const { network } = this.#config;
    const spent = spentToday(this.#needs.db, network, this.address, this.#balance);
    await spent.then(
      (today) => {
        this.#spentToday = today;
      },
      (err) => this.#needs.log.warn({ err, network }, "what a fee payer has spent today could not be added up"),
    );
  }

  /**
   * Agrees on the next nonce with the chain. What the chain should know and does not (a node that lost its pool, a
   * reorganisation) is sent again from the stored bytes; the next nonce goes back down to the chain's count only when
   * no payment of this address is under way, as on a development chain that began anew.
   */
  async synchronizeNonce(): Promise<void> {
    const { chain, db } = this.#needs;
    await this.#sendMissing();
    const pending = await chain.transactionCount(this.address, "pending");
    await db.query(
      `insert into signer_nonces as known (network, address, next_nonce) values ($1, $2, $3)
       on conflict (network, address) do update
         set vacant = array(select n from unnest(known.vacant) n where n >= excluded.next_nonce),
             next_nonce = case
               when exists (select from payments where network = $1 and fee_payer = $2 and state in ('broadcast', 'unknown'))
               then greatest(known.next_nonce, excluded.next_nonce) else excluded.next_nonce end`,
      [this.#config.network, this.address, pending],
    );
  }

  async #sendMissing(): Promise<void> {
    const { chain, db } = this.#needs;
    const pending = await chain.transactionCount(this.address, "pending");
    const { rows } = await db.query(
      `select raw_transactions from payments
        where network = $1 and fee_payer = $2 and nonce >= $3 and state <> 'failed' order by nonce limit 1000`,
      [this.#config.network, this.address, pending],
    );
    for (const { raw_transactions: raw } of rows) {
      await chain.send(raw[0]).catch((error) => {
        if (!(error instanceof RpcError)) throw error;
      });
    }
  }

  /** Signs and sends one call for a claimed payment. Resolves when the node has taken it, or may have. */
  send(claim: Claim, payment: Pick<EvmPayment, "key" | "asset">, data: Hex): Promise<Sending> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ claim, key: payment.key, to: payment.asset as Hex, data, resolve, reject });
      void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    if (this.#draining) return;
    this.#draining = true;
    try {
      while (this.#queue.length > 0) {
        // A turn of the event loop lets payments that are ready at the same moment share one transaction.
        await new Promise((resolve) => setImmediate(resolve));
        const jobs = this.#queue.splice(0, jobsPerTransactionMax);
        await this.#signAndSend(jobs).catch((error) => {
          for (const job of jobs) job.reject(error);
        });
      }
    } finally {
      this.#draining = false;
    }
  }

  async #signAndSend(jobs: readonly Job[]): Promise<void> {
    const fees = await this.#currentFees().catch((error) => {
      if (error instanceof NetworkAway) return undefined;
      throw error;
    });
    if (!fees) {
      for (const job of jobs) job.resolve({ refused: "the node cannot be asked for the price of gas" });
      return;
    }
    if (fees.perGas > this.#config.feePerGasMaxWei) {
      const refused = `gas costs ${fees.perGas} wei now, more than the daemon's limit`;
      for (const job of jobs) job.resolve({ refused });
      return;
    }
    const signed = await inTransaction(this.#needs.db, (tx) => this.#sign(tx, jobs, fees));
    for (const { job, raw, hash, nonce } of signed) {
      if (raw === undefined) job.resolve({ lost: true });
      else this.#deliver(job, raw, hash, nonce).then((sending) => sending && job.resolve(sending), job.reject);
    }
  }

  async #sign(
    tx: Transaction,
    jobs: readonly Job[],
    fees: { perGas: bigint; tip: bigint },
  ): Promise<readonly Signed[]> {
    const { network, chainId, gasLimit } = this.#config;
    const { rows } = await tx.query({
      name: "lock-signer",
      text: "select next_nonce, vacant from signer_nonces where network = $1 and address = $2 for update",
      values: [network, this.address],
    });
    let { next_nonce: next, vacant } = rows[0] as { next_nonce: bigint; vacant: bigint[] };
    const free = vacant.map(BigInt).toSorted((a, b) => (a < b ? -1 : 1));
    const claimed = await this.#stillClaimed(tx, jobs);
    const signed = jobs.map((job): Signed => {
      if (!claimed.has(job.claim.id)) return { job, raw: undefined, hash: "0x", nonce: -1n };
      const nonce = free.shift() ?? next++;
      const fields = {
        type: "eip1559" as const,
        chainId,
        nonce: Number(nonce),
        to: job.to,
        data: job.data,
        gas: gasLimit,
      };
      return {
        job,
        nonce,
        ...this.#signer.sign({ ...fields, maxFeePerGas: fees.perGas, maxPriorityFeePerGas: fees.tip }),
      };
    });
    const sent = signed.filter((one): one is Signed & { raw: Buffer } => one.raw !== undefined);
    await this.#needs.store.recordBroadcasts(
      tx,
      sent.map(({ job, raw, hash, nonce }) => ({
        claim: job.claim,
        transaction: hash,
        raw,
        feePayer: this.address,
        nonce,
      })),
    );
    await tx.query({
      name: "advance-signer",
      text: "update signer_nonces set next_nonce = $3, vacant = $4 where network = $1 and address = $2",
      values: [network, this.address, next, free],
    });
    return signed;
  }

  async #stillClaimed(tx: Transaction, jobs: readonly Job[]): Promise<Set<bigint>> {
    const { rows } = await tx.query({
      name: "lock-claims",
      text: `select p.id from payments p join unnest($1::bigint[], $2::uuid[]) as mine (id, token)
                 on p.id = mine.id and p.claim_token = mine.token
              where p.state = 'claimed' order by p.id for update of p`,
      values: [jobs.map(({ claim }) => claim.id), jobs.map(({ claim }) => claim.token)],
    });
    return new Set(rows.map(({ id }) => id));
  }

  /** Only a refusal that a node's pool is known to give proves that a transaction was not sent. */
  async #deliver(job: Job, raw: Buffer, hash: Hex, nonce: bigint): Promise<Sending | undefined> {
    try {
      await this.#needs.chain.send(raw);
      return { transaction: hash };
    } catch (error) {
      if (!(error instanceof RpcError) || !poolRefusal.test(error.message)) return { transaction: hash };
      this.#needs.log.warn(
        { err: error, address: this.address, nonce: Number(nonce) },
        "the node refused a transaction",
      );
      if (lacksGasMoney.test(error.message)) return this.#empty(job, raw, hash, nonce);
      if (!nonceTaken.test(error.message)) {
        await this.#giveBack(nonce);
        return { refused: error.message };
      }
      // Perhaps by this very transaction, which may have reached a node on another way: then the chain tells its end.
      const isVoid = await this.#isVoid(job, hash, nonce).catch(() => false);
      const makesWay = isVoid || underpriced.test(error.message);
      if (makesWay && (await this.#signAnew(job, hash))) return undefined;
      return isVoid && !job.again ? { refused: error.message } : { transaction: hash };
    }
  }

  /** Nobody's fault but ours: known from now on, not only when the balance is read next, and nothing stays signed. */
  async #empty(job: Job, raw: Buffer, hash: Hex, nonce: bigint): Promise<Sending> {
    const { gas = 0n, maxFeePerGas = 0n } = parseTransaction(`0x${raw.toString("hex")}`);
    this.#lacks = gas * maxFeePerGas;
    this.#readAt = Date.now();
    const isTakenBack = await inTransaction(this.#needs.db, async (tx) => {
      await this.#giveBack(nonce, tx);
      if (await this.#needs.store.takeBack(job.claim, hash, tx)) return true;
      throw new ClaimGone();
    }).catch((error) => {
      if (error instanceof ClaimGone) return false;
      throw error;
    });
    return isTakenBack ? { empty: true } : { transaction: hash };
  }

  /** At one block, the account's nonce was used and the payment not made: what was signed with that nonce never lands. */
  async #isVoid({ key }: Job, hash: Hex, nonce: bigint): Promise<boolean> {
    const { chain } = this.#needs;
    const { number } = await chain.latestBlock();
    const { asset, payer, nonce: authorization } = authorizationOf(key);
    const [mined, isSpent, receipt] = await Promise.all([
      chain.transactionCount(this.address, number),
      chain.isNonceUsed(asset, payer, authorization, number),
      chain.receipt(hash),
    ]);
    return mined > nonce && !isSpent && !receipt;
  }

  /** Signs the job with another nonce, once. */
  async #signAnew(job: Job, hash: Hex): Promise<boolean> {
    await this.synchronizeNonce();
    if (job.again || !(await this.#needs.store.takeBack(job.claim, hash))) return false;
    this.#queue.push({ ...job, again: true });
    void this.#drain();
    return true;
  }

  async #giveBack(nonce: bigint, db: Queryable = this.#needs.db): Promise<void> {
    await db.query(
      `update signer_nonces
          set next_nonce = case when next_nonce = $3 + 1 then $3 else next_nonce end,
              vacant = case when next_nonce = $3 + 1 then vacant else array_append(vacant, $3) end
        where network = $1 and address = $2`,
      [this.#config.network, this.address, nonce],
    );
  }

  /** What the next transaction would about offer: of half a minute ago at most, so that hardly a check waits for it. */
  async usualFees(): Promise<GasFees> {
    return this.#fees && Date.now() - this.#fees.at < usualFeesValidMs ? this.#fees : this.#currentFees();
  }

  /** One look at the base fee serves the payments of about one block; twice the base fee outlasts six full blocks. */
  async #currentFees(): Promise<GasFees> {
    if (!this.#fees || Date.now() - this.#fees.at > feesValidMs) {
      const { baseFeePerGas } = await this.#needs.chain.latestBlock();
      this.#fees = { at: Date.now(), perGas: 2n * baseFeePerGas + tipWei, tip: tipWei };
    }
    return this.#fees;
  }
}

/**
 * What became of handing a transaction to the node. `lost`: the claim was gone, nothing was signed. `empty`: this fee payer
 * has no money for gas, and the claim stands as if nothing had been signed.
 */
export type Sending =
  | { readonly transaction: Hex }
  | { readonly refused: string }
  | { readonly lost: true }
  | { readonly empty: true };

/** Somebody else looks after the payment: then its nonce stays with it. */
class ClaimGone extends Error {}

interface Job {
  /** It was signed before, with a nonce that turned out to be used. */
  readonly again?: true;
  readonly claim: Claim;
  /** The payment's. */
  readonly key: string;
  readonly to: Hex;
  readonly data: Hex;
  readonly resolve: (sending: Sending) => void;
  readonly reject: (error: Error) => void;
}

interface Signed {
  readonly job: Job;
  readonly raw: Buffer | undefined;
  readonly hash: Hex;
  readonly nonce: bigint;
}

const readEveryMs = 29_000;
const readSoonMs = 4_000;
const jobsPerTransactionMax = 32;
const feesValidMs = 1_000;
const usualFeesValidMs = 30_000;
const tipWei = 1_000_000n;
const poolRefusal =
  /insufficient ?funds|upfront cost exceeds|underpriced|nonce (is )?too low|gas too low|exceeds block gas limit|fee cap|max fee per gas less|tx fee/i;
const lacksGasMoney = /insufficient ?funds|upfront cost exceeds/i;
const nonceTaken = /nonce (is )?too low|replacement transaction underpriced/i;
/** Another transaction waits with our nonce. The authorization is spent once, whichever of ours is mined. */
const underpriced = /replacement transaction underpriced/i;
