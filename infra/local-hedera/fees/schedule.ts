import type { proto } from "@hiero-ledger/proto";
import type { ParsedTransaction, TransactionKind } from "../hapi/codec.ts";
import { hooksOfLeg, hooksOfNftTransfer } from "../hapi/hooks.ts";
import { accountNumber, toBigint, tokenNumber } from "../hapi/ids.ts";
import type { ChainState } from "../state/state.ts";

/**
 * The price of a transaction in tinycents (10^8 to the cent), known before it runs.
 * Source: HIP-1261, simpleFeesSchedules.json for mainnet of hiero-consensus-node.
 */
export function transactionPrice(transaction: ParsedTransaction, signatures: number, state: ChainState): Price {
  const extraSignatures = BigInt(Math.max(0, signatures - 1)) * signaturePrice;
  const extraBytes = BigInt(Math.max(0, transaction.sizeBytes - bytesIncluded)) * processingBytePrice;
  const node = nodeBasePrice + extraSignatures + extraBytes;
  const service = servicePrice(transaction, state);
  const dearer = transaction.body.highVolume && highVolumeKinds.has(transaction.kind) ? highVolumeMultiplier : 1n;
  return { node, total: node * (1n + networkMultiplier) + service * dearer };
}

/** Rounds up, so that nothing is ever free by rounding. */
export function toTinybars(tinycents: bigint, { hbarEquivalent, centEquivalent }: ExchangeRate): bigint {
  return (tinycents * BigInt(hbarEquivalent) + BigInt(centEquivalent) - 1n) / BigInt(centEquivalent);
}

export function exchangeRate(centsPerHbar: number): ExchangeRate {
  return {
    hbarEquivalent: 30_000,
    centEquivalent: Math.max(1, Math.round(centsPerHbar * 30_000)),
  };
}

const servicePrice = ({ kind, body }: ParsedTransaction, state: ChainState): bigint => {
  switch (kind) {
    case "cryptoTransfer":
      return transferPrice(body.cryptoTransfer!, state);
    case "cryptoApproveAllowance":
      return allowancePrice * beyond(countAllowances(body.cryptoApproveAllowance!), 1) + 499n * grain;
    case "tokenAssociate":
      return associationPrice * beyond(body.tokenAssociate!.tokens?.length ?? 0, 1) + 499n * grain;
    case "tokenCreation":
      return 9_999n * grain + (body.tokenCreation!.customFees?.length ? 10_000n * grain : 0n);
    case "tokenMint": {
      const serials = body.tokenMint!.metadata?.length ?? 0;
      return 9n * grain + (serials > 0 ? 190n * grain + 200n * grain * beyond(serials, 1) : 0n);
    }
    case "consensusSubmitMessage":
      return 7n * grain + grain * beyond(body.consensusSubmitMessage!.message?.length ?? 0, 1_024);
    default:
      return basePrices[kind] ?? 9n * grain;
  }
};

const transferPrice = (transfer: proto.ICryptoTransferTransactionBody, state: ChainState): bigint => {
  const lists = transfer.tokenTransfers ?? [];
  const legs = [...(transfer.transfers?.accountAmounts ?? []), ...lists.flatMap((list) => list.transfers ?? [])];
  const moves = lists.flatMap((list) => list.nftTransfers ?? []);
  const accounts = new Set(legs.map(({ accountID }) => nameOf(accountID)));
  for (const move of moves) accounts.add(nameOf(move.senderAccountID)).add(nameOf(move.receiverAccountID));
  const withCustomFees = lists.some((list) => state.tokens.get(tokenNumber(list.token) ?? 0)?.customFees.length);
  const base = lists.length === 0 ? 0n : withCustomFees ? 19n * grain : 9n * grain;
  const hooks = [...legs.flatMap(hooksOfLeg), ...moves.flatMap(hooksOfNftTransfer)];
  const gas = hooks.reduce((sum, hook) => sum + toBigint(hook.evmHookCall?.gasLimit), 0n);
  const extras = beyond(accounts.size, 2) + beyond(lists.length, 1);
  return base + grain * extras + hookExecutionPrice * BigInt(hooks.length) + gasPrice * gas;
};

const nameOf = (id: proto.IAccountID | null | undefined): string =>
  String(accountNumber(id) ?? Buffer.from(id?.alias ?? []).toString("hex"));

const countAllowances = (body: proto.ICryptoApproveAllowanceTransactionBody): number =>
  (body.cryptoAllowances?.length ?? 0) + (body.tokenAllowances?.length ?? 0) + (body.nftAllowances?.length ?? 0);

const beyond = (count: number, included: number): bigint => BigInt(Math.max(0, count - included));

/** $0.0001 in tinycents: the grain of the published price list. */
const grain = 1_000_000n;
const nodeBasePrice = 100_000n;
const networkMultiplier = 9n;
const signaturePrice = 100_000n;
const processingBytePrice = 10_000n;
const bytesIncluded = 1_024;
const hookExecutionPrice = 50n * grain;
const gasPrice = 852n;
const allowancePrice = 500n * grain;
const associationPrice = 500n * grain;

/** What an automatic association or an account made for an alias adds to the transaction that caused it: $0.05. */
export const autoCreationPrice = 500n * grain;
/** Every paid query: $0.0001. */
export const queryPrice = grain;

const basePrices: Partial<Record<TransactionKind, bigint>> = {
  cryptoCreateAccount: 499n * grain,
  cryptoUpdateAccount: 1_200_000n,
  cryptoDelete: 49n * grain,
  tokenDissociate: 499n * grain,
  consensusCreateTopic: 99n * grain,
};

/** HIP-1313: the lowest multiplier of the kinds that have a high-volume price; a transfer has none. */
const highVolumeMultiplier = 4n;
const highVolumeKinds = new Set<TransactionKind>([
  "cryptoCreateAccount",
  "cryptoApproveAllowance",
  "consensusCreateTopic",
  "tokenCreation",
  "tokenMint",
  "tokenAssociate",
]);

export type ExchangeRate = { hbarEquivalent: number; centEquivalent: number };

/** Tinycents: the node's own share, and all of it. */
export type Price = { node: bigint; total: bigint };
