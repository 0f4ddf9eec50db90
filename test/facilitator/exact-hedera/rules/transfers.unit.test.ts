import { randomBytes } from "node:crypto";
import { describe, test } from "vitest";
import { account, body, int64, paymentOf, row, token, usdcTransfer } from "../payloads.ts";
import { type Case, expectRefused, hook, ofRows, twoRows, value, withHbar } from "./cases.ts";

describe("transfers that break only one rule are refused with that rule's reason", () => {
  test.each<Case>([
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
  ])("$name: refused as $reason", expectRefused);
});
