import { authorizationUsedTopic, transferTopic } from "./eip3009.ts";
import { addressWord } from "./hex.ts";
import { authorizationOf } from "./payload.ts";

export interface Receipt {
  readonly transactionHash: string;
  readonly status: string;
  readonly blockNumber: string;
  readonly logs: readonly Log[];
  readonly gasUsed?: string;
  readonly effectiveGasPrice?: string;
  /** On rollups of the OP stack: what publishing it on Ethereum cost, beside its gas. */
  readonly l1Fee?: string | null;
}

/** Wei; undefined where the node does not say. */
export function feeOf(receipt: Receipt | undefined): bigint | undefined {
  if (!receipt?.gasUsed || !receipt.effectiveGasPrice) return undefined;
  return BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice) + BigInt(receipt.l1Fee ?? 0);
}

interface Log {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
}

export function succeeded({ status }: Receipt): boolean {
  return BigInt(status) === 1n;
}

/** Whether the token says, by its events, that this payment's authorization moved the money as agreed. */
export function paysAsAgreed(receipt: Receipt, { key, payTo, amount }: Agreed): boolean {
  const { asset, payer, nonce } = authorizationOf(key);
  const log = transferOf(receipt, asset, payer, nonce);
  return (
    log !== undefined &&
    isWord(log.topics[1], addressWord(payer)) &&
    isWord(log.topics[2], addressWord(payTo)) &&
    log.data !== "0x" &&
    BigInt(log.data) === amount
  );
}

interface Agreed {
  readonly key: string;
  readonly payTo: string;
  readonly amount: bigint;
}

/**
 * The Transfer that belongs to AuthorizationUsed(payer, nonce), for a transaction may use many nonces and make other
 * transfers beside. EIP-3009 does not say in which order a token reports the two, but each reports them next to each
 * other: Circle's FiatTokenV2_2, the EIP's reference and OpenZeppelin's the use first, others the transfer. So, among
 * these events of the token: where every use is directly followed by a transfer, that is its own; else where every use
 * is directly preceded by one, that is; else it cannot be told, and none is. No transfer is ever two uses' own.
 */
function transferOf(receipt: Receipt, asset: string, payer: string, nonce: string): Log | undefined {
  const logs = succeeded(receipt)
    ? receipt.logs.filter(({ address, topics }) => address.toLowerCase() === asset && kinds.has(topics[0] ?? ""))
    : [];
  const uses = [...logs.keys()].filter((index) => !isTransfer(logs[index]));
  const own = uses.find((index) => {
    const [, authorizer, used] = logs[index]?.topics ?? [];
    return isWord(authorizer, addressWord(payer)) && isWord(used, nonce.slice(2));
  });
  if (own === undefined) return undefined;
  const step = [1, -1].find((step) => uses.every((index) => isTransfer(logs[index + step])));
  return step === undefined ? undefined : logs[own + step];
}

const kinds: ReadonlySet<string> = new Set([authorizationUsedTopic, transferTopic]);
const isTransfer = (log: Log | undefined): boolean => log?.topics[0] === transferTopic;
const isWord = (topic: string | undefined, word: string): boolean => topic?.slice(2).toLowerCase() === word;
