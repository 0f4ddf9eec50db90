import { expect } from "vitest";
import { toolNameOf } from "../../marketplace/agent-address.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { createKey } from "../../marketplace/api-keys/create.ts";
import { runCommand } from "../../marketplace/operator/command-line.ts";
import { reportAgent } from "../../marketplace/reports/report-agent.ts";
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
import { callTool, connectBuyer, textOf, toolNames } from "../support/mcp.ts";

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

test("nothing describes what a suspended creator published, as if it never was; calls of it are 503", async ({
  market,
}) => {
  const seeded = await seedMarket(market.context);
  const { key, agent, buyer, creator } = seeded;
  const never = `${creator.handle}/never`;
  const { client, tool } = await connectBuyer(market, seeded);
  const lean = await connectBuyer(market, seeded, { tools: "search" });
  const restricted = await connectBuyer(market, seeded, { scope: "rest_only", agents: [] });
  const described = async (address: string) => {
    const answer = await call(market.url, `/api/v1/agents/${address}`, { key });
    const told = await callTool(lean.client, "agent_describe", { agent: address });
    const missing = await callTool(restricted.client, toolNameOf(...(address.split("/") as [string, string]))).catch(
      (error: Error) => error.message,
    );
    return JSON.stringify([answer.status, answer.body, told, missing])
      .replaceAll(address, "")
      .replaceAll(address.replace("/", "--"), "");
  };
  expect(await toolNames(client)).toContain(tool);
  expect(await described(agent.address)).not.toBe(await described(never));
  await operator(market, "account", "suspend", "--account", creator.handle);
  const warned = market.lines.length;
  expect(await toolNames(client)).not.toContain(tool);
  expect(market.lines.slice(warned).join()).not.toContain("cannot be listed");
  expect(await described(agent.address)).toBe(await described(never));
  const chosen = { accountId: buyer.id, name: "k", scope: "chosen_agents", agents: [agent.address] } as const;
  await expect(createKey(market.context.db, chosen)).rejects.toThrow("is no live agent");
  const report = { address: "192.0.2.1", said: { reason: "other", text: "It is bad." } };
  await expect(reportAgent(market.context, agent.address, report)).rejects.toMatchObject({ code: "not_found" });
  expect((await run(market, key, agent.address)).status).toBe(503);
  expect(textOf(await callTool(client, tool, { text: "hello" }))).toContain("Call again later");
  await operator(market, "account", "restore", "--account", creator.handle);
  expect(await toolNames(client)).toContain(tool);
  expect(await described(agent.address)).not.toBe(await described(never));
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
