import { randomBytes } from "node:crypto";
import {
  AccountCreateTransaction,
  AccountInfoQuery,
  Hbar,
  PrivateKey,
  TokenAssociateTransaction,
  TopicCreateTransaction,
  TopicMessageSubmitTransaction,
  type Transaction,
  TransferTransaction,
} from "@hashgraph/sdk";
import { describe, expect } from "vitest";
import { toInt64 } from "../../../infra/local-hedera/hapi/ids.ts";
import { ledgerTest } from "../../support/fixtures.ts";
import { connect, encodeBody, encodeTransaction, paymentBody, signaturesOf, signedPayment } from "./raw.ts";
import { eventually, hbarBalances, mirrorId, type OpenLedger } from "./sdk.ts";

const test = ledgerTest();

/** Tinybars for US dollars at 12 cents the HBAR. */
const tinybars = (dollars: number): bigint => BigInt(Math.round((dollars / 0.12) * 1e8));

const charged = async (on: OpenLedger, transaction: Transaction): Promise<bigint> => {
  const [row] = (await on.mirror(`transactions/${mirrorId(transaction.transactionId!)}`)).transactions;
  return BigInt(row.charged_tx_fee);
};

const near = (actual: bigint, expected: bigint): void => {
  expect(actual).toBeGreaterThanOrEqual(expected - 2n);
  expect(actual).toBeLessThanOrEqual(expected + 2n);
};

