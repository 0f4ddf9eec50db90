import type { proto } from "@hiero-ledger/proto";
import type { ExchangeRate } from "./fees/schedule.ts";
import { accountId, toInt64, tokenId, topicId, toTimestamp } from "./hapi/ids.ts";
import {
  type AssessedFee,
  inFlight,
  type NftMove,
  type TokenMove,
  type TransactionRecord,
} from "./state/transactions.ts";

export function receiptToProto({ status, outcome }: TransactionRecord, rate: ExchangeRate): proto.ITransactionReceipt {
  if (status === inFlight) return { status };
  const { created, topicSequence, runningHash, totalSupply, serials } = outcome;
  const receipt: proto.ITransactionReceipt = { status, exchangeRate: rateToProto(rate) };
  if (created?.kind === "account") receipt.accountID = accountId(created.number);
  if (created?.kind === "token") receipt.tokenID = tokenId(created.number);
  if (created?.kind === "topic") receipt.topicID = topicId(created.number);
  if (topicSequence !== undefined) {
    receipt.topicSequenceNumber = toInt64(topicSequence);
    receipt.topicRunningHash = runningHash!;
    receipt.topicRunningHashVersion = toInt64(3);
  }
  if (totalSupply !== undefined) receipt.newTotalSupply = toInt64(totalSupply);
  if (serials) receipt.serialNumbers = serials.map(toInt64);
  return receipt;
}

export function recordToProto(record: TransactionRecord, rate: ExchangeRate): proto.ITransactionRecord {
  const { outcome } = record;
  return {
    receipt: receiptToProto(record, rate),
    transactionHash: Buffer.from(record.hash, "base64"),
    consensusTimestamp: toTimestamp(record.consensusAt),
    transactionID: { accountID: accountId(record.payer), transactionValidStart: toTimestamp(record.validStart) },
    memo: record.memo,
    transactionFee: toInt64(outcome.fee),
    transferList: { accountAmounts: outcome.hbar.map(([account, amount]) => leg(account, amount)) },
    tokenTransferLists: tokenLists(outcome.tokens ?? [], outcome.nfts ?? []),
    assessedCustomFees: (outcome.assessedFees ?? []).map(assessedFee),
    automaticTokenAssociations: (outcome.autoAssociations ?? []).map(([token, account]) => ({
      tokenId: tokenId(token),
      accountId: accountId(account),
    })),
  };
}

function rateToProto({ hbarEquivalent, centEquivalent }: ExchangeRate): proto.IExchangeRateSet {
  const rate = {
    hbarEquiv: hbarEquivalent,
    centEquiv: centEquivalent,
    expirationTime: { seconds: toInt64(Math.ceil(Date.now() / hourMs) * (hourMs / 1_000)) },
  };
  return { currentRate: rate, nextRate: rate };
}

const tokenLists = (moves: TokenMove[], nfts: NftMove[]): proto.ITokenTransferList[] => {
  const tokens = new Set([...moves, ...nfts].map(({ token }) => token));
  return [...tokens].map((token) => ({
    token: tokenId(token),
    transfers: moves.filter((move) => move.token === token).map(({ account, amount }) => leg(account, amount)),
    nftTransfers: nfts
      .filter((move) => move.token === token)
      .map(({ serial, from, to }) => ({
        senderAccountID: accountId(from),
        receiverAccountID: accountId(to),
        serialNumber: toInt64(serial),
      })),
  }));
};

const assessedFee = ({ token, amount, collector, payers }: AssessedFee): proto.IAssessedCustomFee => ({
  amount: toInt64(amount),
  tokenId: token === null ? null : tokenId(token),
  feeCollectorAccountId: accountId(collector),
  effectivePayerAccountId: payers.map(accountId),
});

const leg = (account: number, amount: bigint): proto.IAccountAmount => ({
  accountID: accountId(account),
  amount: toInt64(amount),
});

const hourMs = 3_600_000;
