import { randomBytes } from "node:crypto";
import { proto } from "@hiero-ledger/proto";
import { describe, expect, test } from "vitest";
import { decodePayment } from "../../../facilitator/schemes/exact-hedera/checks.ts";
import { isRefusal } from "../../../facilitator/schemes/scheme.ts";
import { ApiError } from "../../../shared/errors.ts";
import {
  account,
  amount,
  body,
  bodyBytes,
  config,
  field,
  goodPair,
  int64,
  list,
  payer,
  payerKey,
  payload,
  paymentOf,
  payTo,
  type RequestChange,
  request,
  row,
  secondFeePayer,
  signedBytes,
  token,
  transactionId,
  usdc,
  usdcTransfer,
} from "./payloads.ts";

const value = Number(amount);
const twoRows = [row(777, -value), row(888, value)];
const hex20 = "ab".repeat(20);
const ofRows = (...rows: proto.IAccountAmount[]) => paymentOf(body({ cryptoTransfer: usdcTransfer(rows) }));
const withHbar = (...rows: proto.IAccountAmount[]) =>
  paymentOf(body({ cryptoTransfer: usdcTransfer(twoRows, {}, { transfers: { accountAmounts: rows } }) }));
const appended = (extra: Buffer) => payload(signedBytes(Buffer.concat([bodyBytes(body()), extra])));
const twoBodies = (change: proto.ITransactionBody) => paymentOf(body(), body({ nodeAccountID: account(4), ...change }));
const hook = { hookId: int64(1), evmHookCall: { gasLimit: int64(15_000_000) } };

const prefix = "invalid_exact_hedera_payload_";

interface Case {
  readonly name: string;
  readonly transaction?: unknown;
  readonly change?: RequestChange;
  readonly reason: string;
}

const good = paymentOf(body());

function refusalOf(transaction: unknown, change?: RequestChange): string | undefined {
  const decoded = decodePayment(request(transaction, change), config);
  return isRefusal(decoded) ? decoded.refused : undefined;
}

function expectRefused({ transaction = good, change, reason }: Case): void {
  expect(refusalOf(transaction, change)?.replace(prefix, "…")).toBe(reason);
}

