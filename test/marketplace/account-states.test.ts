import { expect } from "vitest";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { runCommand } from "../../marketplace/operator/command-line.ts";
import { marketTest } from "../support/fixtures.ts";
import {
  balanceOf,
  call,
  echoAgent,
  proveLedger,
  run,
  seedMarket,
  type TestMarketplace,
  until,
} from "../support/marketplace.ts";

const test = marketTest();
test.afterEach(({ market }) => proveLedger(market.context));

const operator = (market: TestMarketplace, ...args: string[]) => runCommand(args, market.environment);

test("a suspended account's keys are refused, its agents are neither run nor listed; restored, all is as before", async ({
  market,
}) => {
  const { key, agent, buyer, creator } = await seedMarket(market.context);
  expect(await operator(market, "account", "suspend", "--account", buyer.handle)).toContain("state: suspended");
  expect((await call(market.url, "/api/v1/balance", { key })).status).toBe(401);
  await operator(market, "account", "restore", "--account", buyer.handle);
  expect((await call(market.url, "/api/v1/balance", { key })).status).toBe(200);
  await operator(market, "account", "suspend", "--account", creator.handle);
  expect((await run(market, key, agent.address)).status).toBe(503);
  const listed = async () => (await call(market.url, `/api/v1/agents?creator=${creator.handle}`, { key })).body.total;
  expect(await listed()).toBe(0);
  // What the operator takes off the market and puts back meanwhile does not come back before its creator does.
  await operator(market, "agents", "suspend", agent.address);
  await operator(market, "agents", "restore", agent.address);
  expect(await listed()).toBe(0);
  await operator(market, "account", "restore", "--account", creator.handle);
  expect(await listed()).toBe(1);
  expect((await run(market, key, agent.address)).body.success).toBe(true);
  await expect(operator(market, "account", "restore", "--account", creator.handle)).rejects.toMatchObject({
    code: "conflict",
  });
});

test("a closed account stays closed: keys revoked, agents gone, its postings kept", async ({ market }) => {
  const { key, agent, buyer, creator } = await seedMarket(market.context);
  await run(market, key, agent.address);
  await operator(market, "account", "close", "--account", creator.handle);
  expect((await run(market, key, agent.address)).status).toBe(404);
  expect((await call(market.url, `/api/v1/agents?creator=${creator.handle}`, { key })).body.total).toBe(0);
  const closed = { ...creator, state: "closed" } as const;
  await expect(publishAgent(market.context, closed, "echo", echoAgent)).rejects.toMatchObject({ code: "conflict" });
  await operator(market, "account", "close", "--account", buyer.handle);
  expect((await call(market.url, "/api/v1/balance", { key })).status).toBe(401);
  for (const move of ["restore", "suspend", "close"]) {
    await expect(operator(market, "account", move, "--account", buyer.handle)).rejects.toMatchObject({
      code: "conflict",
    });
  }
});

test("an agent that was suspended when its account closed is not on the market again when it is restored", async ({
  market,
}) => {
  const { db } = market.context;
  const { key, agent, creator } = await seedMarket(market.context);
  await operator(market, "agents", "suspend", agent.address);
  await operator(market, "account", "close", "--account", creator.handle);
  const { rows } = await db.query("select suspended_from from agents where id = $1", [agent.agentId]);
  expect(rows).toEqual([{ suspended_from: "unpublished" }]);
  // As accounts left it that were closed before.
  await db.query("update agents set suspended_from = 'live' where id = $1", [agent.agentId]);
  expect(await operator(market, "agents", "restore", agent.address)).toContain("state: unpublished");
  expect((await run(market, key, agent.address)).status).toBe(404);
});

test("an account is not closed while a run of it is under way", async ({ market }) => {
  const { key, agent, buyer } = await seedMarket(market.context, { price: 5, balance: 5 });
  const before = market.model.asked();
  market.model.injectFault({ delayMs: 600_000 });
  const answer = run(market, key, agent.address);
  await until(async () => (await balanceOf(market, key)).held_credits === 5);
  await expect(operator(market, "account", "close", "--account", buyer.handle)).rejects.toMatchObject({
    code: "conflict",
  });
  await until(() => market.model.asked() > before);
  market.model.answerHeld();
  expect((await answer).body.success).toBe(true);
  expect(await operator(market, "account", "close", "--account", buyer.handle)).toContain("state: closed");
});
