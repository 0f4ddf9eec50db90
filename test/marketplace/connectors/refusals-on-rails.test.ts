import { TopicCreateTransaction } from "@hashgraph/sdk";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, vi } from "vitest";
import { toolNameOf } from "../../../marketplace/agent-address.ts";
import { type Published, publishAgent } from "../../../marketplace/agents/publish.ts";
import { moveAgent } from "../../../marketplace/agents/state.ts";
import { createKey } from "../../../marketplace/api-keys/create.ts";
import { inTransaction } from "../../../shared/postgres.ts";
import type { OpenLedger } from "../../infra/local-hedera/sdk.ts";
import { elapse } from "../../support/elapse.ts";
import { paidTest } from "../../support/fixtures.ts";
import { allow, operatorVariables } from "../../support/ledger-agents.ts";
import { balanceOf, call, run, seedMarket, until } from "../../support/marketplace.ts";
import { callTool, connectMcp, textOf } from "../../support/mcp.ts";
import type { PaidMarket } from "../../support/paid-market.ts";
import { perFile } from "../../support/part.ts";
import { decodeHeader, encodeHeader, payQuote, post, settleFirst } from "../../support/pay-call.ts";

const test = paidTest().extend("options", perFile, ({ open }) => ({ env: operatorVariables(open) }));

test.afterEach(({ open, paid }) => {
  open.ledger.faults.clear();
  paid.toFacilitator.behave(() => "pass");
});

const receiver = "0.0.1003";
const bad = { to: "xyz", amount: "5" };
const good = { to: receiver, amount: "5" };
const caps = { per_run_max: "1000", per_day_max: "100000" };
const transfer = { asset: "hbar", to: "{{to}}", amount: "{{amount}}", ...caps };
let agents = 0;

function publish(paid: PaidMarket, connector: string, settings: object, more: object = {}): Promise<Published> {
  agents += 1;
  return publishAgent(paid.marketplace.context, paid.market.creator, `railed-${agents}`, {
    name: "On the ledger",
    description: "Does what cannot be undone.",
    connector,
    price_credits: 5,
    fields: ["text", "to", "amount"].map((name) => ({ name, type: "text" })),
    settings: { network: "hedera:testnet", ...settings },
    ...more,
  });
}

const allowed = (open: OpenLedger, amount: number) => allow({ open } as Parameters<typeof allow>[0], amount);
const newTopic = async (open: OpenLedger) => (await open.run(new TopicCreateTransaction())).topicId!.toString();
const urlOf = (paid: PaidMarket, { address }: Published) => `${paid.marketplace.url}/api/agent/${address}`;
const settled = async (paid: PaidMarket) => {
  const { rows } = await paid.facilitator.context.db.query("select count(*) from payments where state = 'settled'");
  return Number(rows[0].count);
};

