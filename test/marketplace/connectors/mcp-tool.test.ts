import { describe, expect } from "vitest";
import { demoAgents } from "../../../infra/dev/demo-agents.ts";
import { type MockMcp, startMockMcp } from "../../../infra/mock-mcp/server.ts";
import { noticesOf } from "../../../marketplace/agents/notices.ts";
import { marketTest } from "../../support/fixtures.ts";
import { startListener } from "../../support/listener.ts";
import { run, seedMarket, startMarketplace, type TestMarketplace } from "../../support/marketplace.ts";
import { type McpTestServer, startMcpServer } from "../../support/mcp-server.ts";
import { part, perFile } from "../../support/part.ts";

let market: TestMarketplace;
let local: MockMcp;
const servers = {} as Record<"stream" | "json" | "sessions", McpTestServer>;
const test = marketTest()
  .extend("stream", perFile, part(startMcpServer))
  .extend(
    "json",
    perFile,
    part(() => startMcpServer({ json: true })),
  )
  .extend(
    "sessions",
    perFile,
    part(() => startMcpServer({ sessions: true })),
  )
  .extend("local", perFile, part(startMockMcp))
  .extend("options", perFile, ({ stream, json, sessions, local }) => ({
    env: { OUTBOUND_ALLOW_HOSTS: [stream, json, sessions, local].map(({ url }) => new URL(url).host).join(",") },
  }));
test.beforeAll(({ market: started, local: ownLocal, stream, json, sessions }) => {
  market = started;
  local = ownLocal;
  Object.assign(servers, { stream, json, sessions });
});

const fields = [
  { name: "text", type: "text" },
  { name: "count", type: "integer" },
];
const seed = (settings: object, more: object = {}) =>
  seedMarket(market.context, {
    agent: { connector: "mcp-tool", fields, settings: { url: servers.stream.url, ...settings }, ...more },
  });
const runOf = async (settings: object, input: object = { text: "hi" }) => {
  const { key, agent } = await seed(settings);
  return run(market, key, agent.address, input);
};

test("the agent of the local stack counts words by the MCP server that comes with it", async () => {
  const definition = demoAgents({ demoService: "", demoTools: local.mcpUrl })["word-count"] as { settings: object };
  const { body } = await runOf(definition.settings, { text: "Three small words." });
  expect(body).toMatchObject({ success: true, output: { kind: "json", data: { words: 3, longest: "Three" } } });
});

describe.each(["stream", "json", "sessions"] as const)("mcp-tool, from a server that answers by %s", (kind) => {
  test.each([
    ["text", { tool: "echo", arguments: { text: "{{text}}" } }, { kind: "text", text: "said hi\nand more" }],
    ["structured content", { tool: "structured", format: "json" }, { kind: "json", data: { rate: 1.5 } }],
    ["JSON in a text", { tool: "json-text", format: "json" }, { kind: "json", data: { value: [1, 2] } }],
    ["what is slow and tells its progress", { tool: "slow" }, { kind: "text", text: "at last" }],
  ])("gives %s", async (_name, settings, output) => {
    const { body } = await runOf({ url: servers[kind].url, ...settings });
    expect(body).toMatchObject({ success: true, credits_used: 5, output });
  });

  test("keeps an image here and gives its link", async () => {
    const { body } = await runOf({ url: servers[kind].url, tool: "picture", format: "image" });
    expect(body.output.images).toEqual([expect.stringMatching(/\/files\/[0-9a-f]{64}\.png$/)]);
    expect((await fetch(market.url + new URL(body.output.images[0]).pathname)).headers.get("content-type")).toBe(
      "image/png",
    );
  });

  test.each([
    ["an error", { tool: "fails" }],
    ["an exception", { tool: "throws" }],
    ["no such tool", { tool: "nothing" }],
    ["no JSON", { tool: "echo", format: "json" }],
    ["no image", { tool: "echo", format: "image" }],
  ])("fails on %s, costs nothing and tells nothing of the inside", async (_name, settings) => {
    const { body, text } = await runOf({ url: servers[kind].url, ...settings });
    expect(body).toMatchObject({ success: false, credits_used: 0, credits_remaining: 100 });
    expect(text + market.lines.join("")).not.toContain("INNER-SECRET");
  });
});

