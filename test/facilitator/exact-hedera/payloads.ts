import { createPrivateKey, createPublicKey, sign } from "node:crypto";
import { proto } from "@hiero-ledger/proto";
import type { HederaConfig } from "../../../facilitator/schemes/exact-hedera/config.ts";
import type { PaymentRequest } from "../../../facilitator/schemes/scheme.ts";
import { Secret } from "../../../shared/env.ts";

export const usdc = "0.0.429274";
export const feePayer = "0.0.9999";
export const secondFeePayer = "0.0.9998";
export const payer = "0.0.777";
export const payTo = "0.0.888";
export const amount = 50_000n;

export const config: HederaConfig = {
  network: "hedera:testnet",
  nodes: { "127.0.0.1:1": "0.0.3", "127.0.0.1:2": "0.0.4", "127.0.0.1:3": "0.0.5" },
  mirrorUrl: "http://127.0.0.1:1",
  feePayers: [feePayer, secondFeePayer].map((accountId) => ({
    accountId,
    privateKey: new Secret(`ed25519:${"11".repeat(32)}`),
  })),
  assets: [usdc],
  amountMin: 1_000n,
  explorer: undefined,
  balanceLow: 2_000_000_000n,
  balanceEmpty: 200_000_000n,
  dailyBudget: 0n,
  transactionFeeMax: 200_000_000n,
  transactionFeeMin: 1_000_000n,
};

const privateKey = createPrivateKey({
  key: Buffer.from(`302e020100300506032b657004220420${"22".repeat(32)}`, "hex"),
  format: "der",
  type: "pkcs8",
});
export const payerKey = Buffer.from(createPublicKey(privateKey).export({ format: "der", type: "spki" }).subarray(-32));

/** A v2 request for `transaction`, with parts of it replaced. */
export function request(transaction: unknown, change: RequestChange = {}): PaymentRequest {
  const requirements = {
    scheme: "exact",
    network: "hedera:testnet",
    amount: `${amount}`,
    asset: usdc,
    payTo,
    maxTimeoutSeconds: 120,
    extra: { feePayer },
    ...change.requirements,
  };
  return {
    version: 2,
    network: "hedera:testnet",
    networkAsGiven: "hedera:testnet",
    requirements,
    accepted: { ...requirements, ...change.accepted },
    payload: { transaction },
    resourceUrl: undefined,
    termsDigest: undefined,
    ...change.envelope,
  } as PaymentRequest;
}

export interface RequestChange {
  readonly requirements?: object;
  readonly accepted?: object;
  readonly envelope?: object;
}

/** protobufjs writes plain numbers; its types know only Long. */
export function int64(value: number) {
  return value as unknown as NonNullable<proto.IAccountID["accountNum"]>;
}

export function account(num: number, more: proto.IAccountID = {}): proto.IAccountID {
  return {
    shardNum: int64(0),
    realmNum: int64(0),
    accountNum: int64(num),
    ...more,
  };
}

export function token(num: number): proto.ITokenID {
  return {
    shardNum: int64(0),
    realmNum: int64(0),
    tokenNum: int64(num),
  };
}

export function row(num: number, value: number, more: object = {}): proto.IAccountAmount {
  return {
    accountID: account(num),
    amount: int64(value),
    ...more,
  };
}

const startSeconds = Math.floor(Date.now() / 1_000) - 5;

/** The body every test starts from: 0.05 USDC from the payer to payTo, fee paid by the fee payer. */
export function body(change: proto.ITransactionBody = {}): proto.ITransactionBody {
  return {
    transactionID: transactionId(),
    nodeAccountID: account(3),
    transactionFee: int64(100_000_000),
    transactionValidDuration: { seconds: int64(120) },
    memo: "",
    cryptoTransfer: usdcTransfer([row(777, -Number(amount)), row(888, Number(amount))]),
    ...change,
  };
}

export function transactionId(more: proto.ITransactionID = {}): proto.ITransactionID {
  return {
    accountID: account(9999),
    transactionValidStart: { seconds: int64(startSeconds), nanos: 7 },
    ...more,
  };
}

export function usdcTransfer(
  rows: proto.IAccountAmount[],
  list: proto.ITokenTransferList = {},
  transfer: proto.ICryptoTransferTransactionBody = {},
): proto.ICryptoTransferTransactionBody {
  return {
    transfers: { accountAmounts: [] },
    tokenTransfers: [{ token: token(429274), transfers: rows, nftTransfers: [], ...list }],
    ...transfer,
  };
}

export function bodyBytes(content: proto.ITransactionBody): Buffer {
  return Buffer.from(proto.TransactionBody.encode(content).finish());
}

export function goodPair(bytes: Buffer): proto.ISignaturePair {
  return {
    pubKeyPrefix: payerKey,
    ed25519: sign(null, bytes, privateKey),
  };
}

/** A Transaction of these body bytes, signed by the payer unless other pairs are given. */
export function signedBytes(bytes: Buffer, pairs: proto.ISignaturePair[] | null = [goodPair(bytes)]): Buffer {
  const sigMap = pairs === null ? null : { sigPair: pairs };
  return Buffer.from(proto.SignedTransaction.encode({ bodyBytes: bytes, sigMap }).finish());
}

/** The base64 a payer sends: one Transaction for each SignedTransaction. */
export function payload(...signed: Buffer[]): string {
  return list(...signed.map((bytes) => ({ signedTransactionBytes: bytes })));
}

export function list(...transactionList: proto.ITransaction[]): string {
  return Buffer.from(proto.TransactionList.encode({ transactionList }).finish()).toString("base64");
}

export function paymentOf(...bodies: proto.ITransactionBody[]): string {
  return payload(...bodies.map((content) => signedBytes(bodyBytes(content))));
}

/** One length-delimited or varint field, as raw bytes to append where protobufjs would never write it. */
export function field(number: number, value: Buffer | number): Buffer {
  return typeof value === "number"
    ? Buffer.concat([varint(number * 8), varint(value)])
    : Buffer.concat([varint(number * 8 + 2), varint(value.length), value]);
}

export function varint(value: number): Buffer {
  return value < 0x80
    ? Buffer.from([value])
    : Buffer.concat([Buffer.from([(value % 0x80) + 0x80]), varint(Math.floor(value / 0x80))]);
}
