import { expect } from "vitest";
import type { Claim, Outcome, Payment } from "../../facilitator/schemes/scheme.ts";
import { SettlementStore } from "../../facilitator/settlements/store.ts";
import type { Database } from "../../shared/postgres.ts";
import { recordTest } from "../support/fixtures.ts";

const test = recordTest();
const network = "ending together";
const terms = { resourceUrl: "https://shop.example/x", failuresMax: 0, failuresPerDayMax: 0 };

const paymentOf = (key: string): Payment => ({
  ...{ key, payer: `payer of ${key}`, payTo: "shop", asset: "coin", amount: 5n, messageDigest: Buffer.alloc(32) },
  expiresAt: new Date(Date.now() + 600_000),
});

const settledIn = (transaction: string): Outcome => ({ outcome: "settled", transaction });
const failedFor = (reason: string, more = {}): Outcome => ({
  ...{
    outcome: "failed",
    transaction: "",
    reason,
    message: `It failed for ${reason}.`,
    retryable: false,
    charged: false,
  },
  ...more,
});

async function claimAll(store: SettlementStore, keys: readonly string[]): Promise<readonly Claim[]> {
  const claims = await Promise.all(keys.map((key) => store.claim(network, "exact", paymentOf(key), terms)));
  return claims as readonly Claim[];
}

async function rowsOf(db: Database, keys: readonly string[]) {
  const { rows } = await db.query(
    `select payment_key as key, state, transaction_id as tx, error_reason as reason, retryable, delivered_at is not null as delivered,
            landed_by_another as by_another,
            (select count(*)::integer from transactions t where t.network = p.network and t.payer = p.payer) as recorded,
            (select count(*)::integer from payer_failures f where f.network = p.network and f.payer = p.payer) as charged
       from payments p where network = $1 and payment_key = any ($2) order by payment_key`,
    [network, keys],
  );
  return rows;
}

test("payments that end at the same time each get their own end, on record once", async ({ db }) => {
  const store = new SettlementStore(db);
  const keys = ["a", "b", "c", "d", "e"];
  const [a, b, c, d, e] = (await claimAll(store, keys)) as [Claim, Claim, Claim, Claim, Claim];
  const finished = await Promise.all([
    store.finish(a, settledIn("tx-a"), 10, true),
    // Found out after two months.
    store.finish(b, { outcome: "settled", transaction: "tx-b", byAnother: true }, 5_184_000_000, false),
    store.finish(c, failedFor("first", { retryable: true }), 30, true),
    store.finish(d, failedFor("second", { charged: true }), 40, true),
    store.finish({ ...e, token: a.token }, settledIn("tx-e"), 50, true),
    store.finish(a, failedFor("too late"), 60, true),
  ]);
  expect(finished).toEqual([true, true, true, true, false, false]);
  const none = {
    tx: null,
    reason: null,
    retryable: false,
    delivered: false,
    by_another: false,
    recorded: 1,
    charged: 0,
  };
  expect(await rowsOf(db, keys)).toEqual([
    { ...none, key: "a", state: "settled", tx: "tx-a", delivered: true },
    { ...none, key: "b", state: "settled", tx: "tx-b", by_another: true },
    { ...none, key: "c", state: "failed", reason: "first", retryable: true },
    { ...none, key: "d", state: "failed", reason: "second", charged: 1 },
    { ...none, key: "e", state: "claimed", recorded: 0 },
  ]);
  expect(await store.finish(a, failedFor("much too late"), 70, true)).toBe(false);
});

test("an end that the database will not have keeps no other from being stored", async ({ db }) => {
  const store = new SettlementStore(db);
  const keys = ["good", "unstorable", "good too"];
  const [good, unstorable, goodToo] = (await claimAll(store, keys)) as [Claim, Claim, Claim];
  const finished = await Promise.allSettled([
    store.finish(good, settledIn("tx-good"), 10, true),
    store.finish(unstorable, failedFor("a zero byte\u0000"), 10, true),
    store.finish(goodToo, settledIn("tx-good-too"), 10, true),
  ]);
  expect(finished.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect((await rowsOf(db, keys)).map(({ key, state, recorded }) => [key, state, recorded])).toEqual([
    ["good", "settled", 1],
    ["good too", "settled", 1],
    ["unstorable", "claimed", 0],
  ]);
});

test("copies that end the same payments at the same time, in whatever order, end each once", async ({ db }) => {
  const [one, other] = [new SettlementStore(db), new SettlementStore(db)];
  const keys = Array.from({ length: 60 }, (_, index) => `both ${index}`);
  const claims = await claimAll(one, keys);
  const finished = await Promise.all([
    ...claims.map((claim) => one.finish(claim, settledIn("by one"), 10, true)),
    ...claims.toReversed().map((claim) => other.finish(claim, settledIn("by the other"), 10, true)),
  ]);
  expect(finished.filter(Boolean)).toHaveLength(keys.length);
  const rows = await rowsOf(db, keys);
  expect(rows.every(({ state, recorded, delivered }) => state === "settled" && recorded === 1 && delivered)).toBe(true);
});

test("a network fee that was read before a payment's end is kept where its transaction ended the payment, and forgotten where another did", async ({
  db,
}) => {
  const store = new SettlementStore(db);
  const keys = ["fee of another", "fee of the same"];
  const claims = await claimAll(store, keys);
  await db.query("update payments set transaction_id = 'tx-first', network_fee = 7 where payment_key = any ($1)", [
    keys,
  ]);
  const [ended, same] = claims as [Claim, Claim];
  await store.finish(ended, settledIn("tx-second"), 10, true);
  await store.finish(same, settledIn("tx-first"), 10, true);
  const { rows } = await db.query(
    "select transaction_id as tx, network_fee as fee from payments where payment_key = any ($1) order by payment_key",
    [keys],
  );
  expect(rows).toEqual([
    { tx: "tx-second", fee: null },
    { tx: "tx-first", fee: 7n },
  ]);
});
