import { setTimeout as pause } from "node:timers/promises";
import { getAddress } from "viem/utils";
import { eachOf } from "../fee-payer-rounds.ts";
import type { SearchedRange, SearchLog, SearchMark, SentSettlement } from "../scheme.ts";
import type { EvmChain, SentTransaction } from "./chain.ts";
import type { EvmConfig } from "./config.ts";
import { readTransferCall } from "./eip3009.ts";
import { expiryOf, paymentKeyOf } from "./payload.ts";
import { RpcUnreachableError } from "./rpc.ts";
import { paysAsAgreed } from "./transfers.ts";

/**
 * Finds what our fee payers settled and the database does not know any more. Where as many settlements are on record as a fee payer used
 * nonces, nothing is missing. Else it reads the blocks, a portion at a time until the rest is whole, and holds each transaction that is
 * not on record against the token's own events. It searches only blocks that have been final for some time, so that any node behind the
 * address has them.
 */
export class SentSearch {
  readonly #needs: Needs;
  /** The newest block when it was last looked. */
  #seen: bigint | undefined;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  async search(log: SearchLog, feePayers: readonly string[], stopping: AbortSignal): Promise<void> {
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
    await this.#searchRanges(log, ranges, stopping);
  }

  /** All of them end at the same block. */
  async #searchRanges(log: SearchLog, ranges: readonly SearchedRange[], stopping: AbortSignal): Promise<void> {
    let left = ranges;
    for (let portion = 0; left.length > 0; portion += 1) {
      const whole = await log.moveOn(this.#needs.config.network, left);
      left = left.filter(({ from }) => !whole.has(from.feePayer));
      if (left.length === 0 || portion === portionsMax) return;
      // Payments that need the node get a turn.
      if (portion > 0) await pause(restMs, undefined, { signal: stopping }).catch(() => {});
      if (stopping.aborted) return;
      left = await this.#readPortion(log, left);
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

  /** The next blocks of those that are least far, read once for all of them. Answers what is left of each after that. */
  async #readPortion(log: SearchLog, ranges: readonly SearchedRange[]): Promise<readonly SearchedRange[]> {
    const first = ranges.map(({ from }) => from.until).reduce(min) + 1n;
    const last = ranges.map(({ to }) => to.until).reduce(min, first + BigInt(portionBlocks) - 1n);
    const numbers = Array.from({ length: Number(last - first) + 1 }, (_, at) => first + BigInt(at));
    const senders = new Set(ranges.map(({ from }) => from.feePayer.toLowerCase()));
    const blocks = new Map<bigint, readonly SentTransaction[]>();
    await eachOf(
      numbers,
      async (number) => blocks.set(number, await this.#needs.chain.sentIn(number, senders)),
      atOnce,
    );
    const left: SearchedRange[] = [];
    for (const range of ranges) {
      const { from, to } = range;
      const own = numbers.filter((number) => number > from.until).flatMap((number) => blocks.get(number) ?? []);
      const sent = own.filter((one) => one.from === from.feePayer.toLowerCase());
      const reached = from.until < last ? await this.#conclude(log, range, last, sent) : from;
      if (reached && reached.until < to.until) left.push({ from: reached, to });
    }
    return left;
  }

  /** Records what is missing of all that was sent up to a block, and answers the new mark; undefined when another copy moved it. */
  async #conclude(
    log: SearchLog,
    { from, to }: SearchedRange,
    last: bigint,
    sent: readonly SentTransaction[],
  ): Promise<SearchMark | undefined> {
    const { network } = this.#needs.config;
    const hashes = sent.map(({ hash }) => hash);
    const known = await log.onRecord(network, hashes);
    const unknown = sent.filter(({ hash }) => !known.has(hash));
    const settlements = (await Promise.all(unknown.map((one) => this.#settlementIn(one, from)))).filter(
      (settlement) => settlement !== undefined,
    );
    const used = sent.at(-1);
    const nextNonce = last === to.until ? to.nextNonce : used ? used.nonce + 1n : from.nextNonce;
    const reached = { ...from, until: last, nextNonce };
    const found = { settlements, known: [...known] };
    return (await log.conclude(network, { from, to: reached }, found)) ? reached : undefined;
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

/** Where nothing was sent, the mark is moved now and then. */
function isWorthIt(from: SearchMark, to: SearchMark): boolean {
  return to.until > from.until && (to.nextNonce !== from.nextNonce || to.until - from.until >= idleBlocks);
}

const min = (one: bigint, other: bigint) => (one < other ? one : other);
/** A search reads a thousand blocks at most, in portions with a rest after each. */
const portionsMax = 10;
const portionBlocks = 100;
const atOnce = 4;
const restMs = 1_000;
const idleBlocks = 50n;

interface Needs {
  readonly chain: EvmChain;
  readonly config: Pick<EvmConfig, "network" | "assets" | "confirmations">;
}
