import { AccountId, KeyList, PrivateKey, Timestamp, TransactionId, TransferTransaction } from "@hashgraph/sdk";
import { describe, expect } from "vitest";
import { ledgerTest } from "../../support/fixtures.ts";
import { connect } from "./raw.ts";
import { eventually, mirrorId, type OpenLedger } from "./sdk.ts";

const test = ledgerTest();

/** A payer with 1,000 units of USDC, whose key is `key`. */
const payerWith = async (on: OpenLedger, key: PrivateKey | KeyList, ...signers: PrivateKey[]): Promise<string> => {
  const account = await on.newAccount("publicKey" in key ? key.publicKey : key);
  await on.associate(account, on.ledger.usdc, ...signers);
  on.ledger.faucet.giveToken(account, 1_000n);
  return account;
};

describe("a payment signed by the payer and paid for by the fee payer", () => {
  test("moves exactly the amount from an ed25519 payer", async ({ on }) => {
    const before = await Promise.all([on.tokenBalance("0.0.1003"), on.tokenBalance("0.0.1002")]);
    expect(await on.settle(on.payment(50_000), on.keys.buyer)).toBe("SUCCESS");
    expect(await on.tokenBalance("0.0.1003")).toBe(before[0]! - 50_000);
    expect(await on.tokenBalance("0.0.1002")).toBe(before[1]! + 50_000);
  });

  test("is taken from an ECDSA payer", async ({ on }) => {
    const key = PrivateKey.generateECDSA();
    const payer = await payerWith(on, key, key);
    expect(await on.settle(on.payment(400, { from: payer }), key)).toBe("SUCCESS");
    expect(await on.tokenBalance(payer)).toBe(600);
  });

  test("is taken from a payer of whose three keys two signed, and not from one of whose three only one did", async ({
    on,
  }) => {
    const all = [PrivateKey.generateED25519(), PrivateKey.generateECDSA(), PrivateKey.generateED25519()] as const;
    const payer = await payerWith(
      on,
      new KeyList(
        all.map(({ publicKey }) => publicKey),
        2,
      ),
      all[0],
      all[1],
    );
    expect(await on.settle(on.payment(100, { from: payer }), all[2], all[1])).toBe("SUCCESS");
    expect(await on.settle(on.payment(100, { from: payer }), all[2])).toBe("INVALID_SIGNATURE");
    expect(await on.tokenBalance(payer)).toBe(900);
  });

  test("is taken once: the same payload again is a duplicate", async ({ on }) => {
    const payment = on.payment(10);
    expect(await on.settle(payment, on.keys.buyer)).toBe("SUCCESS");
    const before = await on.tokenBalance("0.0.1002");
    expect(await on.statusOf(payment, on.client)).toBe("DUPLICATE_TRANSACTION");
    expect(await on.tokenBalance("0.0.1002")).toBe(before);
  });

  test("is taken once when twenty submit it at once, over three nodes", async ({ on }) => {
    const before = (await on.tokenBalance("0.0.1002"))!;
    const payment = on.payment(10, { nodes: ["0.0.3", "0.0.4", "0.0.5"] }).freeze();
    await payment.sign(on.keys.buyer);
    await payment.sign(on.keys.feePayer);
    const bytes = payment.toBytes();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => on.statusOf(TransferTransaction.fromBytes(bytes), on.client)),
    );
    expect(answers.filter((status) => status === "SUCCESS")).toHaveLength(1);
    expect(answers.filter((status) => status === "DUPLICATE_TRANSACTION")).toHaveLength(19);
    expect(await on.tokenBalance("0.0.1002")).toBe(before + 10);
  });
});

describe("a payment that cannot be made", () => {
  test.for([
    ["nobody signed for the payer", []],
    ["somebody else signed for the payer", [PrivateKey.generateED25519()]],
  ] as const)("fails with INVALID_SIGNATURE when %s", async ([_, signers], { on }) => {
    const before = await on.tokenBalance("0.0.1003");
    expect(await on.settle(on.payment(10), ...signers)).toBe("INVALID_SIGNATURE");
    expect(await on.tokenBalance("0.0.1003")).toBe(before);
  });

  test("is refused before anything is charged when the fee payer did not sign", async ({ on }) => {
    const before = await on.hbarBalance("0.0.1001");
    const payment = on.payment(10).freeze();
    await payment.sign(on.keys.buyer);
    expect(await on.statusOf(payment, on.client)).toBe("INVALID_SIGNATURE");
    expect(await on.hbarBalance("0.0.1001")).toBe(before);
  });

  test("fails when the receiver has not associated the token", async ({ on }) => {
    const stranger = await on.newAccount(PrivateKey.generateED25519().publicKey);
    expect(await on.settle(on.payment(10, { to: stranger }), on.keys.buyer)).toBe("TOKEN_NOT_ASSOCIATED_TO_ACCOUNT");
  });

  test("fails when the payer has not enough", async ({ on }) => {
    expect(await on.settle(on.payment(2_000_000_000), on.keys.buyer)).toBe("INSUFFICIENT_TOKEN_BALANCE");
  });

  test("leaves no trace but the fee when a later leg fails", async ({ on }) => {
    const key = PrivateKey.generateED25519();
    const stranger = await on.newAccount(key.publicKey);
    const before = await Promise.all([
      on.tokenBalance("0.0.1003"),
      on.tokenBalance("0.0.1002"),
      on.hbarBalance("0.0.1002"),
    ]);
    const payment = on
      .payment(10)
      .addTokenTransfer(on.ledger.usdc, "0.0.1003", -5)
      .addTokenTransfer(on.ledger.usdc, stranger, 5)
      .addHbarTransfer("0.0.1003", -7)
      .addHbarTransfer("0.0.1002", 7);
    expect(await on.settle(payment, on.keys.buyer)).toBe("TOKEN_NOT_ASSOCIATED_TO_ACCOUNT");
    expect(
      await Promise.all([on.tokenBalance("0.0.1003"), on.tokenBalance("0.0.1002"), on.hbarBalance("0.0.1002")]),
    ).toEqual(before);
    const [row] = (await on.mirror(`transactions/${mirrorId(payment.transactionId!)}`)).transactions;
    expect(row.token_transfers).toEqual([]);
    expect(row.transfers.map(({ account }: { account: string }) => account)).toEqual(["0.0.3", "0.0.98", "0.0.1001"]);
  });

  test("is told apart by an unknown payer, an unknown receiver and an unknown token", async ({ on }) => {
    const unknownFeePayer = on.payment(1, { id: TransactionId.generate("0.0.999999") });
    expect(await on.settle(unknownFeePayer, on.keys.buyer)).toBe("PAYER_ACCOUNT_NOT_FOUND");
    expect(await on.settle(on.payment(1, { to: "0.0.999999" }), on.keys.buyer)).toBe("INVALID_ACCOUNT_ID");
    expect(await on.settle(on.payment(1, { token: "0.0.999999" }), on.keys.buyer)).toBe("INVALID_TOKEN_ID");
  });
});

