import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { expect } from "vitest";
import { publishAgent } from "../../../marketplace/agents/publish.ts";
import { createKey } from "../../../marketplace/api-keys/create.ts";
import { marketTest } from "../../support/fixtures.ts";
import { balanceOf, call, echoAgent, type Market, seedMarket } from "../../support/marketplace.ts";
import {
  allTools,
  callTool,
  connectBuyer,
  connectMcp,
  postMessage,
  rpc,
  textOf,
  toolNames,
} from "../../support/mcp.ts";

const test = marketTest();
let seeded: Market;
let other: Market;
let key: string;
let client: Client;
test.beforeAll(async ({ market }) => {
  seeded = await seedMarket(market.context, { price: 5 });
  other = await seedMarket(market.context);
  const description = "Says what it is told. It never adds anything. It was made for tests.";
  await publishAgent(market.context, seeded.creator, "echo", { ...echoAgent, description, price_credits: 5 });
  ({ client, key } = await connectBuyer(market, seeded, { tools: "search" }));
});

const leanTools = ["svg_generate", "svg_vectorize", "agents_search", "agent_describe", "agent_run"];
/** o200k_base and cl100k_base make 3.9 characters of these tools a token; 3.5 counts too many tokens, and never too few. */
const charactersPerToken = 3.5;

test("a key that finds its agents by search is shown five tools in 1,500 tokens at most, whatever it may run", async ({
  market,
}) => {
  const { db } = market.context;
  await db.query(
    `insert into agents (id, account_id, handle, slug, tool_name)
     select 'agt_lean_' || n, $1, $2, 'lean-' || n, $2 || '--lean-' || n from generate_series(1, 100) n`,
    [seeded.creator.id, seeded.creator.handle],
  );
  await db.query(
    `insert into agent_versions (agent_id, version, name, description, connector, price_credits, fields,
       accepts_extra_instructions, output_kind, settings, search)
     select 'agt_lean_' || n, 1, 'Lean', 'One of many.', 'llm', n, '[]', true, 'text', '{"prompt":"x"}', to_tsvector('')
     from generate_series(1, 100) n`,
  );
  await db.query("update agents set state = 'live', live_version = 1 where id like 'agt\\_lean\\_%'");
  const own = await createKey(db, { accountId: seeded.creator.id, name: "own", tools: "search" });
  for (const lean of [client, await connectMcp(market.url, own.token)]) {
    const tools = await allTools(lean);
    expect(tools.map(({ name }) => name)).toEqual(leanTools);
    expect(JSON.stringify(tools).length / charactersPerToken).toBeLessThanOrEqual(1_500);
  }
});

test("the address decides for one client what the key decides for all", async ({ market }) => {
  const all = await connectMcp(market.url, key, "?tools=all");
  expect(await toolNames(all)).toContain(seeded.agent.address.replace("/", "--"));
  const usual = await connectBuyer(market, seeded);
  expect(await toolNames(usual.client)).not.toContain("agent_run");
  expect(await toolNames(await connectMcp(market.url, usual.key, "?tools=search"))).toEqual(leanTools);
  const wrong = await fetch(`${market.url}/api/mcp?tools=few`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(rpc("tools/list")),
  });
  expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringContaining("all, search")]);
  const { token } = await createKey(market.context.db, {
    accountId: seeded.buyer.id,
    name: "rest",
    scope: "rest_only",
    tools: "search",
  });
  expect(await toolNames(await connectMcp(market.url, token))).toEqual(["svg_generate", "svg_vectorize"]);
});

test("an agent is found by search, described with its schema, and run at its price", async ({ market }) => {
  const found = (await callTool(client, "agents_search", { query: "says" })).structuredContent as {
    agents: Array<{ agent: string }>;
  };
  const { address } = seeded.agent;
  expect(found.agents).toEqual([
    { agent: address, name: "Echo", description: "Says what it is told.", price_credits: 5 },
  ]);
  const described = await callTool(client, "agent_describe", { agent: address });
  const { body } = await call(market.url, `/api/v1/agents/${address}`, { key });
  expect(described.structuredContent).toMatchObject({
    agent: address,
    description: expect.stringContaining("made for tests"),
    price_credits: 5,
    can_be_undone: true,
    input_schema: body.input_schema,
  });
  const { credits } = await balanceOf(market, key);
  const ran = await callTool(client, "agent_run", { agent: address, input: { text: "hello" } });
  expect(textOf(ran)).toContain("hello");
  expect(ran._meta).toMatchObject({ run_id: expect.stringMatching(/^run_/), credits_used: 5 });
  const meta = { idempotency_key: "once" };
  const [one, two] = await Promise.all(
    [address, address.replace("/", "--")].map((agent) =>
      callTool(client, "agent_run", { agent, input: { text: "x" } }, meta),
    ),
  );
  expect(one?._meta?.run_id).toBe(two?._meta?.run_id);
  expect((await balanceOf(market, key)).credits).toBe(credits - 10);
});

test("what cannot be run is told so that a model can act on it, and costs nothing", async ({ market }) => {
  const { credits } = await balanceOf(market, key);
  const refused = async (tool: string, input: object, meta?: object) => callTool(client, tool, input, meta);
  const { address } = seeded.agent;
  for (const agent of [other.agent.address, "no/such-agent", "no--such", "\0"]) {
    for (const tool of ["agent_describe", "agent_run"]) {
      const answer = await refused(tool, { agent });
      expect(answer).toMatchObject({ isError: true, _meta: { field: "agent" } });
      expect(textOf(answer)).toContain("agents_search");
      // Only of what everybody may see is it said how the key would reach it.
      expect(textOf(answer).includes("is live, but outside the scope")).toBe(agent === other.agent.address);
    }
  }
  const dear = await refused("agent_run", { agent: address, input: { text: "x" }, max_credits: 4 });
  expect(dear).toMatchObject({ isError: true, _meta: { limit_source: "request" } });
  const capped = await refused(
    "agent_run",
    { agent: address, input: { text: "x" }, max_credits: 9 },
    { max_credits: 4 },
  );
  expect(capped).toMatchObject({ isError: true, _meta: { limit_source: "request" } });
  expect(await refused("agent_run", { agent: address })).toMatchObject({ isError: true, _meta: { field: "text" } });
  expect(await refused("agent_run", { agent: address, input: "x" })).toMatchObject({ _meta: { field: "input" } });
  expect((await balanceOf(market, key)).credits).toBe(credits);
  const usual = await connectBuyer(market, seeded);
  const message = rpc("tools/call", { name: "agent_run", arguments: { agent: address } });
  expect(await (await postMessage(market.url, usual.key, message)).text()).toContain("-32602");
});
