import { AccountUpdateTransaction, PrivateKey } from "@hashgraph/sdk";
import { describe, expect } from "vitest";
import { type Claiming, isRefusal, type Outcome } from "../../../facilitator/schemes/scheme.ts";
import { Secret } from "../../../shared/env.ts";
import { elapse } from "../../support/elapse.ts";
import {
  anyTerms,
  claimed,
  execute,
  type HederaSetting,
  hederaSchemeTest,
  newBuyer,
  newId,
  price,
  settingOn,
  settled,
  submitted,
  usdcOf,
  verified,
} from "./setting.ts";

const test = hederaSchemeTest();

test.beforeAll(async ({ setting }) => {
  await setting.scheme.start();
});

const mirrorId = (transaction: string) => transaction.replace("@", "-").replace(/\.(\d+)$/, "-$1");
const creatorHas = (setting: HederaSetting) => usdcOf(setting.ledger, setting.ledger.accounts.creator.accountId);

describe("a payment settles and moves its amount once", () => {
  test.for<[string, Record<string, number>, string?]>([
    ["on a healthy ledger", {}],
    ["when nodes are busy", { busy: 2 }],
    ["when every node is busy for a round", { busy: 3 }],
    ["when a node is away before it takes the transaction", { unavailable: 1 }],
    ["when every node is away for a moment", { unavailable: 3 }],
    ["when a node takes the transaction and its connection breaks", { resetReply: 1 }],
    ["when a node takes the transaction and never answers", { dropReply: 1 }],
    ["when a node takes the transaction and loses it", { loseTx: 1 }],
    ["when nodes do not answer for receipts", { queryUnavailable: 6 }],
    ["when nodes never answer for receipts, but the mirror does", { queryUnavailable: 10_000 }],
    ["when the ledger is slow", { consensusDelayMs: 700 }],
    ["when the mirror lags", { mirrorLagMs: 5_000 }],
  ])("%s", async ([_name, faults], { setting }) => {
    const before = await creatorHas(setting);
    const asked = await setting.pay();
    const payment = await verified(setting.scheme, asked);
    setting.ledger.faults.set(faults);
    const outcome = await submitted(setting, payment);
    expect(outcome).toEqual({ outcome: "settled", transaction: payment.key });
    setting.ledger.faults.clear();
    expect(await creatorHas(setting)).toBe(before + price);
  });
});

/** Where the machine stalled in between, what was sent counts as unknown, rightly: then another payment is tried. */
async function notStalled<T extends { outcome: Outcome }>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    const tried = await attempt();
    if (tried.outcome.outcome !== "unknown") return tried;
  }
}

describe("a payment that nothing happened to can be settled again", () => {
  test("when every node stays busy", async ({ setting }) => {
    const before = await creatorHas(setting);
    setting.ledger.faults.set({ busy: 1_000 });
    const { asked, outcome } = await notStalled(async () => {
      const payment = await setting.pay();
      return { asked: payment, outcome: await settled(setting, payment) };
    });
    expect(outcome).toMatchObject({ outcome: "failed", reason: "transaction_failed", retryable: true });
    setting.ledger.faults.clear();
    expect(await settled(setting, asked)).toMatchObject({ outcome: "settled" });
    expect(await creatorHas(setting)).toBe(before + price);
  });

  test("when its claim, with what was signed, was certainly not stored, or another caller has it", async ({
    setting,
  }) => {
    const before = await creatorHas(setting);
    const payment = await verified(setting.scheme, await setting.pay());
    const wanted = { network: "hedera:testnet", scheme: "exact", payment, terms: anyTerms };
    const unstorable: Claiming = { wanted: { ...wanted, terms: { ...anyTerms, resourceUrl: "a zero byte\u0000" } } };
    const deadline = new Date(Date.now() + 20_000);
    expect(await setting.scheme.claimAndSubmit!(payment, unstorable, deadline)).toBe("unclaimed");
    expect(unstorable.claim).toBeUndefined();
    const claim = await claimed(setting, payment);
    expect(await setting.scheme.claimAndSubmit!(payment, { wanted }, deadline)).toBe("unclaimed");
    expect(await creatorHas(setting)).toBe(before);
    expect(await setting.scheme.submit(payment, claim, deadline)).toMatchObject({ outcome: "settled" });
    expect(await creatorHas(setting)).toBe(before + price);
  });

  test("when its claim was lost before it was sent", async ({ setting }) => {
    const asked = await setting.pay();
    const payment = await verified(setting.scheme, asked);
    const claim = await setting.store.claim("hedera:testnet", "exact", payment, {
      resourceUrl: undefined,
      failuresMax: 0,
      failuresPerDayMax: 0,
    });
    await setting.db.query("update payments set state = 'failed', retryable = true where id = $1", [claim!.id]);
    const outcome = await setting.scheme.submit(payment, claim!, new Date(Date.now() + 5_000));
    expect(outcome).toMatchObject({ outcome: "failed", retryable: true });
    const response = await fetch(`${setting.ledger.mirrorUrl}/api/v1/transactions/${mirrorId(payment.key)}`);
    expect(response.status).toBe(404);
  });
});