describe("a payment that breaks only one rule is refused with that rule's reason", () => {
  const extraOf = (extra: object | undefined) => ({ requirements: { extra } });
  test.each<Case>([
    {
      name: "H1 the requirements' scheme",
      change: { requirements: { scheme: "upto" }, accepted: { scheme: "exact" } },
      reason: "unsupported_scheme",
    },
    { name: "H1 the accepted scheme", change: { accepted: { scheme: "upto" } }, reason: "unsupported_scheme" },
    {
      name: "H1 no accepted scheme in version 2",
      change: { accepted: { scheme: undefined } },
      reason: "unsupported_scheme",
    },
    {
      name: "H2 the accepted network",
      change: { accepted: { network: "hedera:mainnet" } },
      reason: "network_mismatch",
    },
    { name: "H3 asset", change: { accepted: { asset: "0.0.1" } }, reason: "accepted_payment_requirements_mismatch" },
    { name: "H3 amount", change: { accepted: { amount: "49999" } }, reason: "accepted_payment_requirements_mismatch" },
    { name: "H3 payTo", change: { accepted: { payTo: "0.0.889" } }, reason: "accepted_payment_requirements_mismatch" },
    {
      name: "H3 maxTimeoutSeconds",
      change: { accepted: { maxTimeoutSeconds: 60 } },
      reason: "accepted_payment_requirements_mismatch",
    },
    {
      name: "H3 feePayer",
      change: { accepted: { extra: { feePayer: secondFeePayer } } },
      reason: "accepted_payment_requirements_mismatch",
    },
    {
      name: "H3 extra absent",
      change: { accepted: { extra: undefined } },
      reason: "accepted_payment_requirements_mismatch",
    },
    {
      name: "H3 amount absent",
      change: { accepted: { amount: undefined } },
      reason: "accepted_payment_requirements_mismatch",
    },
    { name: "H4 asset not well formed", change: { requirements: { asset: "usdc" } }, reason: "invalid_asset" },
    { name: "H4 asset not allowed", change: { requirements: { asset: "0.0.429275" } }, reason: "invalid_asset" },
    { name: "H4 HBAR unless configured", change: { requirements: { asset: "0.0.0" } }, reason: "invalid_asset" },
    { name: "H5 payTo", change: { requirements: { payTo: "nobody" } }, reason: "…pay_to" },
    { name: "H5 payTo of another shard", change: { requirements: { payTo: "0.1.888" } }, reason: "…pay_to" },
    { name: "H5 payTo zero", change: { requirements: { payTo: "0.0.0" } }, reason: "…pay_to" },
    ...["0", "-1", "01", "1e3", "0x10", "1.0", "", " 1", "9223372036854775808", "10000000000000000000"].map(
      (given) => ({
        name: `H6 G20 amount ${JSON.stringify(given)}`,
        change: { requirements: { amount: given } },
        reason: "invalid_amount",
      }),
    ),
    { name: "amount below the minimum", change: { requirements: { amount: "999" } }, reason: "amount_below_minimum" },
    { name: "H7 no extra", change: extraOf(undefined), reason: "…missing_fee_payer" },
    { name: "H7 no fee payer", change: extraOf({}), reason: "…missing_fee_payer" },
    { name: "H7 fee payer no text", change: extraOf({ feePayer: 9999 }), reason: "…missing_fee_payer" },
    {
      name: "H8 somebody else's fee payer",
      change: extraOf({ feePayer: "0.0.5555" }),
      reason: "fee_payer_not_managed_by_facilitator",
    },
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
    { name: "H13 HBAR sum", transaction: withHbar(row(777, -5), row(888, 4)), reason: "…hbar_sum_non_zero" },
    {
      name: "H14 HBAR from the fee payer",
      transaction: withHbar(row(9999, -5), row(888, 5)),
      reason: "…fee_payer_transferring_hbar",
    },
    {
      name: "H14 HBAR from our other fee payer",
      transaction: withHbar(row(9998, -5), row(888, 5)),
      reason: "…fee_payer_transferring_hbar",
    },
    {
      name: "H15 HBAR beside the token",
      transaction: withHbar(row(777, -5), row(888, 5)),
      reason: "…unexpected_hbar_transfers",
    },
    {
      name: "H16 another token",
      transaction: paymentOf(body({ cryptoTransfer: usdcTransfer(twoRows, { token: token(1) }) })),
      reason: "…asset_mismatch",
    },
    {
      name: "H16 a second token",
      transaction: paymentOf(
        body({
          cryptoTransfer: usdcTransfer(
            [],
            {},
            { tokenTransfers: [429274, 1].map((num) => ({ token: token(num), transfers: twoRows })) },
          ),
        }),
      ),
      reason: "…asset_mismatch",
    },
    {
      name: "H16 no token",
      transaction: paymentOf(body({ cryptoTransfer: { transfers: { accountAmounts: [] } } })),
      reason: "…asset_mismatch",
    },
    {
      name: "H17 token sum",
      transaction: ofRows(row(777, -value - 1), row(888, value)),
      reason: "…asset_sum_non_zero",
    },
    {
      name: "H18 tokens from the fee payer",
      transaction: ofRows(row(9999, -value), row(888, value)),
      reason: "…fee_payer_transferring_funds",
    },
    {
      name: "H18 tokens from our other fee payer",
      transaction: ofRows(row(9998, -value), row(888, value)),
      reason: "…fee_payer_transferring_funds",
    },
    {
      name: "H19 one too few",
      transaction: ofRows(row(777, 1 - value), row(888, value - 1)),
      reason: "…amount_mismatch",
    },
    {
      name: "H19 one too many",
      transaction: ofRows(row(777, -1 - value), row(888, value + 1)),
      reason: "…amount_mismatch",
    },
    {
      name: "H19 the other way round",
      transaction: ofRows(row(777, value), row(888, -value)),
      reason: "…amount_mismatch",
    },
    {
      name: "H20 somebody else paid too",
      transaction: ofRows(row(777, -value - 1), row(888, value), row(666, 1)),
      reason: "…extra_positive_transfers",
    },
    {
      name: "H21 payTo an EVM address",
      change: { requirements: { payTo: `0x${hex20}` } },
      reason: "…pay_to_alias_not_allowed",
    },
    {
      name: "H21 payTo a long alias",
      change: { requirements: { payTo: `0.0.${hex20}` } },
      reason: "…pay_to_alias_not_allowed",
    },
    {
      name: "two accounts paying together",
      transaction: ofRows(row(777, 1 - value), row(778, -1), row(888, value)),
      reason: "…transaction_invalid_shape",
    },
    {
      name: "G1 an account twice",
      transaction: ofRows(row(777, -value), row(888, value - 1), row(888, 1)),
      reason: "…transaction_invalid_shape",
    },
    {
      name: "G1 a token twice",
      transaction: paymentOf(
        body({
          cryptoTransfer: usdcTransfer(
            [],
            {},
            {
              tokenTransfers: [
                [777, 888],
                [778, 889],
              ].map(([from = 0, to = 0]) => ({ token: token(429274), transfers: [row(from, -value), row(to, value)] })),
            },
          ),
        }),
      ),
      reason: "…transaction_invalid_shape",
    },
    {
      name: "payer and payTo the same",
      transaction: ofRows(row(888, -value), row(888, value)),
      reason: "…transaction_invalid_shape",
    },
    {
      name: "G2 an NFT of the fee payer",
      transaction: paymentOf(
        body({
          cryptoTransfer: usdcTransfer(twoRows, {
            nftTransfers: [{ senderAccountID: account(9999), receiverAccountID: account(777), serialNumber: int64(1) }],
          }),
        }),
      ),
      reason: "…contains_non_transfer_ops",
    },
    {
      name: "G2 an NFT of another token",
      transaction: paymentOf(
        body({
          cryptoTransfer: usdcTransfer(
            [],
            {},
            {
              tokenTransfers: [
                { token: token(429274), transfers: twoRows },
                {
                  token: token(1),
                  nftTransfers: [
                    { senderAccountID: account(9999), receiverAccountID: account(777), serialNumber: int64(1) },
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
      name: "G3 an allowance spent",
      transaction: ofRows(row(777, -value, { isApproval: true }), row(888, value)),
      reason: "…contains_non_transfer_ops",
    },
    {
      name: "G4 payTo's row by alias",
      transaction: ofRows(row(777, -value), { accountID: { alias: randomBytes(20) }, amount: int64(value) }),
      reason: "…transaction_invalid_shape",
    },
    {
      name: "G4 the payer's row in another realm",
      transaction: ofRows({ accountID: account(777, { realmNum: int64(1) }), amount: int64(-value) }, row(888, value)),
      reason: "…transaction_invalid_shape",
    },
    {
      name: "G4 number and alias both",
      transaction: ofRows(row(777, -value), row(888, value, { accountID: account(888, { alias: randomBytes(20) }) })),
      reason: "…transaction_invalid_shape",
    },
    {
      name: "G5 a hook before the transfer",
      transaction: ofRows(row(777, -value, { preTxAllowanceHook: hook }), row(888, value)),
      reason: "…contains_non_transfer_ops",
    },
    {
      name: "G5 a hook around the transfer",
      transaction: ofRows(row(777, -value), row(888, value, { prePostTxAllowanceHook: hook })),
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
    {
      name: "G19 the fee payer as payTo",
      transaction: ofRows(row(777, -value), row(9999, value)),
      change: { requirements: { payTo: "0.0.9999" } },
      reason: "…fee_payer_transferring_funds",
    },
    {
      name: "G19 the fee payer in an empty row",
      transaction: ofRows(row(777, -value), row(888, value), row(9999, 0)),
      reason: "…fee_payer_transferring_funds",
    },
    {
      name: "an unknown transfer method",
      change: extraOf({ feePayer: "0.0.9999", assetTransferMethod: "transferExecutor" }),
      reason: "invalid_exact_hedera_unsupported_asset_transfer_method",
    },
  ])("$name", expectRefused);
});

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
  ])("$name", expectRefused);

  test("a pair with two signatures is not readable", () => {
    const pair = Buffer.concat([field(1, payerKey), field(3, randomBytes(64)), field(6, randomBytes(64))]);
    const transaction = payload(Buffer.concat([field(1, bytes), field(2, field(1, pair))]));
    expect(refusalOf(transaction)).toBe(`${prefix}transaction_invalid_shape`);
  });
});

describe("a payment that keeps every rule", () => {
  test("is known by its transaction id, whoever encoded it and however", () => {
    const seconds = 1_700_000_000;
    const id = transactionId({ transactionValidStart: { seconds: int64(seconds), nanos: 5 } });
    const decoded = decodePayment(request(paymentOf(body({ transactionID: id }))), config);
    expect(decoded).toMatchObject({
      key: "0.0.9999@1700000000.000000005",
      payer,
      payTo,
      asset: usdc,
      amount,
      expiresAt: new Date((seconds + 130) * 1_000),
    });
  });

  test("may name nodes we do not know, as long as it names one we do; only that one is kept", () => {
    const decoded = decodePayment(request(twoBodies({ nodeAccountID: account(77) })), config);
    expect(decoded).toMatchObject({ bodies: [{ node: "0.0.3" }] });
  });

  test("may come in version 1, which says less", () => {
    const envelope = { version: 1, accepted: {} };
    expect(refusalOf(good, { envelope })).toBeUndefined();
    expect(
      refusalOf(good, { envelope: { ...envelope, accepted: { scheme: "exact", network: "hedera:testnet" } } }),
    ).toBeUndefined();
    expect(refusalOf(good, { envelope: { ...envelope, accepted: { network: "hedera:mainnet" } } })).toBe(
      "network_mismatch",
    );
    expect(refusalOf(good, { envelope: { ...envelope, accepted: { amount: "1" } } })).toBe(
      "accepted_payment_requirements_mismatch",
    );
  });

  test("may name the transfer method it uses", () => {
    expect(
      refusalOf(good, { requirements: { extra: { feePayer: "0.0.9999", assetTransferMethod: "cryptoTransfer" } } }),
    ).toBeUndefined();
  });

  test("may have its fee paid by any of our fee payers", () => {
    const transaction = paymentOf(body({ transactionID: transactionId({ accountID: account(9998) }) }));
    expect(refusalOf(transaction, { requirements: { extra: { feePayer: secondFeePayer } } })).toBeUndefined();
  });

  test("may be in HBAR where HBAR is allowed, and then in nothing else", () => {
    const hbarConfig = { ...config, assets: ["0.0.0", usdc] };
    const hbarRequest = (transfer: proto.ICryptoTransferTransactionBody) =>
      request(paymentOf(body({ cryptoTransfer: transfer })), { requirements: { asset: "0.0.0" } });
    const transfers = { accountAmounts: twoRows };
    expect(decodePayment(hbarRequest({ transfers }), hbarConfig)).toMatchObject({ payer, asset: "0.0.0", amount });
    const mixed = decodePayment(hbarRequest(usdcTransfer(twoRows, {}, { transfers })), hbarConfig);
    expect(mixed).toMatchObject({ refused: `${prefix}asset_mismatch` });
    const drained = { accountAmounts: [row(9999, -value), row(888, value)] };
    expect(decodePayment(hbarRequest({ transfers: drained }), hbarConfig)).toMatchObject({
      refused: `${prefix}fee_payer_transferring_hbar`,
    });
    const onItself = { accountAmounts: [] };
    expect(decodePayment(hbarRequest({ transfers: onItself }), hbarConfig)).toMatchObject({
      refused: `${prefix}asset_mismatch`,
    });
  });
});

test.each([undefined, null, 7, {}, ["x"]])(
  "payload.transaction %j is a malformed request that names the field",
  (transaction) => {
    expect(() => decodePayment(request(transaction), config)).toThrow(ApiError);
    expect(() => decodePayment(request(transaction), config)).toThrow("paymentPayload.payload.transaction");
  },
);
