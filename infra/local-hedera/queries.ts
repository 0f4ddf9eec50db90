import { proto } from "@hiero-ledger/proto";
import type { ChainContext } from "./context.ts";
import { keyToProto } from "./crypto/keys.ts";
import { queryPrice, toTinybars } from "./fees/schedule.ts";
import { customFeeToProto } from "./handlers/fee-schedule.ts";
import { decodeQuery, parseTransaction } from "./hapi/codec.ts";
import {
  accountId,
  accountNumber,
  type EntityNumber,
  toBigint,
  toInt64,
  tokenId,
  tokenNumber,
  topicId,
  topicNumber,
  toTimestamp,
  transactionKeyOf,
} from "./hapi/ids.ts";
import { type Status, statusCode } from "./hapi/refusal.ts";
import { receiptToProto, recordToProto } from "./receipts.ts";
import type { Account, Token, Topic } from "./state/entities.ts";
import { inFlight, type TransactionRecord } from "./state/transactions.ts";

/**
 * Answers one query. Receipts and version are free; the others answer their cost first, and then against a payment that
 * goes through the chain like any transaction. Undefined for bytes that are no query.
 */
export function answerQuery(
  chain: ChainContext,
  bytes: Buffer,
  node: EntityNumber,
  pay: (payment: Buffer) => Status,
): proto.IResponse | undefined {
  const query = tryDecode(bytes);
  if (!query) return undefined;
  switch (query.query) {
    case "transactionGetReceipt":
      return { transactionGetReceipt: receiptAnswer(chain, node, query.transactionGetReceipt!) };
    case "networkGetVersionInfo":
      return {
        networkGetVersionInfo: {
          header: header(okCode),
          hapiProtoVersion: ownVersion,
          hederaServicesVersion: ownVersion,
        },
      };
    case "cryptogetAccountBalance":
      return { cryptogetAccountBalance: balanceAnswer(chain, query.cryptogetAccountBalance!) };
    case "cryptoGetInfo": {
      const { header: asked, accountID } = query.cryptoGetInfo!;
      const account = chain.state.accounts.get(accountNumber(accountID) ?? 0);
      const paid = payFor(chain, asked, node, account ? okCode : statusCode("INVALID_ACCOUNT_ID"), pay);
      return {
        cryptoGetInfo: { header: paid, ...(account && isAnswer(paid) && { accountInfo: accountInfo(account) }) },
      };
    }
    case "tokenGetInfo": {
      const { header: asked, token: id } = query.tokenGetInfo!;
      const token = chain.state.tokens.get(tokenNumber(id) ?? 0);
      const paid = payFor(chain, asked, node, token ? okCode : statusCode("INVALID_TOKEN_ID"), pay);
      return { tokenGetInfo: { header: paid, ...(token && isAnswer(paid) && { tokenInfo: tokenInfo(token) }) } };
    }
    case "consensusGetTopicInfo": {
      const { header: asked, topicID } = query.consensusGetTopicInfo!;
      const topic = chain.state.topics.get(topicNumber(topicID) ?? 0);
      const paid = payFor(chain, asked, node, topic ? okCode : statusCode("INVALID_TOPIC_ID"), pay);
      const info = topic && isAnswer(paid) && { topicID: topicId(topic.number), topicInfo: topicInfo(topic) };
      return { consensusGetTopicInfo: { header: paid, ...info } };
    }
    case "transactionGetRecord": {
      const { header: asked, transactionID } = query.transactionGetRecord!;
      const record = finished(chain, transactionKeyOf(transactionID));
      const paid = payFor(chain, asked, node, record ? okCode : statusCode("RECORD_NOT_FOUND"), pay);
      const found = record && isAnswer(paid) && { transactionRecord: recordToProto(record, chain.rate) };
      return { transactionGetRecord: { header: paid, ...found } };
    }
    default:
      return { [query.query ?? "transactionGetReceipt"]: { header: header(statusCode("NOT_SUPPORTED")) } };
  }
}

const receiptAnswer = (
  chain: ChainContext,
  node: EntityNumber,
  { header: asked, transactionID }: proto.ITransactionGetReceiptQuery,
): proto.ITransactionGetReceiptResponse => {
  if (asked?.responseType === COST_ANSWER) return { header: header(okCode, COST_ANSWER) };
  const key = transactionKeyOf(transactionID);
  if (key === undefined) return { header: header(statusCode("INVALID_TRANSACTION_ID")) };
  const record = chain.transactions.get(key);
  if (!record && chain.transactions.isLostAt(node, key))
    return { header: header(okCode), receipt: { status: inFlight } };
  if (!record || isForgotten(chain, record)) return { header: header(statusCode("RECEIPT_NOT_FOUND")) };
  return { header: header(okCode), receipt: receiptToProto(record, chain.rate) };
};

const finished = (chain: ChainContext, key: string | undefined): TransactionRecord | undefined => {
  const record = key === undefined ? undefined : chain.transactions.get(key);
  return record && record.status !== inFlight && !isForgotten(chain, record) ? record : undefined;
};

const isForgotten = ({ levels }: ChainContext, record: TransactionRecord): boolean =>
  record.status !== inFlight && Date.now() - record.acceptedAtMs > levels.receiptTtlMs;

const balanceAnswer = (
  { state, balanceQuery }: ChainContext,
  { header: asked, accountID }: proto.ICryptoGetAccountBalanceQuery,
): proto.ICryptoGetAccountBalanceResponse => {
  if (asked?.responseType === COST_ANSWER) return { header: header(okCode, COST_ANSWER) };
  if (!balanceQuery) return { header: header(statusCode("BUSY")) };
  const account = state.accounts.get(accountNumber(accountID) ?? 0);
  if (!account) return { header: header(statusCode("INVALID_ACCOUNT_ID")) };
  return { header: header(okCode), accountID: accountId(account.number), balance: toInt64(account.balance) };
};

