import type { proto } from "@hiero-ledger/proto";
import { describe, expect, test } from "vitest";
import { decodePayment } from "../../../../facilitator/schemes/exact-hedera/checks.ts";
import {
  account,
  amount,
  body,
  config,
  int64,
  payer,
  paymentOf,
  payTo,
  request,
  row,
  secondFeePayer,
  transactionId,
  usdc,
  usdcTransfer,
} from "../payloads.ts";
import { good, prefix, refusalOf, twoBodies, twoRows, value } from "./cases.ts";

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
