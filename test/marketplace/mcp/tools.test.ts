import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { describe, expect, onTestFinished, vi } from "vitest";
import { createAccount } from "../../../marketplace/accounts/create.ts";
import { renameAccount } from "../../../marketplace/accounts/rename.ts";
import { publishAgent } from "../../../marketplace/agents/publish.ts";
import { moveAgent } from "../../../marketplace/agents/state.ts";
import { createKey } from "../../../marketplace/api-keys/create.ts";
import { revokeKey } from "../../../marketplace/api-keys/revoke.ts";
import { credits } from "../../../marketplace/credits/amount.ts";
import { grant } from "../../../marketplace/credits/ledger.ts";
import { marketTest } from "../../support/fixtures.ts";
import { call, echoAgent, type Market, seedMarket } from "../../support/marketplace.ts";
import { allTools, answerOf, callTool, connectMcp, postMessage, rpc, textOf, toolNames } from "../../support/mcp.ts";

const test = marketTest();
let mine: Market;
let theirs: Market;
let owner: Client;
let chooser: Client;
let restOnly: Client;
const builtInTools = ["svg_generate", "svg_vectorize", "agents_search"];
const toolOf = ({ agent }: Market) => agent.address.replace("/", "--");
test.beforeAll(async ({ market }) => {
  mine = await seedMarket(market.context);
  theirs = await seedMarket(market.context);
  const { db } = market.context;
  const accountId = mine.creator.id;
  const rateLimitPerMinute = 10_000;
  const own = await createKey(db, { accountId, name: "own", rateLimitPerMinute });
  const scope = "chosen_agents";
  const agents = [theirs.agent.address];
  const chosen = await createKey(db, { accountId, name: "chosen", scope, agents, rateLimitPerMinute });
  const rest = await createKey(db, { accountId, name: "rest", scope: "rest_only", rateLimitPerMinute });
  owner = await connectMcp(market.url, own.token);
  chooser = await connectMcp(market.url, chosen.token);
  restOnly = await connectMcp(market.url, rest.token);
});

