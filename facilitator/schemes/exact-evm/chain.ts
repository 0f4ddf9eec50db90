import {
  authorizationCanceledTopic,
  authorizationStateCall,
  authorizationUsedTopic,
  balanceOfCall,
  erc1271Magic,
  isValidSignatureCall,
  transferCall,
} from "./eip3009.ts";
import { addressWord, type Hex, isEmpty } from "./hex.ts";
import type { EvmPayment } from "./payload.ts";
import { isFailedCall, isOfContract, type JsonRpc, RpcError, RpcUnreachableError } from "./rpc.ts";
import type { Receipt } from "./transfers.ts";

/** Everything the scheme asks an EVM node. Throws RpcUnreachableError when the node does not answer. */
export class EvmChain {
  readonly #rpc: JsonRpc;
  readonly #gasLimit: bigint;
  /** So many blocks the node searches at once, as far as is known. */
  #searched: { readonly blocks: bigint; readonly untilMs: number } = { blocks: searchedBlocks, untilMs: 0 };

  constructor(rpc: JsonRpc, gasLimit: bigint) {
    this.#rpc = rpc;
    this.#gasLimit = gasLimit;
  }

  async chainId(): Promise<number> {
    return Number(await this.#rpc.call("eth_chainId", []));
  }

  async hasCode(address: string): Promise<boolean> {
    return !isEmpty(await this.#rpc.call("eth_getCode", [address, "latest"]));
  }

  /**
   * Runs the transfer as `sender` would, at the price and within the gas limit it would have, for a contract sees both;
   * undefined when it goes through. Throws RpcError when the node could not run it.
   */
  async simulate(
    { address, fees }: { readonly address: Hex; readonly fees: GasFees },
    payment: EvmPayment,
    signer: "key" | "contract",
  ): Promise<RpcError | undefined> {
    const data = transferCall(payment.authorization, payment.signature, signer);
    const call = { from: address, to: payment.asset, data, gas: quantity(this.#gasLimit) };
    const prices = { maxFeePerGas: quantity(fees.perGas), maxPriorityFeePerGas: quantity(fees.tip) };
    const priced = await this.#refusalOf({ ...call, ...prices });
    const refusal = priced && isAboutSender(priced) ? await this.#refusalOf(call) : priced;
    if (refusal && !isFailedCall(refusal)) throw refusal;
    return refusal;
  }

  /** ERC-1271: does the payer's contract take this signature? Any answer of it but the magic value is no. */
  async walletAccepts(payment: EvmPayment): Promise<boolean> {
    const data = isValidSignatureCall(payment.messageDigest, payment.signature);
    return (await this.read(payment.payer, data, { gas: "0x30d40" })) === erc1271Magic;
  }

  /** What `owner` holds of a token, base units; by the end of a block, or now. A node that is not that far throws RpcError. */
  async holding(asset: string, owner: string, block?: bigint): Promise<bigint> {
    const at = block === undefined ? "latest" : quantity(block);
    const balance = await this.#call({ to: asset, data: balanceOfCall(owner) }, at);
    return isEmpty(balance) ? 0n : BigInt(balance);
  }

  /** Whether an authorization was used or cancelled by the end of a block. Throws where the node is not that far yet, or gives no state. */
  async isNonceUsed(asset: string, from: Hex, nonce: Hex, block: bigint): Promise<boolean> {
    const used = await this.#call({ to: asset, data: authorizationStateCall(from, nonce) }, quantity(block));
    return numberOf(used) !== 0n;
  }

  /**
   * The transaction that used or cancelled an authorization, by the token's own event: lately or, with a date, since
   * then. Undefined also while the node has not caught up with it. Throws RpcUnreachableError where the node searches too few
   * blocks at once to look that far back.
   */
  async spendingOf(
    asset: string,
    from: Hex,
    nonce: Hex,
    since?: Date,
    searchesMax = searchesUsualMax,
  ): Promise<Receipt | undefined> {
    const topics = [[authorizationUsedTopic, authorizationCanceledTopic], `0x${addressWord(from)}`, nonce];
    const [blocksMax, questionsMax] = since
      ? [searchedBlocks * BigInt(searchesMax), searchesMax]
      : [searchedBlocks, recentSearchesMax];
    let { number: last } = await this.latestBlock();
    let looked = 0n;
    for (let question = 0; question < questionsMax; question += 1) {
      const { logs, first } = await this.#logsUpTo(last, { address: asset, topics });
      if (logs[0]) return this.receipt(logs[0].transactionHash);
      looked += last - first;
      if (first === 0n || looked >= blocksMax) return undefined;
      if (since) {
        const { timestampSeconds } = await this.#block(quantity(first));
        if (Number(timestampSeconds) * 1_000 < since.getTime() - clocksDifferMs) return undefined;
      }
      last = first - 1n;
    }
    throw new RpcUnreachableError("the node searches too few blocks at once for events of before");
  }

  /** Events up to a block, and from which block on: a node that refuses so many blocks is asked for fewer, for a while. */
  async #logsUpTo(last: bigint, filter: object): Promise<{ logs: readonly EventLog[]; first: bigint }> {
    for (;;) {
      const blocks = Date.now() < this.#searched.untilMs ? this.#searched.blocks : searchedBlocks;
      const first = last > blocks ? last - blocks : 0n;
      const range = { fromBlock: quantity(first), toBlock: quantity(last) };
      try {
        const logs = await this.#rpc.call("eth_getLogs", [{ ...filter, ...range }]);
        if (!Array.isArray(logs)) throw new RpcUnreachableError("the node gave no list of events");
        return { logs: logs as readonly EventLog[], first };
      } catch (error) {
        const fewer = fewerBlocks.find((count) => count < last - first);
        if (!(error instanceof RpcError) || fewer === undefined) throw error;
        this.#searched = { blocks: fewer, untilMs: Date.now() + fewerBlocksKeptMs };
      }
    }
  }

  async transactionCount(address: string, block: "latest" | "pending" | bigint): Promise<bigint> {
    const at = typeof block === "bigint" ? quantity(block) : block;
    return numberOf(await this.#rpc.call("eth_getTransactionCount", [address, at]));
  }

  /** What an account holds, wei, and at which block: undefined where the answering node has not got that far. And the newest block. */
  async balance(address: string): Promise<{ balance: bigint; asOf: bigint | undefined; newest: Block }> {
    const newest = await this.latestBlock();
    const { number } = newest;
    const read = async (at: string) => numberOf(await this.#rpc.call("eth_getBalance", [address, at]));
    try {
      return { balance: await read(quantity(number)), asOf: number, newest };
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      return { balance: await read("latest"), asOf: undefined, newest };
    }
  }

  /** What the node would offer a block's maker on top of the base fee, wei. */
  async suggestedTip(): Promise<bigint> {
    return numberOf(await this.#rpc.call("eth_maxPriorityFeePerGas", []));
  }

  latestBlock(): Promise<Block> {
    return this.#block("latest");
  }

  /** The block `count` before another. */
  async blockBefore(block: Block, count: number): Promise<Block> {
    if (count <= 0) return block;
    return this.#block(quantity(block.number > BigInt(count) ? block.number - BigInt(count) : 0n));
  }

  /** Blocks up to then are never taken back; undefined where the chain does not say. */
  async finalUntil(): Promise<Date | undefined> {
    const asked = this.#rpc.call("eth_getBlockByNumber", ["finalized", false]) as Promise<Record<
      string,
      string
    > | null>;
    const block = await asked.catch((error) => {
      if (error instanceof RpcError) return null;
      throw error;
    });
    return block?.timestamp === undefined ? undefined : new Date(Number(block.timestamp) * 1_000);
  }

  async #block(at: string): Promise<Block> {
    const block = (await this.#rpc.call("eth_getBlockByNumber", [at, false])) as Record<string, string> | null;
    if (!block) throw new RpcUnreachableError(`the node has no block ${at}`);
    return {
      number: BigInt(block.number as string),
      timestampSeconds: BigInt(block.timestamp as string),
      baseFeePerGas: BigInt(block.baseFeePerGas ?? "0x0"),
    };
  }

  /** What these accounts had in a block, in its order. Throws RpcUnreachableError where the node is not that far. */
  async sentIn(number: bigint, senders: ReadonlySet<string>): Promise<readonly SentTransaction[]> {
    const block = (await this.#rpc.call("eth_getBlockByNumber", [quantity(number), true])) as FullBlock | null;
    if (!block) throw new RpcUnreachableError(`the node has no block ${number}`);
    return block.transactions
      .filter(({ from }) => senders.has(from.toLowerCase()))
      .map(({ hash, from, to, nonce, input }) => ({
        hash,
        from: from.toLowerCase(),
        to: to?.toLowerCase(),
        nonce: BigInt(nonce),
        input,
        minedAt: new Date(Number(block.timestamp) * 1_000),
      }));
  }

  /** Hands signed bytes to the node. Throws RpcError when it will not have them. */
  async send(raw: Buffer): Promise<void> {
    await this.#rpc.call("eth_sendRawTransaction", [`0x${raw.toString("hex")}`]);
  }

  async receipt(hash: string): Promise<Receipt | undefined> {
    return ((await this.#rpc.call("eth_getTransactionReceipt", [hash])) as Receipt | null) ?? undefined;
  }

  /** What a contract answers; "0x" where it fails or is not there. Throws RpcError when the node did not ask it. */
  read(contract: string, data: Hex, limits: { gas?: Hex } = {}): Promise<string> {
    return this.#call({ to: contract, data, ...limits }).catch((error) => {
      if (error instanceof RpcError && isFailedCall(error)) return "0x";
      throw error;
    });
  }

  #call(transaction: Record<string, string>, block = "latest"): Promise<string> {
    return this.#rpc.call("eth_call", [transaction, block]) as Promise<string>;
  }

  #refusalOf(transaction: Record<string, string>): Promise<RpcError | undefined> {
    return this.#call(transaction).then(
      () => undefined,
      (error) => {
        if (error instanceof RpcError) return error;
        throw error;
      },
    );
  }
}

/** What many nodes search in one question, and what others do: some no more than five. */
const searchedBlocks = 5_000n;
const fewerBlocks = [1_000n, 400n, 80n, 8n, 4n];
const fewerBlocksKeptMs = 600_000;
const searchesUsualMax = 200;
/** For what is looked for in the newest blocks alone. */
const recentSearchesMax = 20;
/** A chain's clock against the database's. */
const clocksDifferMs = 600_000;

const quantity = (value: bigint): Hex => `0x${value.toString(16)}`;

/** Nodes that have not got what they are asked about answer `null` or nothing in its place, which is no zero. */
function numberOf(answer: unknown): bigint {
  if (typeof answer !== "string" || !/^0x[0-9a-f]+$/i.test(answer))
    throw new RpcUnreachableError("the node gave no number");
  return BigInt(answer);
}

export interface Block {
  readonly number: bigint;
  readonly timestampSeconds: bigint;
  readonly baseFeePerGas: bigint;
}

interface EventLog {
  readonly transactionHash: string;
}

/** A mined transaction; addresses in lower case. */
export interface SentTransaction {
  readonly hash: string;
  readonly from: string;
  readonly to: string | undefined;
  readonly nonce: bigint;
  readonly input: string;
  readonly minedAt: Date;
}

interface FullBlock {
  readonly timestamp: string;
  readonly transactions: ReadonlyArray<{
    readonly hash: string;
    readonly from: string;
    readonly to: string | null;
    readonly nonce: string;
    readonly input: string;
  }>;
}

/** What a transaction offers for gas. */
export interface GasFees {
  readonly perGas: bigint;
  readonly tip: bigint;
}

/** The node's own word about the account that would pay; a contract can put the same words into its revert only. */
function isAboutSender(error: RpcError): boolean {
  if (isOfContract(error) || error.data !== undefined) return false;
  return /insufficient funds|max fee per gas|base fee/i.test(error.message);
}
