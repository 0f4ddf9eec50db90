import { describe, expect } from "vitest";
import type { PaymentRequest, Unfinished } from "../../../facilitator/schemes/scheme.ts";
import {
  buyerOf,
  claimed,
  type HederaSetting,
  hederaSchemeTest,
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

const creatorHas = (setting: HederaSetting) => usdcOf(setting.ledger, setting.ledger.accounts.creator.accountId);

/** The row of a payment, as the reconciler hands it to find. */
async function unfinished(setting: HederaSetting, asked: PaymentRequest): Promise<Unfinished> {
  return unfinishedRow(setting, (await verified(setting.scheme, asked)).key);
}

async function unfinishedRow(setting: HederaSetting, key: string): Promise<Unfinished> {
  await setting.db.query("update payments set lease_until = now() - interval '1 second' where payment_key = $1", [key]);
  const taken = (await setting.store.takeUnfinished("hedera:testnet", 100)).find((row) => row.key === key);
  if (!taken) throw new Error("the payment is not unfinished");
  return taken;
}

async function leftUnknown(
  setting: HederaSetting,
  faults: Record<string, number>,
): Promise<{ asked: PaymentRequest; row: Unfinished }> {
  // A busy machine may not come to sending it in so short a time: then it has another one, and longer.
  for (let withinMs = 1_500; ; withinMs *= 2) {
    const asked = await setting.pay();
    const payment = await verified(setting.scheme, asked);
    setting.ledger.faults.set(faults);
    const outcome = await submitted(setting, payment, withinMs);
    setting.ledger.faults.clear();
    if (outcome.outcome === "failed" && outcome.retryable) continue;
    expect(outcome).toMatchObject({ outcome: "unknown" });
    return { asked, row: await unfinished(setting, asked) };
  }
}

const untilFound = async (setting: HederaSetting, row: Unfinished) => {
  for (let attempt = 0; attempt < 10; attempt += 1) {
    const outcome = await setting.scheme.find(row);
    if (outcome.outcome !== "unknown") return outcome;
  }
  return { outcome: "unknown" };
};

describe("a payment whose outcome was not known at the deadline is found later", () => {
  test.for<[string, Record<string, number>]>([
    ["the ledger was slow", { consensusDelayMs: 60_000 }],
    ["no node answered and none had taken it", { unavailable: 1_000 }],
    [
      "every node took it and none answered, nor the mirror",
      { resetReply: 1_000, queryUnavailable: 1_000, mirrorUnavailable: 1_000 },
    ],
    ["nobody could be asked for receipts", { queryUnavailable: 1_000, mirrorUnavailable: 1_000 }],
  ])(
    "a payment left unknown because %s is found settled, and again when asked again",
    async ([_name, faults], { setting }) => {
      const before = await creatorHas(setting);
      const { row } = await leftUnknown(setting, faults);
      expect(await untilFound(setting, row)).toEqual({ outcome: "settled", transaction: row.key });
      expect(await setting.scheme.find(row)).toEqual({ outcome: "settled", transaction: row.key });
      expect(await creatorHas(setting)).toBe(before + price);
    },
  );

  test("a payment whose outcome was not known at the deadline is found failed where it failed", async ({ setting }) => {
    const { row } = await leftUnknown(setting, {
      throttleAtConsensus: 1,
      queryUnavailable: 1_000,
      mirrorUnavailable: 1_000,
    });
    expect(await untilFound(setting, row)).toMatchObject({
      outcome: "failed",
      reason: "transaction_failed",
      retryable: false,
    });
  });

  test("a payment not known at the deadline is found as soon as the mirror has it, however far behind the nodes it is", async ({
    setting,
  }) => {
    const { row } = await leftUnknown(setting, { queryUnavailable: 1_000, mirrorUnavailable: 1_000 });
    setting.ledger.faults.set({ mirrorLagMs: 60_000 });
    const another = await settingOn(setting.ledger);
    try {
      await another.scheme.start();
      // A receipt names no more than the id, which the ledger may have had from something else.
      expect(await another.scheme.find(row)).toMatchObject({
        outcome: "unknown",
        transaction: row.key,
        because: expect.stringMatching(/\S/),
      });
      setting.ledger.faults.clear();
      expect(await another.scheme.find(row)).toEqual({ outcome: "settled", transaction: row.key });
    } finally {
      await another.stop();
    }
  });

  test("a payment not known at the deadline is found by a receipt, where a node took it from this process, and the mirror is behind", async ({
    setting,
  }) => {
    const found = async () => {
      const { row } = await leftUnknown(setting, { queryUnavailable: 1_000, mirrorUnavailable: 1_000 });
      setting.ledger.faults.set({ mirrorLagMs: 60_000 });
      const outcome = await setting.scheme.find(row);
      setting.ledger.faults.clear();
      return { row, outcome };
    };
    let { row, outcome } = await found();
    // Where a stalled machine did not hear the node's word in time, nothing but the mirror can tell: then another payment is tried.
    while (outcome.outcome === "unknown") ({ row, outcome } = await found());
    expect(outcome).toEqual({ outcome: "settled", transaction: row.key });
  });

  test("a payment whose id a forgotten payment of this process had is not found settled by that one's receipt", async ({
    setting,
  }) => {
    const transactionId = newId(buyerOf(setting.ledger).feePayer, -1);
    const { transaction } = await settled(setting, await setting.pay({ transactionId }));
    await setting.db.query("delete from payments where payment_key = $1", [transaction]);
    const asked = await setting.pay({ transactionId, amount: 2n * price });
    const payment = await verified(setting.scheme, asked);
    setting.ledger.faults.set({ mirrorLagMs: 60_000 });
    // A busy machine may not come to sending it in so short a time: then it has longer.
    for (let withinMs = 1_500; (await submitted(setting, payment, withinMs)).outcome !== "unknown"; withinMs *= 2);
    const row = await unfinishedRow(setting, payment.key);
    expect(await setting.scheme.find(row)).toMatchObject({ outcome: "unknown" });
    setting.ledger.faults.clear();
    expect(await setting.scheme.find(row)).toMatchObject({ outcome: "failed", reason: "invalid_transaction_state" });
  });

  test("a payment that the ledger had before it was sent is found settled by another, be it in the same bytes", async ({
    setting,
  }) => {
    const asked = await setting.pay();
    const { transaction } = await settled(setting, asked);
    await setting.db.query("delete from payments where payment_key = $1", [transaction]);
    const payment = await verified(setting.scheme, asked);
    setting.ledger.faults.set({ mirrorLagMs: 60_000 });
    // A busy machine may not come to sending it in so short a time: then it has longer.
    for (let withinMs = 1_500; (await submitted(setting, payment, withinMs)).outcome !== "unknown"; withinMs *= 2);
    const row = await unfinishedRow(setting, payment.key);
    expect(await setting.scheme.find(row)).toMatchObject({ outcome: "unknown" });
    setting.ledger.faults.clear();
    expect(await setting.scheme.find(row)).toEqual({ outcome: "settled", transaction, byAnother: true });
  });

  test("a payment is not looked for while it is still being settled, nor is it sent twice by asking", async ({
    setting,
  }) => {
    const asked = await setting.pay();
    const payment = await verified(setting.scheme, asked);
    setting.ledger.faults.set({ consensusDelayMs: 60_000 });
    const settling = submitted(setting, payment, 60_000);
    const state = async () => (await setting.store.lookup("hedera:testnet", payment.key))?.state;
    await expect.poll(state).toBe("broadcast");
    expect(await setting.scheme.find(await unfinished(setting, asked))).toEqual({
      outcome: "unknown",
      transaction: payment.key,
      because: "this copy is sending it",
    });
    setting.ledger.faults.clear();
    expect(await settling).toMatchObject({ outcome: "settled" });
  });

  test("a payment that no node took is not said to have failed once another daemon may have sent it", async ({
    setting,
  }) => {
    const before = await creatorHas(setting);
    const takenOver = async () => {
      const payment = await verified(setting.scheme, await setting.pay());
      setting.ledger.faults.set({ busy: 1_000 });
      const settling = submitted(setting, payment);
      const state = async () => (await setting.store.lookup("hedera:testnet", payment.key))?.state ?? "none";
      await expect.poll(state).toMatch(/broadcast|failed/);
      const row = await unfinishedRow(setting, payment.key).catch(() => undefined);
      return { row, outcome: await settling };
    };
    let { row, outcome } = await takenOver();
    // Where a stalled machine was too late to take it over, another payment is tried.
    while (!row?.transaction) ({ row, outcome } = await takenOver());
    expect(outcome).toMatchObject({ outcome: "unknown" });
    setting.ledger.faults.clear();
    expect(await untilFound(setting, row)).toEqual({ outcome: "settled", transaction: row.key });
    expect(await creatorHas(setting)).toBe(before + price);
  });
});

describe("a payment that can no longer land", () => {
  const never = async (setting: HederaSetting, changes: Partial<Unfinished> = {}): Promise<Unfinished> => {
    const asked = await setting.pay();
    // Its process died before it sent anything.
    await claimed(setting, await verified(setting.scheme, asked));
    const row = await unfinished(setting, asked);
    return { ...row, expiresAt: new Date(Date.now() - 1_000), ...changes };
  };

  test("has failed when two nodes and the mirror know nothing of it, and it is not sent any more", async ({
    setting,
  }) => {
    const row = await never(setting);
    const failed = { outcome: "failed", reason: "transaction_failed", transaction: row.key, retryable: false };
    expect(await setting.scheme.find(row)).toMatchObject({
      ...failed,
      message: expect.stringContaining("never reached"),
    });
    expect(await setting.scheme.find({ ...row, expiresAt: new Date(Date.now() - 600_000) })).toMatchObject(failed);
  });

  test.for<[string, Record<string, number>]>([
    ["the mirror does not answer", { mirrorUnavailable: 1_000 }],
    ["a node does not answer", { queryUnavailable: 1 }],
  ])("stays unknown while %s", async ([_name, faults], { setting }) => {
    const row = await never(setting);
    setting.ledger.faults.set(faults);
    expect(await setting.scheme.find(row)).toMatchObject({
      outcome: "unknown",
      transaction: row.key,
      because: expect.stringMatching(/\S/),
    });
  });

  test("stays unknown while a node is still handling it", async ({ setting }) => {
    const { row } = await leftUnknown(setting, { loseTx: 1 });
    const expired = { ...row, expiresAt: new Date(Date.now() - 1_000) };
    const answers = [
      await setting.scheme.find(expired),
      await setting.scheme.find(expired),
      await setting.scheme.find(expired),
    ];
    expect(answers).toContainEqual({ outcome: "unknown", transaction: row.key, because: expect.stringMatching(/\S/) });
  });

  test("a payment stays unknown while nodes have forgotten its receipt and the mirror is behind, though it landed", async ({
    setting,
  }) => {
    const { row } = await leftUnknown(setting, { queryUnavailable: 1_000, mirrorUnavailable: 1_000 });
    setting.ledger.faults.set({ receiptTtlMs: 0, mirrorLagMs: 600_000 });
    for (const endedMsAgo of [1_000, 140_000, 500_000]) {
      const expired = { ...row, expiresAt: new Date(Date.now() - endedMsAgo) };
      expect(await setting.scheme.find(expired)).toMatchObject({
        outcome: "unknown",
        transaction: row.key,
        because: expect.stringMatching(/\S/),
      });
    }
    setting.ledger.faults.set({ mirrorLagMs: 0 });
    expect(await setting.scheme.find(row)).toEqual({ outcome: "settled", transaction: row.key });
  });

  test("is settled all the same when it had landed in time", async ({ setting }) => {
    const { row } = await leftUnknown(setting, { queryUnavailable: 1_000, mirrorUnavailable: 1_000 });
    const expired = { ...row, expiresAt: new Date(Date.now() - 1_000) };
    expect(await setting.scheme.find(expired)).toEqual({ outcome: "settled", transaction: row.key });
  });
});