test("sends the creator's headers and secrets, the buyer's values only as arguments, with their types", async () => {
  const { key, agent } = await seed(
    {
      tool: "echo",
      headers: { Authorization: "Bearer {{secret.token}}", "X-Team": "blue" },
      arguments: { text: "<{{text}}>", count: "{{count}}", nested: { list: ["{{text}}"], key: "{{secret.token}}" } },
    },
    { secrets: { token: "TOKEN-MARK" } },
  );
  const { body, text } = await run(market, key, agent.address, { text: '{{secret.token}}"}', count: 3 });
  expect(body.success).toBe(true);
  expect(servers.stream.calls.at(-1)).toEqual({
    text: '<{{secret.token}}"}>',
    count: 3,
    nested: { list: ['{{secret.token}}"}'], key: "TOKEN-MARK" },
  });
  expect(servers.stream.seen.at(-1)).toMatchObject({ authorization: "Bearer TOKEN-MARK", "x-team": "blue" });
  expect(text + market.lines.join("")).not.toContain("TOKEN-MARK");
});

test("an answer that holds a secret that was sent is withheld, and its creator is told", async () => {
  const secrets = { secrets: { token: "TOKEN/MARK-11" } };
  const echo = {
    tool: "echo",
    headers: { Authorization: "Bearer {{secret.token}}" },
    arguments: { text: "{{secret.token}}" },
  };
  const { key, agent } = await seed(echo, secrets);
  const { body, text } = await run(market, key, agent.address, {});
  expect(body).toMatchObject({ success: false, credits_used: 0, error: expect.stringContaining("has been told") });
  const notices = await noticesOf(market.context.db, agent.agentId);
  expect(notices).toMatchObject([{ kind: "secret_in_answer", times: 1 }]);
  const { rows } = await market.context.db.query("select r::text as run from runs r where agent_id = $1", [
    agent.agentId,
  ]);
  expect(text + market.lines.join("") + JSON.stringify([rows, notices])).not.toContain("MARK-11");
});

test("a run of another server's tool ends the session it opened", async () => {
  await runOf({ url: servers.sessions.url, tool: "echo" });
  await expect.poll(() => servers.sessions.sessions.size).toBe(0);
});

test.each([
  ["that redirects to a private address", "/redirect"],
  ["that talks garbage", "/garbage"],
  ["that never stops talking", "/endless"],
])("fails for a server %s", async (_name, path) => {
  const url = new URL(path, servers.stream.url).href;
  const { body } = await runOf({ url, tool: "echo" });
  expect(body).toMatchObject({ success: false, credits_used: 0 });
});

test("a server at a private address is refused at publishing, and never connected to by a name that leads there", async () => {
  const listener = await startListener();
  await expect(seed({ url: `http://127.0.0.1:${listener.port}/mcp`, tool: "echo" })).rejects.toThrow("may not call");
  const rebinding = await startMarketplace({
    overrides: { resolve: async () => [{ address: "127.0.0.1", family: 4 }] },
  });
  const settings = { url: `http://rebinding.attacker.com:80/mcp`, tool: "echo" };
  const { key, agent } = await seedMarket(rebinding.context, { agent: { connector: "mcp-tool", fields, settings } });
  expect((await run(rebinding, key, agent.address, { text: "x" })).body.success).toBe(false);
  expect(listener.connections()).toBe(0);
  await rebinding.stop();
  await listener.stop();
});

test("is not published with a slot in its address or a buyer's value in a header", async () => {
  await expect(seed({ url: "https://example.com/{{text}}", tool: "x" })).rejects.toThrow("without slots");
  await expect(seed({ tool: "x", headers: { Authorization: "{{text}}" } })).rejects.toThrow("secrets only");
  await expect(seed({ tool: "x", headers: { Host: "evil" } })).rejects.toThrow("headers");
});