describe("nodes that are away for good", () => {
  test("do not keep a payment from the one that is there", async ({ setting }) => {
    const nodes = { "127.0.0.1:1": "0.0.3", "127.0.0.1:2": "0.0.4", ...only(setting, 5) };
    const lame = await settingOn(setting.ledger, { nodes });
    await lame.scheme.start();
    expect(await settled(lame, await setting.pay())).toMatchObject({ outcome: "settled" });
    await lame.stop();
  });

  test("leave a payment as it was when there is no other", async ({ setting }) => {
    const deaf = await settingOn(setting.ledger, { nodes: { "127.0.0.1:1": "0.0.3" } });
    await deaf.scheme.start();
    const { outcome } = await notStalled(async () => ({
      outcome: await settled(deaf, await setting.pay({ nodes: [3] })),
    }));
    expect(outcome).toMatchObject({ outcome: "failed", reason: "transaction_failed", retryable: true });
    await deaf.stop();
  });

  const only = (setting: HederaSetting, node: number) =>
    Object.fromEntries(Object.entries(setting.ledger.nodes).filter(([, id]) => id === `0.0.${node}`));
});

describe("what a node refuses costs nothing and says why", () => {
  test("the validity ended on the way", async ({ setting }) => {
    const { outcome } = await notStalled(async () => {
      const payment = await verified(setting.scheme, await setting.pay());
      setting.ledger.faults.set({ clockOffsetMs: 115_000 });
      const tried = await submitted(setting, payment);
      setting.ledger.faults.clear();
      return { outcome: tried };
    });
    expect(outcome).toMatchObject({
      outcome: "failed",
      reason: "invalid_exact_hedera_payload_transaction_expired",
      retryable: false,
    });
  });

  test("the maximum fee is too low", async ({ setting }) => {
    const { outcome } = await notStalled(async () => {
      const payment = setting.scheme.decode(await setting.pay({ feeMax: 1 }));
      if (isRefusal(payment)) throw new Error(payment.message);
      return { outcome: await submitted(setting, payment) };
    });
    expect(outcome).toMatchObject({
      outcome: "failed",
      reason: "invalid_exact_hedera_payload_max_fee",
      retryable: false,
    });
  });

  test("the fee payer has nothing left, which is not the payer's fault", async ({ setting }) => {
    const key = PrivateKey.generateED25519();
    const { accountId } = setting.ledger.faucet.createAccount({ publicKey: key.publicKey.toStringRaw(), tinybars: 1n });
    const feePayers = [{ accountId, privateKey: new Secret(key.toStringDer()) }];
    const penniless = await settingOn(setting.ledger, { feePayers, balanceEmpty: 0n });
    await penniless.scheme.start();
    const settling = notStalled(async () => ({
      outcome: await settled(penniless, await setting.pay({ feePayer: accountId })),
    }));
    await expect(settling).rejects.toThrow("the fee payers have no money left");
    await penniless.stop();
  });
});

describe("what is stored before anything is sent", () => {
  test("is the signed bytes, the transaction id and the fee payer; the bytes are forgotten with the payment's end", async ({
    setting,
  }) => {
    const payment = await verified(setting.scheme, await setting.pay());
    const claim = await claimed(setting, payment);
    const row = async () =>
      (await setting.db.query("select * from payments where payment_key = $1", [payment.key])).rows[0];
    const outcome = await setting.scheme.submit(payment, claim, new Date(Date.now() + 20_000));
    expect(outcome).toMatchObject({ outcome: "settled" });
    const stored = { transaction_id: payment.key, fee_payer: payment.feePayer };
    expect(await row()).toMatchObject({ ...stored, state: "broadcast", raw_transactions: { length: 3 } });
    await setting.store.finish(claim, outcome, 0, true);
    expect(await row()).toMatchObject({ ...stored, state: "settled", raw_transactions: null });
  });
});

