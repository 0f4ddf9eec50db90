import { parseTransaction } from "viem/utils";
import type { Log } from "../../../shared/log.ts";
import { gasTokenOf } from "../../../shared/networks.ts";
import { type Database, inTransaction } from "../../../shared/postgres.ts";
import { KeyAwayError, type SigningKey } from "../../signing/signing-key.ts";
import { FeePayerFunds, type FundsReading } from "../fee-payers.ts";
import { type BroadcastLog, type Claim, type FeePayerBalance, NetworkAwayError } from "../scheme.ts";
import type { SignerLeases } from "../signer-leases.ts";
import type { EvmChain, GasFees } from "./chain.ts";
import type { EvmConfig } from "./config.ts";
import { type GasPrices, tipTooLow } from "./gas-prices.ts";
import type { Hex } from "./hex.ts";
import { maintainNonces } from "./maintain-nonces.ts";
import { NonceGaps } from "./nonce-gaps.ts";
import { Nonces } from "./nonces.ts";
import { authorizationOf, type EvmPayment } from "./payload.ts";
import { isOfContract, RpcError } from "./rpc.ts";
import { type RightToSend, signBatch } from "./sign-batch.ts";
import { EvmSigner } from "./signer.ts";

/** One address that pays gas, and its queue. Waiting payments are signed and stored together (sign-batch.ts), and sent after that. */
export class EvmFeePayer {
  readonly #signer: EvmSigner;
  readonly #config: EvmConfig;
  readonly #needs: Needs;
  readonly #nonces: Nonces;
  readonly #gaps: NonceGaps;
  readonly funds: FeePayerFunds;
  #queue: Job[] = [];
  #signing = 0;
  #draining = false;

  constructor({ address, key }: { readonly address: Hex; readonly key: SigningKey }, config: EvmConfig, needs: Needs) {
    this.#signer = new EvmSigner(address, key);
    this.#config = config;
    this.#needs = needs;
    this.#nonces = new Nonces(needs.db, config.network, this.address);
    this.#gaps = new NonceGaps(this.#signer, config, needs);
    const unit = gasTokenOf(config.network) ?? "native";
    this.funds = new FeePayerFunds(this.address, { ...config, unit, decimals: 18 }, needs);
  }

  get address(): Hex {
    return this.#signer.address;
  }

  /** Payments waiting for a nonce or a signature. */
  get waiting(): number {
    return this.#queue.length + this.#signing;
  }

  get balance(): FeePayerBalance {
    return { ...this.funds.balance, signs: this.signs, leased: this.isLeased };
  }

  get signs(): boolean {
    return this.#signer.isThere;
  }

  /** Whether its key is in this process. */
  get isHere(): boolean {
    return this.#signer.isHere;
  }

  get isLeased(): boolean {
    return this.#needs.leases.holds(this.address);
  }

