import { describe, expect } from "vitest";
import { createKey } from "../../marketplace/api-keys/create.ts";
import { deleteExpiredRows } from "../../marketplace/expired-rows.ts";
import { marketTest } from "../support/fixtures.ts";
import {
  balanceOf,
  call,
  type Market,
  proveLedger,
  run,
  seedMarket,
  type TestMarketplace,
} from "../support/marketplace.ts";

const test = marketTest({ env: { PLATFORM_FEE_BASIS_POINTS: "2000" } });
test.afterEach(async ({ market }) => {
  market.model.clearFaults();
  await proveLedger(market.context);
});

const ledger = (market: TestMarketplace, key: string, query = "") =>
  call(market.url, `/api/v1/ledger${query}`, { key });
const transfer = (market: TestMarketplace, key: string, credits: unknown, headers = {}) =>
  call(market.url, "/api/v1/credits/transfer", { key, body: { credits }, headers });
const creatorKey = async (market: TestMarketplace, { creator }: Market) =>
  (await createKey(market.context.db, { accountId: creator.id, name: "creator", rateLimitPerMinute: 1000 })).token;

test("buyer and creator each see their own postings, newest first, and nothing of the other's", async ({ market }) => {
  const seeded = await seedMarket(market.context, { price: 5, balance: 20 });
  const worked = (await run(market, seeded.key, seeded.agent.address)).body;
  market.model.injectFault({ status: 500 });
  const failed = (await run(market, seeded.key, seeded.agent.address)).body;
  const { body } = await ledger(market, seeded.key);
  const agent = seeded.agent.address;
  const common = {
    id: expect.stringMatching(/^pst_\d+$/),
    created_at: expect.any(String),
    key: null,
    payment: null,
    note: null,
  };
  const key = { id: seeded.keyId, name: "test" };
  const hold = { ...common, kind: "hold", credits: 5, from: "spendable", to: "held", agent, key };
  expect(body).toEqual({
    postings: [
      { ...common, kind: "release", credits: 5, from: "held", to: "spendable", run_id: failed.run_id, agent, key },
      { ...hold, run_id: failed.run_id },
      { ...hold, run_id: worked.run_id },
      { ...common, kind: "grant", credits: 20, from: "issued", to: "spendable", run_id: null, agent: null },
    ],
    cursor: null,
  });
  const earnings = await ledger(market, await creatorKey(market, seeded));
  expect(earnings.body.postings).toEqual([
    { ...common, kind: "capture", credits: 4, from: "held", to: "earned", run_id: null, agent },
  ]);
  expect(earnings.text).not.toContain(seeded.buyer.id);
});

test("pages have no gap and no repetition, though postings share a moment and more arrive meanwhile", async ({
  market,
}) => {
  const seeded = await seedMarket(market.context, { price: 1, balance: 100 });
  for (let n = 0; n < 6; n += 1) await run(market, seeded.key, seeded.agent.address);
  const { db } = market.context;
  await db.query("alter table postings disable trigger postings_append_only");
  await db.query("update postings set created_at = date_trunc('hour', created_at) where from_purse = $1", [
    `spendable:${seeded.buyer.id}`,
  ]);
  await db.query("alter table postings enable trigger postings_append_only");
  const seen: string[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const { status, body } = await ledger(market, seeded.key, `?limit=2&cursor=${cursor}`);
    expect(status).toBe(200);
    seen.push(...body.postings.map(({ id }: { id: string }) => id));
    cursor = body.cursor;
    await run(market, seeded.key, seeded.agent.address);
  }
  expect(seen).toHaveLength(7);
  expect(new Set(seen).size).toBe(7);
});

test.for(["cursor=x", `cursor=${Buffer.from("1.run_9").toString("base64url")}`, "limit=0"])(
  "%s is a 400 that names it",
  async (query, { market }) => {
    const { key } = await seedMarket(market.context);
    expect(await ledger(market, key, `?${query}`)).toMatchObject({ status: 400, body: { field: query.split("=")[0] } });
  },
);