describe("a failure at consensus is final and says why", () => {
  test("the payer spent its money in between", async ({ setting }) => {
    const poor = newBuyer(setting.ledger, { usdc: price });
    const [first, second] = [await setting.pay(poor), await setting.pay(poor)];
    const payment = await verified(setting.scheme, second);
    expect(await settled(setting, first)).toMatchObject({ outcome: "settled" });
    expect(await submitted(setting, payment)).toMatchObject({
      outcome: "failed",
      reason: "insufficient_funds",
      transaction: payment.key,
      retryable: false,
    });
  });

  test("the ledger throttled it: the id is used up", async ({ setting }) => {
    setting.ledger.faults.set({ throttleAtConsensus: 1 });
    const outcome = await settled(setting, await setting.pay());
    expect(outcome).toMatchObject({ outcome: "failed", reason: "transaction_failed", retryable: false });
  });

  test("the payer's key was replaced in between", async ({ setting }) => {
    const terms = newBuyer(setting.ledger, { usdc: 10n * price });
    const newKey = PrivateKey.generateECDSA();
    const asked = await setting.pay(terms);
    const payment = await verified(setting.scheme, asked);
    const update = new AccountUpdateTransaction().setAccountId(terms.payer).setKey(newKey.publicKey);
    await execute(setting.ledger, update, ...terms.keys, newKey);
    expect(await submitted(setting, payment)).toMatchObject({
      outcome: "failed",
      reason: "invalid_exact_hedera_payload_signature_invalid",
      retryable: false,
    });
    // The old key is still remembered; a payment under the new one is looked up again rather than refused.
    await elapse(1_100, "what was read of an account counts as just read for a second");
    expect(await settled(setting, await setting.pay({ ...terms, keys: [newKey] }))).toMatchObject({
      outcome: "settled",
    });
  });
});

test("junk signatures are not sent on, so they cost the fee payer nothing", async ({ setting }) => {
  const fee = async (request: Awaited<ReturnType<typeof setting.pay>>) => {
    const outcome = await settled(setting, request);
    expect(outcome.outcome).toBe("settled");
    const response = await fetch(`${setting.ledger.mirrorUrl}/api/v1/transactions/${mirrorId(outcome.transaction)}`);
    const { transactions } = (await response.json()) as { transactions: [{ charged_tx_fee: number }] };
    return transactions[0].charged_tx_fee;
  };
  const junk = Array.from({ length: 19 }, () => PrivateKey.generateED25519());
  const buyersKey = PrivateKey.fromStringDer(setting.ledger.accounts.buyer.privateKey);
  const plain = await fee(await setting.pay());
  expect(await fee(await setting.pay({ keys: [...junk, buyersKey] }))).toBe(plain);
});

describe("an id that another transaction used first is not taken for this payment's success", () => {
  test.for([
    ["where nodes say so", 0],
    ["where the first node's answer is late", 500],
    ["where every node's answer is late", 2_500],
  ] as const)("%s", async ([_name, lateForMs], { setting }) => {
    const { ledger } = setting;
    const id = newId(ledger.accounts.feePayer.accountId, -1);
    const operator = { payer: ledger.accounts.operator.accountId };
    ledger.faucet.giveToken(operator.payer, 10n * price);
    const keys = [PrivateKey.fromStringDer(ledger.accounts.operator.privateKey)];
    // The same fee payer under another daemon, which knows nothing of this one's payments.
    const other = await settingOn(ledger);
    await other.scheme.start();
    expect(await settled(other, await setting.pay({ ...operator, keys, transactionId: id }))).toMatchObject({
      outcome: "settled",
    });
    const before = await creatorHas(setting);
    const payment = await verified(setting.scheme, await setting.pay({ transactionId: id }));
    if (lateForMs > 0) ledger.faults.set({ delayMs: 1_500 });
    const settling = submitted(setting, payment);
    await elapse(lateForMs, "so long answers are late");
    ledger.faults.clear();
    expect(await settling).toMatchObject({
      outcome: "failed",
      reason: "invalid_transaction_state",
      retryable: false,
    });
    expect(await creatorHas(setting)).toBe(before);
    await other.stop();
  });
});