  /** Throws ConfigError when the key is another address'; one that is away is asked for later. */
  async checkKey(): Promise<void> {
    await this.#signer.check().catch((error) => {
      if (!(error instanceof KeyAwayError)) throw error;
    });
  }

  /** Asks a key that was away again, and compares it with the address. Never throws. */
  async lookForKey(): Promise<void> {
    await this.#signer.lookAgain();
    await this.checkKey().catch((err) =>
      this.#needs.log.error({ err }, "a fee payer sends nothing: its key is another's"),
    );
  }

  /** Raises stuck fees and closes gaps; a node that does not answer is asked again at the next call. */
  async maintainNonces(): Promise<void> {
    const { log } = this.#needs;
    await maintainNonces(this.#signer, this.#config, { ...this.#needs, gaps: this.#gaps }).catch((error) => {
      log.warn({ err: error, address: this.address }, "nonces could not be maintained");
    });
  }

  async readBalance(): Promise<FundsReading> {
    const { newest, ...reading } = await this.#needs.chain.balance(this.address);
    this.#needs.gasPrices.note(newest);
    return reading;
  }

  /** Agrees on the next nonce with the chain (nonces.ts). */
  async synchronizeNonce(): Promise<void> {
    await this.#nonces.synchronize(this.#needs.chain);
  }

  /** Signs and sends one call for a payment, and claims it if it is not claimed yet. Resolves when the node has taken it, or may have. */
  send(right: RightToSend, payment: Pick<EvmPayment, "key" | "asset">, data: Hex): Promise<Sending> {
    return new Promise((resolve, reject) => {
      const signBy = Date.now() + signingMsMax;
      this.#queue.push({ right, key: payment.key, to: payment.asset as Hex, data, signBy, resolve, reject });
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
        this.#signing = jobs.length;
        await this.#signAndSend(jobs).catch((error) => {
          for (const job of jobs) job.reject(error);
        });
        this.#signing = 0;
      }
    } finally {
      this.#draining = false;
    }
  }

  async #signAndSend(jobs: readonly Job[]): Promise<void> {
    const fees = await this.#needs.gasPrices.current().catch((error) => {
      if (error instanceof NetworkAwayError) return undefined;
      throw error;
    });
    if (!fees) {
      for (const job of jobs) job.resolve({ refused: "the node cannot be asked for the price of gas" });
      return;
    }
    if (this.#needs.gasPrices.isTooHigh) {
      for (const job of jobs) job.resolve({ tooDear: true });
      return;
    }
    const needs = { ...this.#needs, config: this.#config, signer: this.#signer, nonces: this.#nonces };
    const { signed, lost, unclaimed, left, isKeyAway } = await signBatch(needs, jobs, fees);
    for (const job of lost) job.resolve({ lost: true });
    for (const job of unclaimed) job.resolve({ unclaimed: true });
    for (const { call: job, raw, hash, nonce } of signed) {
      this.#deliver(job, raw, hash, nonce).then((sending) => sending && job.resolve(sending), job.reject);
    }
    const isOver = (job: Job) => isKeyAway || Date.now() > job.signBy;
    for (const job of left) if (isOver(job)) job.resolve({ unsigned: true });
    this.#queue.unshift(...left.filter((job) => !isOver(job)));
  }

  /**
   * Only a refusal that a node's pool is known to give proves that a transaction was not sent. A node that runs it first tells what a
   * contract reverted with, in the contract's own words.
   */
  async #deliver(job: Job, raw: Buffer, hash: Hex, nonce: bigint): Promise<Sending | undefined> {
    try {
      await this.#needs.chain.send(raw);
      return { transaction: hash };
    } catch (error) {
      if (!(error instanceof RpcError) || isOfContract(error) || !poolRefusal.test(error.message))
        return { transaction: hash };
      this.#needs.log.warn(
        { err: error, address: this.address, nonce: Number(nonce) },
        "the node refused a transaction",
      );
      if (lacksGasMoney.test(error.message)) return this.#empty(job, raw, hash, nonce);
      if (belowBaseFee.test(error.message)) return this.#outpriced(job, hash, nonce);
      if (tipTooLow.test(error.message)) return this.#undertipped(job, hash, nonce, error.message);
      if (!nonceTaken.test(error.message))
        return (await this.#takeBackUnsent(job, hash, nonce)) ? { refused: error.message } : { transaction: hash };
      // Perhaps by this very transaction, which may have reached a node on another way: then the chain tells its end.
      const isVoid = await this.#isVoid(job, hash, nonce).catch(() => false);
      const makesWay = isVoid || underpriced.test(error.message);
      if (makesWay && (await this.#signAnew(job, hash, isVoid))) return undefined;
      return isVoid && !job.again ? { refused: error.message } : { transaction: hash };
    }
  }

  /** The operator's to mend: known from now on, not only when the balance is read next, and nothing stays signed. */
  async #empty(job: Job, raw: Buffer, hash: Hex, nonce: bigint): Promise<Sending> {
    const { gas = 0n } = parseTransaction(`0x${raw.toString("hex")}`);
    this.funds.noteRefused(async () => gas * (await this.#needs.gasPrices.current()).perGas);
    return (await this.#takeBackUnsent(job, hash, nonce)) ? { empty: true } : { transaction: hash };
  }

  /** Gas became dearer than what was offered for it, which is not the payer's fault. */
  async #outpriced(job: Job, hash: Hex, nonce: bigint): Promise<Sending | undefined> {
    await this.#needs.gasPrices.readAgain();
    return this.#signAtNewPrice(job, hash, nonce);
  }

  /** The node wants more for its trouble than was offered. */
  async #undertipped(job: Job, hash: Hex, nonce: bigint, refusal: string): Promise<Sending | undefined> {
    await this.#needs.gasPrices.raiseTip(refusal);
    return this.#signAtNewPrice(job, hash, nonce);
  }

  /** Once, with what is known now; where that is not enough or too much, nothing stays signed. */
  async #signAtNewPrice(job: Job, hash: Hex, nonce: bigint): Promise<Sending | undefined> {
    if (!(await this.#takeBackUnsent(job, hash, nonce))) return { transaction: hash };
    if (job.atNewPrice) return { tooDear: true };
    this.#queue.push({ ...job, atNewPrice: true });
    void this.#drain();
    return undefined;
  }

  /** The payment and its nonce are as if nothing had been signed; false where another daemon may have sent it meanwhile. */
  #takeBackUnsent(job: Job, hash: Hex, nonce: bigint): Promise<boolean> {
    return inTransaction(this.#needs.db, async (tx) => {
      await this.#nonces.giveBack(nonce, tx);
      if (await this.#needs.store.takeBackUnsent(claimOf(job), hash, tx)) return true;
      throw new ClaimGoneError();
    }).catch((error) => {
      if (error instanceof ClaimGoneError) return false;
      throw error;
    });
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

  /**
   * Signs the job with another nonce, once. The first transaction may have reached another node: where the second comes to
   * nothing, the payment's end is unknown. What is in the way of one that is not void may be our own, at a raised fee.
   */
  async #signAnew(job: Job, hash: Hex, isVoid: boolean): Promise<boolean> {
    await this.synchronizeNonce();
    const takenBack = () => this.#needs.store.takeBack(claimOf(job), hash, { unlessRaised: !isVoid });
    if (job.again || !(await takenBack())) return false;
    const resolve = (sending: Sending) => {
      if ("transaction" in sending || "lost" in sending) job.resolve(sending);
      else job.reject(new Error("a transaction that a node refused could not be replaced", { cause: sending }));
    };
    this.#queue.push({ ...job, again: true, resolve });
    void this.#drain();
    return true;
  }

  usualFees(): Promise<GasFees> {
    return this.#needs.gasPrices.usual();
  }
}

