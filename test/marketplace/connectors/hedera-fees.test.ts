import { expect } from "vitest";
import { ledgerMarketTest } from "../../support/fixtures.ts";
import { type LedgerMarket, newTopic, seedLedgerCreator } from "../../support/ledger-agents.ts";
import { balanceOf, call, run, type TestMarketplace, until } from "../../support/marketplace.ts";

const limits = { HEDERA_FEES_PER_DAY: "10", HEDERA_FEES_PER_CREATOR_DAY: "6" };

const test = ledgerMarketTest(limits);
let copy: TestMarketplace;
test.beforeAll(({ copy: started }) => {
  copy = started;
});

const hbar = 100_000_000;
const written = async (market: LedgerMarket, topic: string) =>
  (await market.open.mirror(`topics/${topic}/messages`)).messages.length;
const feesOf = async (market: LedgerMarket, agentId: string) => {
  const { rows } = await market.context.db.query(
    "select coalesce(sum(fee), 0)::integer as fee, coalesce(sum(fee_open), 0)::integer as open from effects where agent_id = $1",
    [agentId],
  );
  return rows[0] as { fee: number; open: number };
};
const known = (market: LedgerMarket, agentId: string) => until(async () => (await feesOf(market, agentId)).open === 0);
const operatorHas = async (market: LedgerMarket) => {
  const { accountId } = market.open.accounts.operator;
  return Number((await market.open.mirror(`accounts/${accountId}`)).balance.balance);
};

async function writer(market: LedgerMarket, price: number) {
  const topic = await newTopic(market, "open");
  const seeded = await seedLedgerCreator(market);
  const settings = { topic, message: "{{text}}", bytes_max: 3_000 };
  const agent = await seeded.publish("hcs-write", settings, { price_credits: price });
  const free = (url = market.url, text = "hello") => call(url, `/api/agent/${agent.address}`, { body: { text } });
  return { ...seeded, agent, topic, free };
}

test("a free agent spends no more of the operator's account than its creator's part of a day, over all copies", async ({
  market,
}) => {
  const { agent, topic, free } = await writer(market, 0);
  const before = await operatorHas(market);
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => free(n % 2 ? copy.url : market.url)));
  const done = answers.filter(({ status }) => status === 200).length;
  expect(done).toBeGreaterThanOrEqual(3);
  expect(done).toBeLessThan(20);
  for (const { status, headers } of answers.filter((one) => one.status !== 200)) {
    expect(status).toBe(503);
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  }
  expect(await written(market, topic)).toBe(done);
  // What was booked at most becomes what the ledger took, to the tinybar.
  await known(market, agent.agentId);
  const { fee } = await feesOf(market, agent.agentId);
  expect(fee).toBe(before - (await operatorHas(market)));
  expect((await free()).status).toBe(200);
  await known(market, agent.agentId);
  // All of it is used up; a day later it is there again.
  await market.context.db.query("update effects set fee = $2 where agent_id = $1", [
    agent.agentId,
    Math.ceil((6 * hbar) / (done + 1)),
  ]);
  expect((await free()).status).toBe(503);
  expect((await free(copy.url)).status).toBe(503);
  expect(await written(market, topic)).toBe(done + 1);
  const other = await writer(market, 0);
  expect((await other.free()).status).toBe(200);
  await market.context.db.query("update effects set created_at = created_at - interval '25 hours'");
  expect((await free()).status).toBe(200);
  await known(market, agent.agentId);
  await market.context.db.query("update effects set created_at = created_at - interval '25 hours'");
});

test("what all creators' agents spend together is bound too, before a buyer pays anything", async ({ market }) => {
  const [one, other] = [await writer(market, 5), await writer(market, 5)];
  const { db } = market.context;
  expect((await run(market, one.key, one.agent.address)).body.success).toBe(true);
  await known(market, one.agent.agentId);
  await db.query("update effects set fee = $2 where agent_id = $1", [one.agent.agentId, 9 * hbar]);
  const before = await balanceOf(market, other.key);
  const refused = await run(copy, other.key, other.agent.address);
  expect(refused.status).toBe(503);
  expect(await balanceOf(market, other.key)).toEqual(before);
  expect(await written(market, other.topic)).toBe(0);
  await db.query("update effects set fee = $2 where agent_id = $1", [one.agent.agentId, 7 * hbar]);
  expect((await run(copy, other.key, other.agent.address)).body.success).toBe(true);
  await known(market, other.agent.agentId);
  await db.query("update effects set created_at = created_at - interval '25 hours'");
});

test("a message in parts counts each of them, and attempts that failed count as the ledger charged them", async ({
  market,
}) => {
  const { agent, free } = await writer(market, 0);
  const before = await operatorHas(market);
  market.open.ledger.faults.set({ throttleAtConsensus: 1 });
  expect((await free()).status).toBe(500);
  market.open.ledger.faults.clear();
  await known(market, agent.agentId);
  expect((await free(market.url, "x".repeat(1_500))).status).toBe(200);
  await known(market, agent.agentId);
  expect((await feesOf(market, agent.agentId)).fee).toBe(before - (await operatorHas(market)));
  // Three parts could cost more than is left of the creator's part of a day.
  expect((await free(market.url, "x".repeat(2_500))).status).toBe(503);
  expect((await free(market.url, "x".repeat(1_500))).status).toBe(200);
});
