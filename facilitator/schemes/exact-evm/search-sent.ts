import { getAddress } from "viem/utils";
import type { SearchLog, SearchMark, SentSettlement } from "../scheme.ts";
import type { EvmChain, SentTransaction } from "./chain.ts";
import type { EvmConfig } from "./config.ts";
import { readTransferCall } from "./eip3009.ts";
import { expiryOf, paymentKeyOf } from "./payload.ts";
import { RpcUnreachableError } from "./rpc.ts";
import { paysAsAgreed } from "./transfers.ts";

/**
 * What our fee payers settled and the database does not know any more. Where as many settlements are on record as a fee payer used
 * nonces, nothing is missing; else the blocks are read, and each of its transactions that is not on record is held against
 * the token's own events. What is searched was final some time ago, so that any node behind the address has it.
 */
export class SentSearch {
  readonly #needs: Needs;
  /** The newest block when it was last looked. */
  #seen: bigint | undefined;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  async search(log: SearchLog, feePayers: readonly string[]): Promise<void> {
    const { chain, config } = this.#needs;
    const { number: newest } = await chain.latestBlock();
    const isFirstLook = this.#seen === undefined;
    const until = min(this.#seen ?? newest, newest - BigInt(Math.max(0, config.confirmations - 1)));
    this.#seen = newest;
    if (until < 0n || feePayers.length === 0) return;
    const [marks, ends] = await Promise.all([log.marks(config.network, feePayers), this.#marksAt(until, feePayers)]);
    const fresh = ends.filter(({ feePayer }) => marks.every((mark) => mark.feePayer !== feePayer));
    if (fresh.length > 0) await log.begin(config.network, fresh);
    if (isFirstLook) return;
    const ranges = marks.flatMap((from) => {
      const to = ends.find(({ feePayer }) => feePayer === from.feePayer);
      return to && isWorthIt(from, to) ? [{ from, to }] : [];
    });
    if (ranges.length === 0) return;
    const complete = await log.moveOn(config.network, ranges);
    const blocks = new Blocks(chain, feePayers);
    for (const { from, to } of ranges) {
      if (!complete.has(from.feePayer)) await this.#readBlocks(log, blocks, from, to);
    }
  }

  #marksAt(until: bigint, feePayers: readonly string[]): Promise<readonly SearchMark[]> {
    const { chain } = this.#needs;
    return Promise.all(
      feePayers.map(async (feePayer) => {
        return { feePayer, until, nextNonce: await chain.transactionCount(feePayer, until) };
      }),
    );
  }

  async #readBlocks(log: SearchLog, blocks: Blocks, from: SearchMark, to: SearchMark): Promise<void> {
    const { network } = this.#needs.config;
    const sent: SentTransaction[] = [];
    let last = from.until;
    while (last < to.until) {
      const inBlock = await blocks.read(last + 1n);
      if (!inBlock) break;
      last += 1n;
      sent.push(...inBlock.filter((one) => one.from === from.feePayer.toLowerCase()));
    }
    if (last === from.until) return;
    const hashes = sent.map(({ hash }) => hash);
    const known = await log.onRecord(network, hashes);
    const unknown = sent.filter(({ hash }) => !known.has(hash));
    const settlements = (await Promise.all(unknown.map((one) => this.#settlementIn(one, from)))).filter(
      (settlement) => settlement !== undefined,
    );
    const used = sent.at(-1);
    const nextNonce = last === to.until ? to.nextNonce : used ? used.nonce + 1n : from.nextNonce;
    await log.conclude(network, { from, to: { ...from, until: last, nextNonce } }, { settlements, known: [...known] });
  }

  /** Undefined for a transaction that is no settlement, or moved nothing. */
  async #settlementIn(sent: SentTransaction, { feePayer }: SearchMark): Promise<SentSettlement | undefined> {
    const { chain, config } = this.#needs;
    const asset = config.assets.find((one) => one.toLowerCase() === sent.to);
    const authorization = readTransferCall(sent.input);
    if (!asset || !authorization || authorization.value === 0n) return undefined;
    const receipt = await chain.receipt(sent.hash);
    if (!receipt) throw new RpcUnreachableError(`the node has no receipt of ${sent.hash}`);
    const key = paymentKeyOf(asset, authorization);
    const payTo = getAddress(authorization.to);
    if (!paysAsAgreed(receipt, { key, payTo, amount: authorization.value })) return undefined;
    return {
      key,
      payer: getAddress(authorization.from),
      payTo,
      asset: getAddress(asset),
      amount: authorization.value,
      expiresAt: expiryOf(authorization.validBefore),
      feePayer,
      nonce: sent.nonce,
      transaction: sent.hash,
      landedAt: sent.minedAt,
    };
  }
}

/** Read once for all fee payers, and no more than so many in one search. */
class Blocks {
  readonly #chain: EvmChain;
  readonly #senders: ReadonlySet<string>;
  readonly #read = new Map<bigint, readonly SentTransaction[]>();

  constructor(chain: EvmChain, feePayers: readonly string[]) {
    this.#chain = chain;
    this.#senders = new Set(feePayers.map((address) => address.toLowerCase()));
  }

  /** Undefined when enough was read. */
  async read(number: bigint): Promise<readonly SentTransaction[] | undefined> {
    const known = this.#read.get(number);
    if (known || this.#read.size >= blocksMax) return known;
    const sent = await this.#chain.sentIn(number, this.#senders);
    this.#read.set(number, sent);
    return sent;
  }
}

/** Where nothing was sent, the mark is moved now and then. */
function isWorthIt(from: SearchMark, to: SearchMark): boolean {
  return to.until > from.until && (to.nextNonce !== from.nextNonce || to.until - from.until >= idleBlocks);
}

const min = (one: bigint, other: bigint) => (one < other ? one : other);
const blocksMax = 100;
const idleBlocks = 50n;

interface Needs {
  readonly chain: EvmChain;
  readonly config: Pick<EvmConfig, "network" | "assets" | "confirmations">;
}