describe("the fee", () => {
  test("of a settlement is $0.0011, a little of it for the node and the rest for the network", async ({ on }) => {
    const before = await hbarBalances(on.ledger);
    const payment = on.payment(10);
    await on.settle(payment, on.keys.buyer);
    const after = await hbarBalances(on.ledger);
    const gained = (account: string) => after.get(account)! - before.get(account)!;
    near(await charged(on, payment), tinybars(0.0011));
    expect(gained("0.0.1001")).toBe(-(await charged(on, payment)));
    expect(gained("0.0.3") + gained("0.0.98")).toBe(await charged(on, payment));
    near(gained("0.0.3"), tinybars(0.00002));
  });

  test.for([
    [
      "an HBAR transfer",
      0.0001,
      () => new TransferTransaction().addHbarTransfer("0.0.1005", -1).addHbarTransfer("0.0.1002", 1),
    ],
    [
      "a new account",
      0.05,
      () => new AccountCreateTransaction().setKeyWithoutAlias(PrivateKey.generateED25519().publicKey),
    ],
    ["a topic", 0.01, () => new TopicCreateTransaction()],
  ] as const)("of %s is $%d", async ([_, dollars, make], { on }) => {
    const transaction = make();
    await on.run(transaction);
    near(await charged(on, transaction), tinybars(dollars));
  });

  test("of a message is $0.0008 a chunk", async ({ on }) => {
    const topic = (await on.run(new TopicCreateTransaction())).topicId!;
    const message = new TopicMessageSubmitTransaction().setTopicId(topic).setMessage("x");
    await on.run(message);
    near(await charged(on, message), tinybars(0.0008));
  });

  test("grows with every signature beyond the first and every byte beyond 1,024: the drain by junk signatures", async ({
    on,
  }) => {
    const node = connect(Object.keys(on.ledger.nodes)[0]!);
    const before = await on.hbarBalance("0.0.1001");
    const body = { ...paymentBody(on.ledger), transactionFee: toInt64(1_000_000_000) };
    const bytes = encodeBody(body);
    const junk = Array.from({ length: 40 }, () => ({ pubKeyPrefix: randomBytes(32), ed25519: randomBytes(64) }));
    const transaction = encodeTransaction(bytes, [...signaturesOf(on.ledger, bytes), ...junk]);
    expect(await node.submit(transaction)).toBe("OK");
    await eventually(() => node.receipt(body.transactionID!)).toBe("SUCCESS");
    node.close();
    const dollars = 0.001 + 41 * 0.0001 + (transaction.length - 1_024) * 0.00001;
    near(before - (await on.hbarBalance("0.0.1001")), tinybars(dollars));
    expect(dollars).toBeGreaterThan(0.03);
  });

  test("of a hook named in the payment is its gas, paid by the fee payer though the hook does not exist", async ({
    on,
  }) => {
    const node = connect(Object.keys(on.ledger.nodes)[0]!);
    const hook = { hookId: toInt64(1), evmHookCall: { gasLimit: toInt64(15_000_000) } };
    const payWithHook = async (maxFee: number) => {
      const body = { ...paymentBody(on.ledger), transactionFee: toInt64(maxFee) };
      body.cryptoTransfer!.tokenTransfers![0]!.transfers![0]!.preTxAllowanceHook = hook;
      const precheck = await node.submit(signedPayment(on.ledger, body));
      return { precheck, receipt: () => node.receipt(body.transactionID!) };
    };
    expect((await payWithHook(100_000_000)).precheck).toBe("INSUFFICIENT_TX_FEE");
    const before = await on.hbarBalance("0.0.1001");
    const { precheck, receipt } = await payWithHook(100_000_000_000);
    expect(precheck).toBe("OK");
    await eventually(receipt).toBe("HOOK_NOT_FOUND");
    near(before - (await on.hbarBalance("0.0.1001")), tinybars(0.0011 + 0.005 + 1.278));
    node.close();
  });

  test("at high volume is four times the service's price for a creation, and the same for a transfer", async ({
    on,
  }) => {
    const create = new AccountCreateTransaction().setKeyWithoutAlias(PrivateKey.generateED25519().publicKey);
    create.setHighVolume(true).setMaxTransactionFee(new Hbar(5));
    await on.run(create);
    near(await charged(on, create), tinybars(0.0001 + 4 * 0.0499));
    const payment = on.payment(10).setHighVolume(true);
    expect(await on.settle(payment, on.keys.buyer)).toBe("SUCCESS");
    near(await charged(on, payment), tinybars(0.0011));
  });

  test("is charged though the payment fails", async ({ on }) => {
    const before = await on.hbarBalance("0.0.1001");
    const payment = on.payment(2_000_000_000);
    expect(await on.settle(payment, on.keys.buyer)).toBe("INSUFFICIENT_TOKEN_BALANCE");
    expect(before - (await on.hbarBalance("0.0.1001"))).toBe(await charged(on, payment));
    near(await charged(on, payment), tinybars(0.0011));
  });

  test("is refused, free of charge, when the payment allows less", async ({ on }) => {
    const before = await on.hbarBalance("0.0.1001");
    const payment = on.payment(10).setMaxTransactionFee(Hbar.fromTinybars(916_000));
    expect(await on.settle(payment, on.keys.buyer)).toBe("INSUFFICIENT_TX_FEE");
    expect(await on.hbarBalance("0.0.1001")).toBe(before);
  });

  test("is paid for a query too, out of the payment in it", async ({ on }) => {
    const before = await on.hbarBalance("0.0.1005");
    const query = new AccountInfoQuery().setAccountId("0.0.1003");
    const cost = await query.getCost(on.operated);
    expect(await on.hbarBalance("0.0.1005")).toBe(before);
    await query.execute(on.operated);
    await expect
      .poll(() => on.hbarBalance("0.0.1005"))
      .toBeLessThan(before - BigInt(cost.toTinybars().toString()) / 2n);
  });
});

describe("all HBAR together", () => {
  test("stays the same through successes, failures, creations and faucet", async ({ on }) => {
    const total = async () => [...(await hbarBalances(on.ledger)).values()].reduce((sum, balance) => sum + balance, 0n);
    const before = await total();
    expect(before).toBe(50_000_000_000n * 100_000_000n);
    const key = PrivateKey.generateED25519();
    const account = await on.newAccount(key.publicKey, 20);
    await on.settle(on.payment(10), on.keys.buyer);
    await on.settle(on.payment(2_000_000_000), on.keys.buyer);
    await on.statusWith(new TokenAssociateTransaction().setAccountId(account).setTokenIds([on.ledger.usdc]), key);
    await on.statusWith(
      new TransferTransaction().addHbarTransfer(account, -1_000).addHbarTransfer("0.0.1005", 1_000),
      key,
    );
    on.ledger.faucet.giveHbar(account, 12_345n);
    expect(await total()).toBe(before);
  });
});
