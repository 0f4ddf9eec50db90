import { expect } from "vitest";
import { ledgerMarketTest } from "../support/fixtures.ts";
import { type LedgerMarket, newTopic, seedLedgerCreator } from "../support/ledger-agents.ts";
import { balanceOf, call, proveLedger, run, until } from "../support/marketplace.ts";
import { startProcess } from "../support/marketplace-process.ts";

const test = ledgerMarketTest();
test.afterEach(({ market }) => market.open.ledger.faults.clear());
test.afterAll(({ market }) => proveLedger(market.context));

async function writer(market: LedgerMarket) {
  const seeded = await seedLedgerCreator(market);
  const topic = await newTopic(market, "open");
  const agent = await seeded.publish("hcs-write", { topic, message: "{{text}}" });
  return { ...seeded, topic, agent };
}
const messageCount = async (market: LedgerMarket, topic: string) =>
  (await market.open.mirror(`topics/${topic}/messages`)).messages.length;
const earnedBy = async (market: LedgerMarket, accountId: string) =>
  Number(
    (await market.context.db.query("select sum(amount) from postings where to_purse = $1", [`earned:${accountId}`]))
      .rows[0].sum,
  );
const runOf = async (market: LedgerMarket, key: string) => {
  const [{ run_id: id }] = (await call(market.url, "/api/v1/runs", { key })).body.runs;
  return (await call(market.url, `/api/v1/runs/${id}`, { key })).body;
};
/** As waiting would, ends the lease of a run that nobody works on any more. */
const lapse = (market: LedgerMarket, agentId: string) =>
  market.context.db.query(
    "update runs set lease_until = now() - interval '1 second' where agent_id = $1 and state = 'running'",
    [agentId],
  );

test("a copy killed while the ledger has its transaction: the message counts, the creator is paid, once", async ({
  market,
}) => {
  const { key, creator, topic, agent } = await writer(market);
  // Its transaction stays good however long it takes to kill it.
  const doomed = await startProcess({ ...market.environment, HEDERA_VALID_SECONDS: "90" });
  market.open.ledger.faults.set({ consensusDelayMs: 600_000, dropReply: 1 });
  const answer = run({ ...market, url: doomed.url }, key, agent.address, { text: "survives" }).catch(() => "died");
  await until(async () => (await openEffects(market, agent.agentId)) === 1);
  await until(() => market.open.ledger.faults.current().dropReply === undefined);
  doomed.child.kill("SIGKILL");
  expect(await answer).toBe("died");
  market.open.ledger.faults.clear();
  await lapse(market, agent.agentId);
  await until(async () => (await runOf(market, key)).state !== "running");
  expect(await messageCount(market, topic)).toBe(1);
  expect(await runOf(market, key)).toMatchObject({
    state: "succeeded",
    output: { kind: "receipt", status: "SUCCESS" },
    receipt: { topicId: topic, sequence: 1 },
  });
  expect(await balanceOf(market, key)).toMatchObject({ credits: 95, held_credits: 0 });
  expect(await earnedBy(market, creator.id)).toBe(5);
});

test("a copy killed after a node lost its transaction: refunded, and not while it might still happen", async ({
  market,
}) => {
  const { key, topic, agent } = await writer(market);
  const doomed = await startProcess(market.environment);
  market.open.ledger.faults.set({ loseTx: 1 });
  const answer = run({ ...market, url: doomed.url }, key, agent.address, { text: "lost" }).catch(() => "died");
  await until(async () => (await openEffects(market, agent.agentId)) === 1);
  await until(() => market.open.ledger.faults.current().loseTx === undefined);
  doomed.child.kill("SIGKILL");
  expect(await answer).toBe("died");
  await lapse(market, agent.agentId);
  await until(async () => (await runOf(market, key)).state !== "running");
  expect(await runOf(market, key)).toMatchObject({ state: "failed" });
  const { rows } = await market.context.db.query(
    "select r.finished_at > e.valid_until as over from effects e join runs r on r.id = e.run_id where e.agent_id = $1",
    [agent.agentId],
  );
  expect(rows).toEqual([{ over: true }]);
  expect(await balanceOf(market, key)).toMatchObject({ credits: 100, held_credits: 0 });
  expect(await messageCount(market, topic)).toBe(0);
});

test("nobody answers: the run says that it is not known, keeps the credits held, and ends as the ledger says later", async ({
  market,
}) => {
  const { key, creator, topic, agent } = await writer(market);
  // The chain executes nothing until its nodes no longer answer.
  market.open.ledger.faults.set({ consensusDelayMs: 600_000 });
  const answering = run(market, key, agent.address, { text: "silence" });
  await until(async () => (await openEffects(market, agent.agentId)) === 1);
  market.open.ledger.faults.set({ queryUnavailable: 1_000_000, mirrorUnavailable: 1_000_000, consensusDelayMs: 0 });
  const { body } = await answering;
  expect(body).toMatchObject({ success: false, credits_used: 0, credits_remaining: 95, receipt: null });
  expect(body.error).toContain("not known yet");
  await lapse(market, agent.agentId);
  await until(() => isLeased(market, agent.agentId));
  expect(await balanceOf(market, key)).toMatchObject({ credits: 95, held_credits: 5 });
  market.open.ledger.faults.clear();
  await lapse(market, agent.agentId);
  await until(async () => (await runOf(market, key)).state !== "running");
  expect(await runOf(market, key)).toMatchObject({ run_id: body.run_id, state: "succeeded" });
  expect(await messageCount(market, topic)).toBe(1);
  expect(await earnedBy(market, creator.id)).toBe(5);
});

async function openEffects(market: LedgerMarket, agentId: string): Promise<number> {
  const { rows } = await market.context.db.query("select 1 from effects where agent_id = $1 and state = 'open'", [
    agentId,
  ]);
  return rows.length;
}

/** After `lapse`: whether the recovery has asked the ledger in vain, and put off asking again. */
async function isLeased(market: LedgerMarket, agentId: string): Promise<boolean> {
  const { rows } = await market.context.db.query("select 1 from runs where agent_id = $1 and lease_until > now()", [
    agentId,
  ]);
  return rows.length === 1;
}
