import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { decodePayment } from "../../../../facilitator/schemes/exact-hedera/checks.ts";
import { ApiError } from "../../../../shared/errors.ts";
import {
  account,
  body,
  bodyBytes,
  config,
  field,
  goodPair,
  int64,
  payerKey,
  payload,
  paymentOf,
  request,
  row,
  signedBytes,
  token,
  transactionId,
  usdcTransfer,
} from "../payloads.ts";
import { appended, type Case, expectRefused, good, ofRows, twoBodies, twoRows } from "./cases.ts";

describe("a transaction that breaks only one rule is refused with that rule's reason", () => {
  test.each<Case>([
    { name: "H9 no base64", transaction: "%%%", reason: "…transaction_could_not_be_decoded" },
    { name: "H9 empty", transaction: "", reason: "…transaction_could_not_be_decoded" },
    {
      name: "H9 no protobuf",
      transaction: Buffer.from("hello there").toString("base64"),
      reason: "…transaction_could_not_be_decoded",
    },
    {
      name: "H9 cut short",
      transaction: Buffer.from(good, "base64").subarray(0, -3).toString("base64"),
      reason: "…transaction_could_not_be_decoded",
    },
    {
      name: "H10 no transaction id",
      transaction: paymentOf(body({ transactionID: null })),
      reason: "…transaction_invalid_shape",
    },
    {
      name: "H10 the fee payer by alias",
      transaction: paymentOf(body({ transactionID: transactionId({ accountID: { alias: randomBytes(20) } }) })),
      reason: "…transaction_invalid_shape",
    },
    {
      name: "H10 an empty list of another token",
      transaction: paymentOf(
        body({
          cryptoTransfer: usdcTransfer(
            [],
            {},
            { tokenTransfers: [{ token: token(429274), transfers: twoRows }, { token: token(1) }] },
          ),
        }),
      ),
      reason: "…transaction_invalid_shape",
    },
    {
      name: "H9 a memo that is no UTF-8",
      transaction: payload(
        signedBytes(Buffer.concat([bodyBytes(body({ memo: null } as never)), field(6, Buffer.from([0xff, 0xfe]))])),
      ),
      reason: "…transaction_could_not_be_decoded",
    },
    {
      name: "H10 no valid start",
      transaction: paymentOf(body({ transactionID: transactionId({ transactionValidStart: null }) })),
      reason: "…transaction_invalid_shape",
    },
    {
      name: "H10 nanoseconds out of range",
      transaction: paymentOf(
        body({ transactionID: transactionId({ transactionValidStart: { seconds: int64(1), nanos: 1e9 } }) }),
      ),
      reason: "…transaction_invalid_shape",
    },
    {
      name: "H11 fee paid by another of our fee payers",
      transaction: paymentOf(body({ transactionID: transactionId({ accountID: account(9998) }) })),
      reason: "…fee_payer_mismatch",
    },
    {
      name: "H11 fee paid by the payer",
      transaction: paymentOf(body({ transactionID: transactionId({ accountID: account(777) }) })),
      reason: "…fee_payer_mismatch",
    },
    {
      name: "H12 another operation",
      transaction: paymentOf(
        body({
          cryptoTransfer: null,
          cryptoDelete: { transferAccountID: account(777), deleteAccountID: account(9999) },
        }),
      ),
      reason: "…contains_non_transfer_ops",
    },
    {
      name: "H12 no operation",
      transaction: paymentOf(body({ cryptoTransfer: null })),
      reason: "…contains_non_transfer_ops",
    },
    {
      name: "H12 a second operation beside the transfer",
      transaction: appended(field(12, Buffer.alloc(0))),
      reason: "…contains_non_transfer_ops",
    },
    {
      name: "G6 an unknown field in the body",
      transaction: appended(field(999, 7)),
      reason: "…transaction_invalid_shape",
    },
    {
      name: "G6 a field given twice",
      transaction: appended(field(3, 100_000_000)),
      reason: "…transaction_invalid_shape",
    },
    {
      name: "G7 scheduled",
      transaction: paymentOf(body({ transactionID: transactionId({ scheduled: true }) })),
      reason: "…transaction_invalid_shape",
    },
    {
      name: "G7 nonce",
      transaction: paymentOf(body({ transactionID: transactionId({ nonce: 1 }) })),
      reason: "…transaction_invalid_shape",
    },
    {
      name: "G7 batch key",
      transaction: paymentOf(body({ batchKey: { ed25519: payerKey } })),
      reason: "…transaction_invalid_shape",
    },
    {
      name: "G8 duration 14 s",
      transaction: paymentOf(body({ transactionValidDuration: { seconds: int64(14) } })),
      reason: "…transaction_expired",
    },
    {
      name: "G8 duration 181 s",
      transaction: paymentOf(body({ transactionValidDuration: { seconds: int64(181) } })),
      reason: "…transaction_expired",
    },
    {
      name: "G8 no duration",
      transaction: paymentOf(body({ transactionValidDuration: null })),
      reason: "…transaction_expired",
    },
    {
      name: "G9 maximum fee over the cap",
      transaction: paymentOf(body({ transactionFee: int64(200_000_001) })),
      reason: "…max_fee_exceeded",
    },
    {
      name: "G10 only unknown nodes",
      transaction: paymentOf(body({ nodeAccountID: account(77) })),
      reason: "…invalid_node_account",
    },
    {
      name: "G11 memo over 100 bytes",
      transaction: paymentOf(body({ memo: "é".repeat(51) })),
      reason: "…transaction_invalid_shape",
    },
    {
      name: "G11 zero byte in the memo",
      transaction: paymentOf(body({ memo: "a\0b" })),
      reason: "…transaction_invalid_shape",
    },
    { name: "G11 over 32 KB", transaction: "A".repeat(43_696), reason: "…transaction_invalid_shape" },
    {
      name: "G11 41 bodies",
      transaction: paymentOf(...Array.from({ length: 41 }, (_, index) => body({ nodeAccountID: account(3 + index) }))),
      reason: "…transaction_invalid_shape",
    },
    {
      name: "G11 21 signatures",
      transaction: payload(
        signedBytes(
          bodyBytes(body()),
          Array.from({ length: 21 }, () => goodPair(bodyBytes(body()))),
        ),
      ),
      reason: "…transaction_invalid_shape",
    },
    {
      name: "G11 a body over what a node takes",
      transaction: ofRows(...Array.from({ length: 600 }, (_, index) => row(1000 + index, 0))),
      reason: "…transaction_invalid_shape",
    },
    {
      name: "G12 bodies that differ",
      transaction: twoBodies({ memo: "x" }),
      reason: "…transaction_could_not_be_decoded",
    },
  ])("$name: refused as $reason", expectRefused);
});

test.each([undefined, null, 7, {}, ["x"]])(
  "payload.transaction %j is a malformed request that names the field",
  (transaction) => {
    expect(() => decodePayment(request(transaction), config)).toThrow(ApiError);
    expect(() => decodePayment(request(transaction), config)).toThrow("paymentPayload.payload.transaction");
  },
);
