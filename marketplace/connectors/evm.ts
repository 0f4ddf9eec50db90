import {
  BaseError,
  createPublicClient,
  HttpRequestError,
  http,
  type PublicClient,
  ResponseBodyTooLargeError,
  RpcError,
  RpcRequestError,
  TimeoutError,
  type Transport,
} from "viem";

/** The EVM chains the operator configured, read only. */
export class EvmChains {
  readonly networks: readonly string[];
  readonly #clients: ReadonlyMap<string, PublicClient>;

  /** RPC endpoint by CAIP-2 id. */
  constructor(rpcUrls: Readonly<Record<string, string>>) {
    this.networks = Object.keys(rpcUrls);
    this.#clients = new Map(
      Object.entries(rpcUrls).map(([network, url]) => [
        network,
        createPublicClient({ cacheTime: 0, transport: to(url) }),
      ]),
    );
  }

  client(network: string): PublicClient | undefined {
    return this.#clients.get(network);
  }
}

/**
 * What contracts answer is written by strangers. An answer over the limit fails alone, because every question is a request of
 * its own: in a batch it would fail the others, which may be another caller's.
 */
function to(url: string): Transport {
  const limited = (maxResponseBodySize: number) => http(url, { timeout: 10_000, retryCount: 1, maxResponseBodySize });
  const [forCalls, forAll] = [limited(callAnswerMaxBytes), limited(answerMaxBytes)];
  return (given) => {
    const [calls, all] = [forCalls(given), forAll(given)];
    const request: typeof all.request = (asked, options) =>
      (asked.method === "eth_call" ? calls : all).request(asked, options);
    return { ...all, request };
  };
}

/**
 * Text of a contract, which may hold anything, of any length: without zero bytes and half characters, which the database
 * refuses, and not a part of the whole text, which would stay in memory with it.
 */
export function textOfContract(text: string, lengthMax: number): string {
  return Buffer.from(text.slice(0, lengthMax).replaceAll("\0", "")).toString();
}

/**
 * A contract's answer; undefined where it has no such function, or the answer cannot be read as one. Throws where the chain's
 * node failed: that does not mean that the contract has no answer.
 */
export function answerOf<T>(reading: Promise<T>): Promise<T | undefined> {
  return reading.catch((error: unknown) => {
    if (failureOfNode(error) !== undefined) throw error;
    return undefined;
  });
}

/** What kept the node from answering; undefined where it was the contract that failed. */
export function failureOfNode(error: unknown): Error | undefined {
  if (!(error instanceof BaseError)) return error instanceof Error ? error : new Error(String(error));
  const failure = error.walk((cause) => ofNode.some((kind) => cause instanceof kind));
  if (!(failure instanceof BaseError)) return undefined;
  return ofContract.test(`${failure.details} ${failure.shortMessage}`) ? undefined : failure;
}

const ofNode = [HttpRequestError, TimeoutError, ResponseBodyTooLargeError, RpcRequestError, RpcError];
/** How nodes say, in an error of theirs, that it was the contract that failed. */
const ofContract =
  /revert|vm execution error|invalid opcode|invalid jump|stack (?:under|over)flow|out of gas|bad instruction/i;

/** What is decoded in one go. Source: 1 MB takes about 20 ms; deployed code has at most 48 KB as hexadecimal (EIP-170). */
const answerMaxBytes = 1_048_576;
/** A number, or a name of some thousand characters: a run asks hundreds of contracts. */
const callAnswerMaxBytes = 16_384;