/** The header of a paid query: its cost when that was asked, else the outcome of the payment in it. */
const payFor = (
  { rate }: ChainContext,
  asked: proto.IQueryHeader | null | undefined,
  node: EntityNumber,
  found: Status,
  pay: (payment: Buffer) => Status,
): proto.IResponseHeader => {
  const cost = toTinybars(queryPrice, rate);
  if (asked?.responseType === COST_ANSWER) return { ...header(okCode, COST_ANSWER), cost: toInt64(cost) };
  if (found !== okCode) return header(found);
  const payment = Buffer.from(proto.Transaction.encode(asked?.payment ?? {}).finish());
  try {
    if (creditTo(node, payment) < cost) return header(statusCode("INSUFFICIENT_TX_FEE"));
  } catch {
    return header(statusCode("INVALID_TRANSACTION_BODY"));
  }
  return header(pay(payment));
};

const creditTo = (node: EntityNumber, payment: Buffer): bigint => {
  const legs = parseTransaction(payment).body.cryptoTransfer?.transfers?.accountAmounts ?? [];
  return toBigint(legs.find(({ accountID }) => accountNumber(accountID) === node)?.amount);
};

const isAnswer = ({ nodeTransactionPrecheckCode, responseType }: proto.IResponseHeader): boolean =>
  nodeTransactionPrecheckCode === okCode && responseType !== COST_ANSWER;

const accountInfo = (account: Account): proto.CryptoGetInfoResponse.IAccountInfo => ({
  accountID: accountId(account.number),
  contractAccountID: account.evmAddress?.toString("hex") ?? account.number.toString(16).padStart(40, "0"),
  deleted: account.deleted,
  key: account.key ? keyToProto(account.key) : { keyList: {} },
  balance: toInt64(account.balance),
  receiverSigRequired: account.receiverSignatureRequired,
  expirationTime: toTimestamp(account.createdAt + BigInt(account.autoRenewSeconds) * 1_000_000_000n),
  autoRenewPeriod: { seconds: toInt64(account.autoRenewSeconds) },
  memo: account.memo,
  maxAutomaticTokenAssociations: account.autoAssociationsMax,
  alias: account.alias ?? Buffer.alloc(0),
  ledgerId,
});

const tokenInfo = (token: Token): proto.ITokenInfo => {
  const { admin, kyc, freeze, wipe, supply, feeSchedule, pause, metadata } = token.keys;
  return {
    tokenId: tokenId(token.number),
    name: token.name,
    symbol: token.symbol,
    decimals: token.decimals,
    totalSupply: toInt64(token.totalSupply),
    treasury: accountId(token.treasury),
    adminKey: admin ? keyToProto(admin) : null,
    kycKey: kyc ? keyToProto(kyc) : null,
    freezeKey: freeze ? keyToProto(freeze) : null,
    wipeKey: wipe ? keyToProto(wipe) : null,
    supplyKey: supply ? keyToProto(supply) : null,
    feeScheduleKey: feeSchedule ? keyToProto(feeSchedule) : null,
    pauseKey: pause ? keyToProto(pause) : null,
    metadataKey: metadata ? keyToProto(metadata) : null,
    defaultFreezeStatus: freeze ? (token.freezeDefault ? 1 : 2) : 0,
    defaultKycStatus: kyc ? 2 : 0,
    pauseStatus: pause ? (token.paused ? 1 : 2) : 0,
    deleted: token.deleted,
    autoRenewAccount: token.autoRenewAccount === null ? null : accountId(token.autoRenewAccount),
    autoRenewPeriod: { seconds: toInt64(token.autoRenewSeconds) },
    expiry: toTimestamp(token.createdAt + BigInt(token.autoRenewSeconds) * 1_000_000_000n),
    memo: token.memo,
    tokenType: token.unique ? 1 : 0,
    supplyType: token.maxSupply > 0n ? 1 : 0,
    maxSupply: toInt64(token.maxSupply),
    customFees: token.customFees.map(customFeeToProto),
    metadata: token.metadata,
    ledgerId,
  };
};

const topicInfo = (topic: Topic): proto.IConsensusTopicInfo => ({
  memo: topic.memo,
  runningHash: topic.runningHash,
  sequenceNumber: toInt64(topic.sequence),
  expirationTime: toTimestamp(topic.createdAt + BigInt(topic.autoRenewSeconds) * 1_000_000_000n),
  adminKey: topic.adminKey ? keyToProto(topic.adminKey) : null,
  submitKey: topic.submitKey ? keyToProto(topic.submitKey) : null,
  autoRenewPeriod: { seconds: toInt64(topic.autoRenewSeconds) },
  autoRenewAccount: topic.autoRenewAccount === null ? null : accountId(topic.autoRenewAccount),
  ledgerId,
});

const header = (
  nodeTransactionPrecheckCode: Status,
  responseType = proto.ResponseType.ANSWER_ONLY,
): proto.IResponseHeader => ({
  nodeTransactionPrecheckCode,
  responseType,
});

const tryDecode = (bytes: Buffer): proto.Query | undefined => {
  try {
    return decodeQuery(bytes);
  } catch {
    return undefined;
  }
};

const okCode = statusCode("OK");
const { COST_ANSWER } = proto.ResponseType;
const ownVersion = { major: 0, minor: 77, patch: 0, pre: "local-hedera" };
/** Testnet's. */
const ledgerId = Buffer.from([1]);