describe("tools of a key", () => {
  test("are its account's own agents, the chosen ones, or for REST only none but the vector graphics", async () => {
    expect(await toolNames(owner)).toEqual([...builtInTools, toolOf(mine)]);
    expect(await toolNames(chooser)).toEqual([...builtInTools, toolOf(theirs)]);
    expect(await toolNames(restOnly)).toEqual(["svg_generate", "svg_vectorize"]);
  });

  test("are all it can call: what is live elsewhere is said with how to reach it, and nothing of what is not public", async ({
    market,
  }) => {
    const refused = async (client: Client, name: string) =>
      callTool(client, name, { text: "hello" }).then(
        () => "answered",
        (error: { code: number; message: string }) => ({
          code: error.code,
          message: error.message.replace(name, "NAME"),
        }),
      );
    const nothing = await refused(owner, "no--such-agent");
    expect(nothing).toMatchObject({ code: -32602 });
    for (const [client, scope, { agent }] of [
      [owner, "own_agents", theirs],
      [chooser, "chosen_agents", mine],
      [restOnly, "rest_only", mine],
    ] as const) {
      const name = agent.address.replace("/", "--");
      const elsewhere = await refused(client, name);
      expect(elsewhere).toMatchObject({ code: -32602 });
      for (const said of [agent.address, `(${scope})`, "PATCH /api/account/keys/key_", "`scope`", "`agents`"]) {
        expect(elsewhere).toMatchObject({ message: expect.stringContaining(said) });
      }
    }
    expect(await refused(restOnly, "agents_search")).toEqual(nothing);
    await moveAgent(market.context.db, theirs.agent.address, "unpublish");
    expect(await refused(owner, toolOf(theirs))).toEqual(nothing);
    await publishAgent(market.context, theirs.creator, "echo", echoAgent);
  });

  test("never mix, however many ask at once", async () => {
    const asked = Array.from({ length: 60 }, (_, n) => [owner, chooser, restOnly][n % 3] as Client);
    const seen = await Promise.all(asked.map(toolNames));
    const expected = [
      [...builtInTools, toolOf(mine)],
      [...builtInTools, toolOf(theirs)],
      ["svg_generate", "svg_vectorize"],
    ];
    expect(seen).toEqual(asked.map((_, n) => expected[n % 3]));
  });

  test("come and go with their agents, at once", async ({ market }) => {
    await moveAgent(market.context.db, mine.agent.address, "unpublish");
    expect(await toolNames(owner)).toEqual(builtInTools);
    await expect(callTool(owner, toolOf(mine), { text: "x" })).rejects.toMatchObject({ code: -32602 });
    await publishAgent(market.context, mine.creator, "echo", { ...echoAgent, description: "Anew.", price_credits: 5 });
    const tool = (await allTools(owner)).at(-1)!;
    expect(tool).toMatchObject({ name: toolOf(mine), description: expect.stringMatching(/^Anew\./) });
  });

  test("are gone with the key", async ({ market }) => {
    const key = await createKey(market.context.db, { accountId: theirs.creator.id, name: "short" });
    const client = await connectMcp(market.url, key.token);
    expect(await toolNames(client)).toContain(toolOf(theirs));
    await revokeKey(market.context.db, theirs.creator.id, key.id);
    await expect(client.listTools()).rejects.toThrow();
  });

  test("come in pages, in one order, each once", async ({ market }) => {
    const many = await seedMarket(market.context);
    const { db } = market.context;
    await db.query(
      `insert into agents (id, account_id, handle, slug, tool_name)
       select 'agt_many_' || n, $1, $2, 'many-' || n, $2 || '--many-' || n from generate_series(1, 120) n`,
      [many.creator.id, many.creator.handle],
    );
    await db.query(
      `insert into agent_versions (agent_id, version, name, description, connector, price_credits, fields,
         accepts_extra_instructions, output_kind, settings, search)
       select 'agt_many_' || n, 1, 'Many', 'One of many.', 'llm', n, '[]', true, 'text', '{"prompt":"x"}', to_tsvector('')
       from generate_series(1, 120) n`,
    );
    await db.query("update agents set state = 'live', live_version = 1 where id like 'agt\\_many\\_%'");
    const key = await createKey(db, { accountId: many.creator.id, name: "many", rateLimitPerMinute: 1_000 });
    const client = await connectMcp(market.url, key.token);
    const first = await client.listTools();
    expect(first.tools.length).toBe(builtInTools.length + 50);
    const names = await toolNames(client);
    expect(names.length).toBe(builtInTools.length + 121);
    expect(new Set(names).size).toBe(names.length);
    expect(await toolNames(client)).toEqual(names);
  });
});

describe("a tool", () => {
  test("has the agent's own input schema, its price, how long it takes, and honest hints", async ({ market }) => {
    const tool = (await allTools(owner)).at(-1)!;
    const { body } = await call(market.url, `/api/v1/agents/${mine.agent.address}`, { key: mine.key });
    expect(tool.inputSchema).toEqual(body.input_schema);
    expect(tool.name).toBe(body.mcp_tool);
    expect(tool.description).toMatch(/Costs 5 credits \(US\$0\.05\) a run.*2 to 15 seconds/);
    expect(tool._meta).toMatchObject({
      agent: mine.agent.address,
      price_credits: 5,
      typical_duration_seconds: [2, 15],
    });
    expect(tool.annotations).toEqual({
      title: "Echo",
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: false,
      openWorldHint: true,
    });
    expect(JSON.stringify(tool)).not.toContain("RECIPE-MARK");
  });

  test("is named so that every model API takes it, whatever the agent is called", async ({ market }) => {
    const named = await seedMarket(market.context);
    const slug = "s".repeat(48);
    await publishAgent(market.context, named.creator, slug, echoAgent);
    const key = await createKey(market.context.db, { accountId: named.creator.id, name: "named" });
    const names = await toolNames(await connectMcp(market.url, key.token));
    for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,48}$/);
    const cut = names.find((name) => name.includes("--sss")) as string;
    expect(cut).toMatch(/-[0-9a-f]{6}$/);
  });

  test("has a name of its own, also where another agent's would be the same", async ({ market }) => {
    const { context } = market;
    const [one, other] = [
      await createAccount(context.db, { handle: "twin--pine" }),
      await createAccount(context.db, { handle: "twin" }),
    ];
    await publishAgent(context, one, "tree", echoAgent);
    await publishAgent(context, other, "pine--tree", { ...echoAgent, name: "Other" });
    await publishAgent(context, other, "pine--tree", { ...echoAgent, name: "Other again" });
    const tools = async (accountId: typeof one.id) =>
      (
        await toolNames(await connectMcp(market.url, (await createKey(context.db, { accountId, name: "x" })).token))
      ).slice(3);
    expect(await tools(one.id)).toEqual(["twin--pine--tree"]);
    expect(await tools(other.id)).toEqual([expect.stringMatching(/^twin--pine--tree-[0-9a-f]{6}$/)]);
  });

  test("whose agent its creator broke does not keep the others from being listed", async ({ market }) => {
    const broken = await seedMarket(market.context);
    await publishAgent(market.context, broken.creator, "broken", { ...echoAgent, secrets: { token: "x" } });
    await market.context.db.query(
      "update agent_versions set sealed_secrets = '{\"token\":\"nonsense\"}' where sealed_secrets <> '{}'",
    );
    const key = await createKey(market.context.db, { accountId: broken.creator.id, name: "broken" });
    const client = await connectMcp(market.url, key.token);
    expect(await toolNames(client)).toEqual([...builtInTools, toolOf(broken)]);
    const answer = await callTool(client, `${broken.creator.handle}--broken`, { text: "x" });
    expect(answer).toMatchObject({ isError: true, _meta: { credits_used: 0 } });
    expect(textOf(answer)).not.toMatch(/nonsense|seal|key/i);
  });
});

