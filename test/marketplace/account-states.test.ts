import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { runCommand } from "../../marketplace/operator/command-line.ts";
import {
  balanceOf,
  call,
  echoAgent,
  proveLedger,
  run,
  seedMarket,
  startMarketplace,
  type TestMarketplace,
  until,
} from "../support/marketplace.ts";

let market: TestMarketplace;
beforeAll(async () => {
  market = await startMarketplace();
});
afterEach(() => proveLedger(market.context));
afterAll(() => market.stop());

const operator = (...args: string[]) => runCommand(args, market.environment);

test("a suspended account's keys are refused and its agents are not run; restored, all is as before", async () => {
  const { key, agent, buyer, creator } = await seedMarket(market.context);
  expect(await operator("account", "suspend", "--account", buyer.handle)).toContain("state: suspended");
  expect((await call(market.url, "/api/v1/balance", { key })).status).toBe(401);
  await operator("account", "restore", "--account", buyer.handle);
  expect((await call(market.url, "/api/v1/balance", { key })).status).toBe(200);
  await operator("account", "suspend", "--account", creator.handle);
  expect((await run(market, key, agent.address)).status).toBe(503);
  await operator("account", "restore", "--account", creator.handle);
  expect((await run(market, key, agent.address)).body.success).toBe(true);
  await expect(operator("account", "restore", "--account", creator.handle)).rejects.toMatchObject({ code: "conflict" });
});

test("a closed account stays closed: keys revoked, agents gone, its postings kept", async () => {
  const { key, agent, buyer, creator } = await seedMarket(market.context);
  await run(market, key, agent.address);
  await operator("account", "close", "--account", creator.handle);
  expect((await run(market, key, agent.address)).status).toBe(404);
  expect((await call(market.url, `/api/v1/agents?creator=${creator.handle}`, { key })).body.total).toBe(0);
  const closed = { ...creator, state: "closed" } as const;
  await expect(publishAgent(market.context, closed, "echo", echoAgent)).rejects.toMatchObject({ code: "conflict" });
  await operator("account", "close", "--account", buyer.handle);
  expect((await call(market.url, "/api/v1/balance", { key })).status).toBe(401);
  for (const move of ["restore", "suspend", "close"]) {
    await expect(operator("account", move, "--account", buyer.handle)).rejects.toMatchObject({ code: "conflict" });
  }
});

test("an account is not closed while a run of it is under way", async () => {
  const { key, agent, buyer } = await seedMarket(market.context, { price: 5, balance: 5 });
  market.model.injectFault({ delayMs: 500 });
  const answer = run(market, key, agent.address);
  await until(async () => (await balanceOf(market, key)).held_credits === 5);
  await expect(operator("account", "close", "--account", buyer.handle)).rejects.toMatchObject({ code: "conflict" });
  expect((await answer).body.success).toBe(true);
  expect(await operator("account", "close", "--account", buyer.handle)).toContain("state: closed");
});