test("earned credits become spendable, never more of them than were earned, however many ask at once", async ({
  market,
}) => {
  const seeded = await seedMarket(market.context, { price: 10, balance: 100 });
  const key = await creatorKey(market, seeded);
  for (let n = 0; n < 3; n += 1) await run(market, seeded.key, seeded.agent.address);
  const answers = await Promise.all(Array.from({ length: 10 }, () => transfer(market, key, 7)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
  expect(answers.filter(({ status }) => status === 422)).toHaveLength(7);
  expect(await balanceOf(market, key)).toMatchObject({ credits: 21, earned_credits: 3 });
  expect(await transfer(market, key, 3)).toMatchObject({ status: 200, body: { credits: 24, earned_credits: 0 } });
  expect((await ledger(market, key, "?limit=1")).body.postings).toMatchObject([
    { kind: "transfer", credits: 3, from: "earned", to: "spendable" },
  ]);
  for (const wrong of [0, -1, 1.5, "3", null]) expect((await transfer(market, key, wrong)).status).toBe(400);
});

describe("earnings that are moved by a named request", () => {
  const named = (name: string) => ({ "idempotency-key": name });

  test("are moved once and answered the same, sent ten times at once and again later", async ({ market }) => {
    const seeded = await seedMarket(market.context, { price: 10, balance: 30 });
    const key = await creatorKey(market, seeded);
    for (let n = 0; n < 3; n += 1) await run(market, seeded.key, seeded.agent.address);
    const send = () => transfer(market, key, 7, named("payout-1"));
    const answers = await Promise.all(Array.from({ length: 10 }, send));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers.get("idempotent-replayed") === "true")).toHaveLength(9);
    await transfer(market, key, 2);
    expect((await send()).body).toEqual(answers[0]!.body);
    expect(await balanceOf(market, key)).toMatchObject({ credits: 9, earned_credits: 15 });
  });

  test("are a 409 with another amount under the same name, which another account may use for its own", async ({
    market,
  }) => {
    const seeded = await seedMarket(market.context, { price: 10, balance: 10 });
    const key = await creatorKey(market, seeded);
    await run(market, seeded.key, seeded.agent.address);
    expect((await transfer(market, key, 3, named("order"))).status).toBe(200);
    const other = await transfer(market, key, 4, named("order"));
    expect(other).toMatchObject({ status: 409, body: { error: "This Idempotency-Key was used for another request." } });
    expect((await transfer(market, seeded.key, 3, named("order"))).status).toBe(422);
    expect(await balanceOf(market, key)).toMatchObject({ credits: 3, earned_credits: 5 });
  });

  test("leave no trace where they were refused, and a name that is none is a 400 that says so", async ({ market }) => {
    const seeded = await seedMarket(market.context, { price: 10, balance: 10 });
    const key = await creatorKey(market, seeded);
    expect((await transfer(market, key, 8, named("early"))).status).toBe(422);
    await run(market, seeded.key, seeded.agent.address);
    expect((await transfer(market, key, 8, named("early"))).status).toBe(200);
    const wrong = await transfer(market, key, 1, named("x".repeat(256)));
    expect(wrong).toMatchObject({ status: 400, body: { field: "Idempotency-Key" } });
  });

  test("are forgotten as names after as long as runs are kept", async ({ market }) => {
    const seeded = await seedMarket(market.context, { price: 10, balance: 10 });
    const key = await creatorKey(market, seeded);
    await run(market, seeded.key, seeded.agent.address);
    await transfer(market, key, 1, named("old"));
    const { db } = market.context;
    const kept = async () => (await db.query("select from moved_earnings")).rowCount;
    const before = await kept();
    await deleteExpiredRows(db);
    expect(await kept()).toBe(before);
    await db.query("update moved_earnings set moved_at = now() - interval '31 days' where idempotency_key = 'old'");
    await deleteExpiredRows(db);
    expect(await kept()).toBe(before! - 1);
  });
});