/**
 * What became of handing a transaction to the node. `lost`: the claim was gone, nothing was signed. `unclaimed`: there was none, and none
 * was made. `unsigned`: the key cannot be asked, and took no nonce. `empty`: this fee payer has no money for gas, and the claim stands as
 * if nothing had been signed. `tooDear`: the same, because gas costs more than is offered for it.
 */
export type Sending =
  | { readonly transaction: Hex }
  | { readonly refused: string }
  | { readonly lost: true }
  | { readonly unclaimed: true }
  | { readonly unsigned: true }
  | { readonly empty: true }
  | { readonly tooDear: true };

interface Needs {
  readonly chain: EvmChain;
  readonly db: Database;
  readonly store: BroadcastLog;
  readonly log: Log;
  readonly leases: Pick<SignerLeases, "holds">;
  readonly gasPrices: GasPrices;
}

/** Another daemon looks after the payment: then its nonce stays with it. */
class ClaimGoneError extends Error {}

interface Job {
  /** The job was signed before, with a nonce that turned out to be used. */
  readonly again?: true;
  /** The node refused it for its price, so that nothing of it was sent. */
  readonly atNewPrice?: true;
  readonly right: RightToSend;
  /** The payment's. */
  readonly key: string;
  readonly to: Hex;
  readonly data: Hex;
  /** When a key that is far away has had its chance: the claim lasts for longer. */
  readonly signBy: number;
  readonly resolve: (sending: Sending) => void;
  readonly reject: (error: Error) => void;
}

/** Only for jobs whose signed bytes are stored: these have a claim. */
const claimOf = ({ right }: Job) => right.claim as Claim;
const jobsPerTransactionMax = 32;
const signingMsMax = 8_000;
const poolRefusal =
  /insufficient ?funds|upfront cost exceeds|underpriced|nonce (is )?too low|gas too low|exceeds block gas limit|fee cap|max fee per gas less|tx fee|gas price below minimum/i;
const belowBaseFee = /max fee per gas less|fee cap less/i;
const lacksGasMoney = /insufficient ?funds|upfront cost exceeds/i;
const nonceTaken = /nonce (is )?too low|replacement transaction underpriced/i;
/** Another transaction waits with our nonce. The authorization is spent once, whichever of ours is mined. */
const underpriced = /replacement transaction underpriced/i;