describe("over MCP", () => {
  const toolOf = ({ address }: Published) => toolNameOf(...(address.split("/") as [string, string]));

  test("with a key: an error that a model can act on, and no credits", async ({ open, paid }) => {
    await allowed(open, 100_000);
    const agent = await publish(paid, "hedera-transfer", transfer);
    const { buyer } = paid.market;
    const scope = { accountId: buyer.id, name: "tools", scope: "chosen_agents", agents: [agent.address] } as const;
    const { token } = await createKey(paid.marketplace.context.db, scope);
    const client = await connectMcp(paid.marketplace.url, token);
    const before = (await balanceOf(paid.marketplace, token)).credits;
    const refused = await callTool(client, toolOf(agent), bad);
    expect(refused).toMatchObject({ isError: true, _meta: { credits_used: 0, field: "to", charged: false } });
    expect(textOf(refused)).toMatch(/account id such as .* Nothing was charged\. Correct the arguments/);
    expect((await callTool(client, toolOf(agent), good)).isError).toBeFalsy();
    expect((await balanceOf(paid.marketplace, token)).credits).toBe(before - 5);
    await client.close();
  });

  test("paid: refused with nothing settled, and the corrected arguments with the same payment then work", async ({
    open,
    paid,
  }) => {
    await allowed(open, 100_000);
    const agent = await publish(paid, "hedera-transfer", transfer);
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${paid.marketplace.url}/api/x402/mcp`)) as never);
    const quoted = await callTool(client, toolOf(agent), bad);
    const headers = new Headers({ "payment-required": encodeHeader(quoted.structuredContent as object) });
    const payment = { "x402/payment": await payQuote(paid, "evm", { status: 402, headers, body: {} }) };
    const before = await settled(paid);
    const refused = await callTool(client, toolOf(agent), bad, payment);
    expect(refused).toMatchObject({ isError: true, _meta: { field: "to", charged: false } });
    expect(textOf(refused)).toContain("Nothing was charged. Correct the arguments");
    expect(await settled(paid)).toBe(before);
    const served = await callTool(client, toolOf(agent), good, payment);
    expect(served.isError).toBeFalsy();
    expect(served._meta?.["x402/payment-response"]).toMatchObject({ success: true });
    expect(await settled(paid)).toBe(before + 1);
    await client.close();
  });

  test("paid, and failed after the settlement: charged, with the settlement and what helps", async ({ open, paid }) => {
    const agent = await publish(paid, "hcs-write", { topic: await newTopic(open), message: "{{text}}" });
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${paid.marketplace.url}/api/x402/mcp`)) as never);
    const input = { text: "in the end" };
    const quoted = await callTool(client, toolOf(agent), input);
    const headers = new Headers({ "payment-required": encodeHeader(quoted.structuredContent as object) });
    const payment = { "x402/payment": await payQuote(paid, "evm", { status: 402, headers, body: {} }) };
    open.ledger.faults.set({ throttleAtConsensus: 1 });
    const failed = await callTool(client, toolOf(agent), input, payment);
    expect(failed).toMatchObject({
      isError: true,
      _meta: { charged: true, "x402/payment-response": { success: true, transaction: expect.stringMatching(/^0x/) } },
    });
    expect(textOf(failed)).toContain("with the same input to run again without paying");
    await moveAgent(paid.marketplace.context.db, agent.address, "suspend");
    const owed = await callTool(client, toolOf(agent), input, payment);
    expect(owed).toMatchObject({ isError: true, _meta: { charged: true, debt: { agent: agent.address } } });
    await expect(callTool(client, toolOf(agent), input)).rejects.toThrow("There is no tool");
    await moveAgent(paid.marketplace.context.db, agent.address, "restore");
    expect((await callTool(client, toolOf(agent), input, payment)).isError).toBeFalsy();
    await client.close();
  });
});

describe("a payment settled at the facilitator first", () => {
  test.for(["evm", "hedera"] as const)(
    "%s: a refusal says that it stays good; corrected it works",
    async (chain, { open, paid }) => {
      await allowed(open, 100_000);
      const url = urlOf(paid, await publish(paid, "hedera-transfer", transfer));
      const proof = await payQuote(paid, chain, await post(url, { body: bad }));
      await settleFirst(paid, proof);
      const before = await settled(paid);
      const refused = await post(url, { body: bad, proof });
      expect(refused).toMatchObject({ status: 400, body: { field: "to", charged: true } });
      expect(refused.body.advice).toContain("another");
      expect(decodeHeader(refused.headers.get("payment-response"))).toMatchObject({ success: true });
      const served = await post(url, { body: good, proof });
      expect([served.status, served.body.error]).toEqual([200, undefined]);
      expect(await settled(paid)).toBe(before);
    },
  );
});

test("a settlement that was not heard of keeps what was reserved for it until its buyer comes back", async ({
  open,
  paid,
}) => {
  const url = urlOf(
    paid,
    await publish(paid, "hcs-write", { topic: await newTopic(open), message: "{{text}}", per_day_max: 1 }),
  );
  const body = { text: "mine" };
  const quote = await post(url, { body });
  const [mine, other] = [await payQuote(paid, "evm", quote), await payQuote(paid, "evm", quote)];
  paid.toFacilitator.behave((path) => (path === "/settle" ? "lose-answer" : "pass"));
  expect((await post(url, { body, proof: mine })).status).toBe(503);
  paid.toFacilitator.behave(() => "pass");
  expect(await post(url, { body, proof: other })).toMatchObject({ status: 503, body: { charged: false } });
  expect((await post(url, { body, proof: mine })).status).toBe(200);
  expect(await post(url, { body, proof: other })).toMatchObject({ status: 503, body: { charged: false } });
});