describe("the validity of a payment", () => {
  const startingIn = (on: OpenLedger, seconds: number) => {
    const start = new Timestamp(Math.floor(Date.now() / 1_000) + seconds, Math.floor(Math.random() * 999_999_999));
    return on.payment(1, { id: TransactionId.withValidStart(AccountId.fromString("0.0.1001"), start) });
  };

  test("ends ten seconds before the duration does", async ({ on }) => {
    expect(await on.settle(startingIn(on, -112), on.keys.buyer)).toBe("TRANSACTION_EXPIRED");
    // In time unless the machine stands still for seconds.
    await expect.poll(() => on.settle(startingIn(on, -105), on.keys.buyer)).toBe("SUCCESS");
  });

  test("does not begin in the future", async ({ on }) => {
    expect(await on.settle(startingIn(on, 5), on.keys.buyer)).toBe("INVALID_TRANSACTION_START");
  });

  test.for([
    [181, "INVALID_TRANSACTION_DURATION"],
    [180, "SUCCESS"],
    [15, "SUCCESS"],
    [14, "INVALID_TRANSACTION_DURATION"],
  ] as const)("may last %i seconds: %s", async ([seconds, status], { on }) => {
    const settled = () => on.settle(startingIn(on, -1).setTransactionValidDuration(seconds), on.keys.buyer);
    await expect.poll(settled).toBe(status);
  });

  test("is over when consensus comes too late, and then nobody is charged", async ({ on }) => {
    const before = await on.hbarBalance("0.0.1001");
    const payment = startingIn(on, -104);
    on.ledger.faults.set({ consensusDelayMs: 60_000 });
    const settled = on.settle(payment, on.keys.buyer);
    const node = connect(Object.keys(on.ledger.nodes)[0]!);
    await eventually(() => node.receipt(payment.transactionId!._toProtobuf())).toBe("UNKNOWN");
    node.close();
    on.ledger.faults.set({ clockOffsetMs: 30_000, consensusDelayMs: 2 });
    expect(await settled).toBe("TRANSACTION_EXPIRED");
    on.ledger.faults.clear();
    expect(await on.hbarBalance("0.0.1001")).toBe(before);
  });
});

describe("automatic association", () => {
  test("takes a free slot, and none is left after the last", async ({ on }) => {
    const { accountId } = on.ledger.faucet.createAccount({
      publicKey: PrivateKey.generateED25519().publicKey.toStringRaw(),
      maxAutoAssociations: 1,
    });
    expect(await on.settle(on.payment(10, { to: accountId }), on.keys.buyer)).toBe("SUCCESS");
    expect((await on.mirror(`accounts/${accountId}/tokens`)).tokens).toMatchObject([
      { automatic_association: true, balance: 10 },
    ]);
    const second = await on.newToken({ treasury: "0.0.1003", treasuryKey: on.keys.buyer });
    expect(await on.settle(on.payment(1, { to: accountId, token: second }), on.keys.buyer)).toBe(
      "NO_REMAINING_AUTOMATIC_ASSOCIATIONS",
    );
  });

  test("costs whoever pays for the transaction five cents more", async ({ on }) => {
    const { accountId } = on.ledger.faucet.createAccount({
      publicKey: PrivateKey.generateED25519().publicKey.toStringRaw(),
      maxAutoAssociations: -1,
    });
    const payment = on.payment(10, { to: accountId });
    await on.settle(payment, on.keys.buyer);
    const [row] = (await on.mirror(`transactions/${mirrorId(payment.transactionId!)}`)).transactions;
    // $0.0511 at 12 cents the HBAR.
    expect(row.charged_tx_fee).toBeGreaterThanOrEqual(42_583_333);
    expect(row.charged_tx_fee).toBeLessThanOrEqual(42_583_335);
  });
});
