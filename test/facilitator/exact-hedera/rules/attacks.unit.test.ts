import { randomBytes } from "node:crypto";
import { proto } from "@hiero-ledger/proto";
import { describe, expect, test } from "vitest";
import {
  account,
  body,
  bodyBytes,
  field,
  goodPair,
  int64,
  list,
  payerKey,
  payload,
  paymentOf,
  row,
  signedBytes,
  token,
  transactionId,
  usdcTransfer,
} from "../payloads.ts";
import {
  type Case,
  expectRefused,
  good,
  hex20,
  hook,
  ofRows,
  prefix,
  refusalOf,
  twoBodies,
  twoRows,
  value,
} from "./cases.ts";

describe("every attack known against facilitators of this scheme is refused", () => {
  const bytes = bodyBytes(body());
  const evil = bodyBytes(body({ cryptoTransfer: usdcTransfer([row(9999, -value), row(777, value)]) }));
  const signed = signedBytes(bytes);
  const idField = bodyBytes({ transactionID: transactionId() });
  const { transactionValidStart } = transactionId();
  const nextIdField = bodyBytes({
    transactionID: transactionId({ transactionValidStart: { ...transactionValidStart, nanos: 8 } }),
  });
  const otherBody = bodyBytes(body({ nodeAccountID: account(4) }));
  const second = (pairs: proto.ISignaturePair[] | null) => {
    const other = bodyBytes(body({ nodeAccountID: account(4) }));
    return signedBytes(other, pairs);
  };
  test.each<Case>([
    { name: "A1 no signature map", transaction: payload(signedBytes(bytes, null)), reason: "…signature_invalid" },
    {
      name: "A2 the right key without a signature",
      transaction: payload(signedBytes(bytes, [{ pubKeyPrefix: payerKey }])),
      reason: "…signature_invalid",
    },
    {
      name: "A3 a signature of type contract",
      transaction: payload(signedBytes(bytes, [{ pubKeyPrefix: payerKey, contract: goodPair(bytes).ed25519 ?? null }])),
      reason: "…signature_invalid",
    },
    { name: "A4 the second body unsigned", transaction: payload(signed, second(null)), reason: "…signature_invalid" },
    {
      name: "A5 the second body pays somebody else",
      transaction: twoBodies({ cryptoTransfer: usdcTransfer([row(777, -value), row(666, value)]) }),
      reason: "…transaction_could_not_be_decoded",
    },
    {
      name: "A5b the second body is no transfer",
      transaction: twoBodies({ cryptoTransfer: null, cryptoDelete: { deleteAccountID: account(9999) } }),
      reason: "…transaction_could_not_be_decoded",
    },
    {
      name: "A5c the second body drains the fee payer",
      transaction: payload(signed, signedBytes(evil)),
      reason: "…transaction_could_not_be_decoded",
    },
    { name: "A5d the same node twice", transaction: paymentOf(body(), body()), reason: "…invalid_node_account" },
    {
      name: "A5e the next transaction id",
      transaction: payload(signed, signedBytes(Buffer.concat([nextIdField, otherBody.subarray(idField.length)]))),
      reason: "…transaction_could_not_be_decoded",
    },
    {
      name: "A5e another transaction id",
      transaction: twoBodies({
        transactionID: transactionId({ transactionValidStart: { seconds: int64(1), nanos: 1 } }),
      }),
      reason: "…transaction_could_not_be_decoded",
    },
    {
      name: "A6 an unknown field in the second body only",
      transaction: payload(
        signed,
        signedBytes(Buffer.concat([bodyBytes(body({ nodeAccountID: account(4) })), field(999, 7)])),
      ),
      reason: "…transaction_could_not_be_decoded",
    },
    {
      name: "A6 an unknown field in the second body only, before its node id",
      transaction: payload(
        signed,
        signedBytes(Buffer.concat([idField, field(999, 7), otherBody.subarray(idField.length)])),
      ),
      reason: "…transaction_could_not_be_decoded",
    },
    {
      name: "A6 an unknown field in the transaction id",
      transaction: payload(
        signedBytes(
          Buffer.concat([
            field(1, Buffer.concat([Buffer.from(proto.TransactionID.encode(transactionId()).finish()), field(9, 1)])),
            bodyBytes(body({ transactionID: null })),
          ]),
        ),
      ),
      reason: "…transaction_invalid_shape",
    },
    {
      name: "A6 high volume, a fee multiplier",
      transaction: paymentOf(body({ highVolume: true })),
      reason: "…transaction_invalid_shape",
    },
    {
      name: "A7 the transfer given twice",
      transaction: payload(
        signedBytes(
          Buffer.concat([
            evil,
            field(14, Buffer.from(proto.CryptoTransferTransactionBody.encode(body().cryptoTransfer ?? {}).finish())),
          ]),
        ),
      ),
      reason: "…transaction_invalid_shape",
    },
    {
      name: "A8 repeated rows that hide a debit",
      transaction: ofRows(row(9999, -1000), row(9999, 0), row(777, -value), row(888, value + 1000)),
      reason: "…transaction_invalid_shape",
    },
    {
      name: "A9 an approved debit of a third party",
      transaction: ofRows(row(555, -value, { isApproval: true }), row(888, value)),
      reason: "…contains_non_transfer_ops",
    },
    {
      name: "A10 an NFT of the fee payer on the side",
      transaction: paymentOf(
        body({
          cryptoTransfer: usdcTransfer(
            [],
            {},
            {
              tokenTransfers: [
                { token: token(429274), transfers: twoRows },
                {
                  token: token(7),
                  nftTransfers: [
                    { senderAccountID: account(9999), receiverAccountID: account(777), serialNumber: int64(3) },
                  ],
                },
              ],
            },
          ),
        }),
      ),
      reason: "…contains_non_transfer_ops",
    },
    {
      name: "A11 a hook at the fee payer's cost",
      transaction: ofRows(row(777, -value, { preTxAllowanceHook: hook }), row(888, value)),
      reason: "…contains_non_transfer_ops",
    },
    {
      name: "A12 a batch key",
      transaction: paymentOf(body({ batchKey: { ed25519: payerKey } })),
      reason: "…transaction_invalid_shape",
    },
    {
      name: "A13 scheduled with a nonce",
      transaction: paymentOf(body({ transactionID: transactionId({ scheduled: true, nonce: 2 }) })),
      reason: "…transaction_invalid_shape",
    },
    {
      name: "A14 custom fees allowed",
      transaction: paymentOf(
        body({
          maxCustomFees: [{ accountId: account(9999), fees: [{ amount: int64(1) }] }],
        } as proto.ITransactionBody),
      ),
      reason: "…transaction_invalid_shape",
    },
    {
      name: "A15 a maximum fee of 1,000 HBAR",
      transaction: paymentOf(body({ transactionFee: int64(100_000_000_000) })),
      reason: "…max_fee_exceeded",
    },
    {
      name: "A16 payTo as alias",
      transaction: ofRows(row(777, -value), { accountID: { alias: Buffer.from(hex20, "hex") }, amount: int64(value) }),
      change: { requirements: { payTo: `0x${hex20}` } },
      reason: "…pay_to_alias_not_allowed",
    },
    {
      name: "A17 an extra row of nothing",
      transaction: ofRows(row(777, -value), row(888, value), row(666, 0)),
      reason: "…transaction_invalid_shape",
    },
    {
      name: "A19 a bare Transaction",
      transaction: Buffer.from(proto.Transaction.encode({ signedTransactionBytes: signed }).finish()).toString(
        "base64",
      ),
      reason: "…transaction_could_not_be_decoded",
    },
    {
      name: "A20 good old-form bytes beside evil signed ones",
      transaction: list({ bodyBytes: bytes, signedTransactionBytes: signedBytes(evil) }),
      reason: "…transaction_invalid_shape",
    },
    {
      name: "A20b both forms, the same bytes",
      transaction: list({ bodyBytes: bytes, sigMap: { sigPair: [goodPair(bytes)] }, signedTransactionBytes: signed }),
      reason: "…transaction_invalid_shape",
    },
    {
      name: "A20c the old form alone",
      transaction: list({ bodyBytes: bytes, sigMap: { sigPair: [goodPair(bytes)] } }),
      reason: "…transaction_invalid_shape",
    },
    {
      name: "A21 generateRecord",
      transaction: paymentOf(body({ generateRecord: true })),
      reason: "…transaction_invalid_shape",
    },
    {
      name: "A22 node 0.0.0",
      transaction: paymentOf(body({ nodeAccountID: account(0) })),
      reason: "…invalid_node_account",
    },
    {
      name: "A23 an account of shard 1",
      transaction: ofRows(row(777, -value), { accountID: account(888, { shardNum: int64(1) }), amount: int64(value) }),
      reason: "…transaction_invalid_shape",
    },
    {
      name: "A23 a token of shard 1",
      transaction: paymentOf(
        body({ cryptoTransfer: usdcTransfer(twoRows, { token: { shardNum: int64(1), tokenNum: int64(429274) } }) }),
      ),
      reason: "…transaction_invalid_shape",
    },
    { name: "A24 no node id", transaction: paymentOf(body({ nodeAccountID: null })), reason: "…invalid_node_account" },
    {
      name: "A24 a node by alias",
      transaction: paymentOf(body({ nodeAccountID: { alias: Buffer.from("x") } })),
      reason: "…invalid_node_account",
    },
    {
      name: "A25 a newline in the base64",
      transaction: `${good.slice(0, 76)}\n${good.slice(76)}`,
      reason: "…transaction_could_not_be_decoded",
    },
    {
      name: "A25 base64url",
      transaction: Buffer.from(good, "base64")
        .toString("base64url")
        .padEnd(good.length + 1, "="),
      reason: "…transaction_could_not_be_decoded",
    },
    { name: "A25 space behind the base64", transaction: `${good} `, reason: "…transaction_could_not_be_decoded" },
    {
      name: "a number longer than it need be",
      transaction: payload(
        signedBytes(Buffer.concat([bodyBytes(body({ transactionFee: null })), Buffer.from([0x18, 0x80, 0x00])])),
      ),
      reason: "…transaction_could_not_be_decoded",
    },
    {
      name: "a number over 64 bits",
      transaction: payload(
        signedBytes(
          Buffer.concat([bodyBytes(body({ transactionFee: null })), Buffer.from([0x18, ...Array(9).fill(0xff), 0x02])]),
        ),
      ),
      reason: "…transaction_could_not_be_decoded",
    },
    {
      name: "an inner message longer than its outer one",
      transaction: payload(
        signedBytes(Buffer.concat([bodyBytes(body({ nodeAccountID: null })), Buffer.from([0x12, 0x7f])])),
      ),
      reason: "…transaction_could_not_be_decoded",
    },
  ])("$name: refused as $reason", expectRefused);

  test("a pair with two signatures is not readable", () => {
    const pair = Buffer.concat([field(1, payerKey), field(3, randomBytes(64)), field(6, randomBytes(64))]);
    const transaction = payload(Buffer.concat([field(1, bytes), field(2, field(1, pair))]));
    expect(refusalOf(transaction)).toBe(`${prefix}transaction_invalid_shape`);
  });
});