test("a mirror that is late hides no spending: what was moved a moment ago is not there twice", async ({
  open,
  paid,
}) => {
  await allowed(open, 1_000);
  const agent = await publish(paid, "hedera-transfer", transfer);
  await allowed(open, 7);
  await elapse(2_100, "the mirror shows what was allowed, however late it is");
  open.ledger.faults.set({ mirrorLagMs: 2_000 });
  const url = urlOf(paid, agent);
  const quote = await post(url, { body: good });
  const before = await settled(paid);
  const first = await post(url, { body: good, proof: await payQuote(paid, "evm", quote) });
  expect([first.status, first.body.error]).toEqual([200, undefined]);
  const second = await post(url, { body: good, proof: await payQuote(paid, "evm", quote) });
  expect(second).toMatchObject({ status: 503, body: { charged: false } });
  expect(await settled(paid)).toBe(before + 1);
});

test("equal requests on credits, named alike and sent at once, are one run though there is room for one only", async ({
  open,
  paid,
}) => {
  const agent = await publish(paid, "hcs-write", { topic: await newTopic(open), message: "{{text}}", per_day_max: 1 });
  const { key } = paid.market;
  const options = {
    key,
    body: { agent: agent.address, input: { text: "once" } },
    headers: { "idempotency-key": "same" },
  };
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => call(paid.marketplace.url, "/api/v1/run", options)),
  );
  expect(answers.map(({ status, body }) => [status, body.success])).toEqual(Array(10).fill([200, true]));
  expect(new Set(answers.map(({ body }) => body.run_id)).size).toBe(1);
  expect((await run(paid.marketplace, key, agent.address, { text: "more" })).status).toBe(503);
});

test("an equal request that finds the room taken waits for the one that took it, however long that takes to begin", async ({
  open,
  paid,
}) => {
  const topic = await newTopic(open);
  const agent = await publish(paid, "hcs-write", { topic, message: "{{text}}", per_day_max: 1 });
  const { context, url } = paid.marketplace;
  const { buyer, key } = await seedMarket(context, { balance: 1_000 });
  const body = { agent: agent.address, input: { text: "once" } };
  const ask = () => call(url, "/api/v1/run", { key, body, headers: { "idempotency-key": "same" } });
  const isReserved = async () => {
    const { rows } = await context.db.query("select from reservations where pool like $1", [`%message to ${topic}`]);
    return rows.length === 1;
  };
  const asked = await inTransaction(context.db, async (tx) => {
    await tx.query("select from balances where account_id = $1 for update", [buyer.id]);
    const first = ask();
    await until(isReserved);
    const looks = vi.spyOn(context.reservations, "isAnnounced");
    const second = ask();
    // The second has been refused, found the first about to start, and looks again.
    await until(() => looks.mock.calls.length > 1);
    looks.mockRestore();
    return [first, second];
  });
  const [first, second] = await Promise.all(asked);
  expect([first!.status, first!.body.success]).toEqual([200, true]);
  expect([second!.status, second!.text]).toEqual([200, first!.text]);
  expect((await balanceOf(paid.marketplace, key)).credits).toBe(995);
});

test("equal requests that are both refused do not wait for each other", async ({ open, paid }) => {
  await allowed(open, 100_000);
  const agent = await publish(paid, "hedera-transfer", transfer);
  const { key } = paid.market;
  const body = { agent: agent.address, input: bad };
  const ask = () => call(paid.marketplace.url, "/api/v1/run", { key, body, headers: { "idempotency-key": "both" } });
  for (const { status, body } of await Promise.all([ask(), ask()])) {
    expect([status, body.field]).toEqual([400, "to"]);
  }
});

test("who cannot pay learns nothing of the ledger: 402 before any look", async ({ open, paid }) => {
  await allowed(open, 100_000);
  const agent = await publish(paid, "hedera-transfer", transfer, { price_credits: 100_000 });
  for (const input of [bad, { ...good, to: "0.0.987654" }, good]) {
    expect((await run(paid.marketplace, paid.market.key, agent.address, input)).status).toBe(402);
  }
});

test("a free agent is asked the same: what cannot work is refused, and nothing is begun", async ({ open, paid }) => {
  await allowed(open, 100_000);
  const agent = await publish(paid, "hedera-transfer", transfer, { price_credits: 0 });
  expect(await post(urlOf(paid, agent), { body: bad })).toMatchObject({
    status: 400,
    body: { field: "to", charged: false },
  });
  expect((await post(urlOf(paid, agent), { body: good })).status).toBe(200);
});
