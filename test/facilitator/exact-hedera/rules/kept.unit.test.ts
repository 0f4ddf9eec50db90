import type { proto } from "@hiero-ledger/proto";
import { describe, expect, test } from "vitest";
import { decodePayment } from "../../../../facilitator/schemes/exact-hedera/checks.ts";
import type { HederaConfig } from "../../../../facilitator/schemes/exact-hedera/config.ts";
import type { HederaPayment } from "../../../../facilitator/schemes/exact-hedera/payload.ts";
import type { Refusal } from "../../../../facilitator/schemes/scheme.ts";
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

  test("is known for what it is where only the configuration or the list of nodes refuses it: it may have been claimed before", () => {
    const asked = request(paymentOf(body()));
    const { key, messageDigest } = decodePayment(asked, config) as HederaPayment;
    const refused = (changed: Partial<HederaConfig>, nodes?: readonly string[]) =>
      decodePayment(asked, { ...config, ...changed }, nodes) as Refusal;
    for (const [refusal, reason] of [
      [refused({}, ["0.0.77"]), "invalid_exact_hedera_payload_invalid_node_account"],
      [refused({ feePayers: [] }), "fee_payer_not_managed_by_facilitator"],
      [refused({ assets: [], feePayers: [] }, ["0.0.77"]), "invalid_asset"],
      [refused({ amountMin: amount + 1n }), "amount_below_minimum"],
    ] as const) {
      const payment = { key, messageDigest, bodies: [{ node: "0.0.3" }] };
      expect(refusal).toMatchObject({ refused: reason, payment });
    }
    const broken = request(paymentOf(body({ transactionValidDuration: { seconds: int64(1) } })));
    const both = decodePayment(broken, { ...config, feePayers: [] });
    expect(both).toMatchObject({ refused: "fee_payer_not_managed_by_facilitator" });
    expect(both).not.toHaveProperty("payment");
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