test("a list of tools whose agents cannot be looked up at the moment is an error, and not a list without them", async ({
  market,
}) => {
  const { creator } = await seedMarket(market.context);
  const { token } = await createKey(market.context.db, { accountId: creator.id, name: "away" });
  const away = Object.assign(new Error("connection refused"), { code: "ECONNREFUSED" });
  const lookup = vi.spyOn(market.context.lookups, "agent").mockRejectedValue(away);
  onTestFinished(() => lookup.mockRestore());
  const { error } = await answerOf(await postMessage(market.url, token, rpc("tools/list")));
  expect(error.message).toContain("try again shortly");
});

describe("agents_search", () => {
  test("finds in the key's scope alone, for free", async () => {
    const search = async (client: Client, query: string) => {
      const { structuredContent, _meta } = await callTool(client, "agents_search", { query });
      expect(_meta).toEqual({ credits_used: 0 });
      return (structuredContent as { agents: Array<{ tool: string }> }).agents.map(({ tool }) => tool);
    };
    expect(await search(chooser, "echo")).toEqual([toolOf(theirs)]);
    expect(await search(chooser, "says told")).toEqual([toolOf(theirs)]);
    expect(await search(chooser, "")).toEqual([toolOf(theirs)]);
    // Inflected, misspelt, and one word of two.
    for (const query of ["echoes", "ehco", "echo translations"]) {
      expect(await search(chooser, query)).toEqual([toolOf(theirs)]);
    }
    expect(await search(chooser, "nothing")).toEqual([]);
    const { structuredContent } = await callTool(chooser, "agents_search", { query: "nothing" });
    expect(structuredContent).toMatchObject({
      hint: expect.stringMatching(/chosen_agents.*PATCH \/api\/account\/keys/),
    });
    expect(await search(chooser, "!!")).toEqual([]);
    expect(await search(owner, "echo")).toEqual([toolOf(mine)]);
    const wrong = await callTool(owner, "agents_search", { query: "x", limit: 51 });
    expect(wrong).toMatchObject({ isError: true, _meta: { field: "limit" } });
  });
});

test("a tool runs under a name that its agent had before, and is listed under the present one", async ({ market }) => {
  const former = toolOf(mine);
  const handle = `renamed-${mine.creator.handle}`;
  await grant(market.context.db, { accountId: mine.creator.id, credits: credits(100n) });
  await renameAccount(market.context.db, mine.creator, handle);
  expect(await toolNames(owner)).toEqual([...builtInTools, `${handle}--echo`]);
  expect(textOf(await callTool(owner, former, { text: "hello" }))).toContain("hello");
  await expect(callTool(chooser, former, { text: "hello" })).rejects.toMatchObject({ code: -32602 });
});
