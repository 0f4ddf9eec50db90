import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { PaymentRequest, Unfinished } from "../../../facilitator/schemes/scheme.ts";
import { type HederaSetting, hederaSetting, price, submitted, usdcOf, verified } from "./setting.ts";

let setting: HederaSetting;

beforeAll(async () => {
  setting = await hederaSetting();
  await setting.scheme.start();
});
afterEach(() => setting.ledger.faults.clear());
afterAll(() => setting?.stop());

const creatorHas = () => usdcOf(setting.ledger, setting.ledger.accounts.creator.accountId);

/** The row of a payment, as the reconciler hands it to find. */
async function unfinished(asked: PaymentRequest): Promise<Unfinished> {
  const { key } = await verified(setting.scheme, asked);
  await setting.db.query("update payments set lease_until = now() - interval '1 second' where payment_key = $1", [key]);
  const taken = (await setting.store.takeUnfinished(100)).find((row) => row.key === key);
  if (!taken) throw new Error("the payment is not unfinished");
  return taken;
}

async function leftUnknown(
  faults: Record<string, number>,
  withinMs = 1_500,
): Promise<{ asked: PaymentRequest; row: Unfinished }> {
  const asked = await setting.pay();
  const payment = await verified(setting.scheme, asked);
  setting.ledger.faults.set(faults);
  expect(await submitted(setting, payment, withinMs)).toMatchObject({ outcome: "unknown" });
  setting.ledger.faults.clear();
  return { asked, row: await unfinished(asked) };
}

const untilFound = async (row: Unfinished) => {
  for (let attempt = 0; attempt < 10; attempt += 1) {
    const outcome = await setting.scheme.find(row);
    if (outcome.outcome !== "unknown") return outcome;
  }
  return { outcome: "unknown" };
};

describe("a payment whose outcome was not known at the deadline is found later", () => {
  test.each<[string, Record<string, number>]>([
    ["the ledger was slow", { consensusDelayMs: 2_500 }],
    ["no node answered and none had taken it", { unavailable: 1_000 }],
    [
      "every node took it and none answered, nor the mirror",
      { resetReply: 1_000, queryUnavailable: 1_000, mirrorUnavailable: 1_000 },
    ],
    ["nobody could be asked for receipts", { queryUnavailable: 1_000, mirrorUnavailable: 1_000 }],
  ])("%s", async (_name, faults) => {
    const before = await creatorHas();
    const { row } = await leftUnknown(faults);
    expect(await untilFound(row)).toEqual({ outcome: "settled", transaction: row.key });
    expect(await setting.scheme.find(row)).toEqual({ outcome: "settled", transaction: row.key });
    expect(await creatorHas()).toBe(before + price);
  });

  test("and is found failed where it failed", async () => {
    const { row } = await leftUnknown({ throttleAtConsensus: 1, queryUnavailable: 1_000, mirrorUnavailable: 1_000 });
    expect(await untilFound(row)).toMatchObject({ outcome: "failed", reason: "transaction_failed", retryable: false });
  });

  test("as soon as the mirror has it, however far behind the nodes it is", async () => {
    const { row } = await leftUnknown({ queryUnavailable: 1_000, mirrorUnavailable: 1_000 });
    setting.ledger.faults.set({ mirrorLagMs: 60_000 });
    expect(await setting.scheme.find(row)).toEqual({ outcome: "unknown", transaction: row.key });
    setting.ledger.faults.clear();
    expect(await setting.scheme.find(row)).toEqual({ outcome: "settled", transaction: row.key });
  });

  test("but not while it is still being settled, nor is it sent twice by asking", async () => {
    const asked = await setting.pay();
    const payment = await verified(setting.scheme, asked);
    setting.ledger.faults.set({ consensusDelayMs: 1_500 });
    const settling = submitted(setting, payment);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await setting.scheme.find(await unfinished(asked))).toEqual({
      outcome: "unknown",
      transaction: payment.key,
    });
    expect(await settling).toMatchObject({ outcome: "settled" });
  });
});

describe("a payment that can no longer land", () => {
  const never = async (changes: Partial<Unfinished> = {}): Promise<Unfinished> => {
    const { row } = await leftUnknown({ unavailable: 1_000 }, 600);
    return { ...row, expiresAt: new Date(Date.now() - 1_000), ...changes };
  };

  test("has failed when two nodes and the mirror know nothing of it, and it is not sent any more", async () => {
    const row = await never();
    const failed = { outcome: "failed", reason: "transaction_failed", transaction: row.key, retryable: false };
    expect(await setting.scheme.find(row)).toMatchObject({
      ...failed,
      message: expect.stringContaining("never reached"),
    });
    expect(await setting.scheme.find({ ...row, expiresAt: new Date(Date.now() - 600_000) })).toMatchObject(failed);
  });

  test.each<[string, Record<string, number>]>([
    ["the mirror does not answer", { mirrorUnavailable: 1_000 }],
    ["a node does not answer", { queryUnavailable: 1 }],
  ])("stays unknown while %s", async (_name, faults) => {
    const row = await never();
    setting.ledger.faults.set(faults);
    expect(await setting.scheme.find(row)).toEqual({ outcome: "unknown", transaction: row.key });
  });

  test("stays unknown while a node still has it in hand", async () => {
    const { row } = await leftUnknown({ loseTx: 1 });
    const expired = { ...row, expiresAt: new Date(Date.now() - 1_000) };
    const answers = [
      await setting.scheme.find(expired),
      await setting.scheme.find(expired),
      await setting.scheme.find(expired),
    ];
    expect(answers).toContainEqual({ outcome: "unknown", transaction: row.key });
  });

  test("is settled all the same when it had landed in time", async () => {
    const { row } = await leftUnknown({ queryUnavailable: 1_000, mirrorUnavailable: 1_000 });
    const expired = { ...row, expiresAt: new Date(Date.now() - 1_000) };
    expect(await setting.scheme.find(expired)).toEqual({ outcome: "settled", transaction: row.key });
  });
});
