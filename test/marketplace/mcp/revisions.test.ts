import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect } from "vitest";
import { marketTest } from "../../support/fixtures.ts";
import { balanceOf, type Market, seedMarket } from "../../support/marketplace.ts";
import { answerOf, connectBuyer, postMessage, rpc } from "../../support/mcp.ts";

const test = marketTest();
let seeded: Market;
let key: string;
let tool: string;
test.beforeAll(async ({ market }) => {
  seeded = await seedMarket(market.context, { price: 5 });
  ({ key, tool } = await connectBuyer(market, seeded));
});

/** The official client of the second generation. */
const connect = async (url: string, mode: "auto" | "legacy" | { pin: string }) => {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/api/mcp`), { requestInit }));
  return client;
};

test.for([
  ["pinned to 2026-07-28", { pin: "2026-07-28" }, "2026-07-28"],
  ["that takes the newest", "auto", "2026-07-28"],
  ["of 2025-11-25", "legacy", "2025-11-25"],
] as const)(
  "a stock client %s lists tools, runs them and hears how they go",
  async ([_what, mode, version], { market }) => {
    const client = await connect(market.url, mode);
    expect(client.getNegotiatedProtocolVersion()).toBe(version);
    expect(client.getServerVersion()).toMatchObject({ name: "agent-marketplace" });
    expect(client.getInstructions()).toContain("credits");
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["svg_generate", "svg_vectorize", "agents_search", tool]);
    const { credits } = await balanceOf(market, key);
    const answer = await client.callTool({
      name: tool,
      arguments: { text: "hello" },
      _meta: { idempotency_key: `by ${version} ${JSON.stringify(mode)}` },
    });
    expect(answer).toMatchObject({ content: [{ type: "text" }], _meta: { credits_used: 5 } });
    expect((await balanceOf(market, key)).credits).toBe(credits - 5);
    await expect(client.callTool({ name: "no--such" })).rejects.toMatchObject({ code: -32602 });
    const unpayable = await client.callTool({ name: tool, arguments: { text: "x" }, _meta: { max_credits: 1 } });
    expect(unpayable).toMatchObject({ isError: true, _meta: { limit_source: "request" } });
    await client.close();
  },
);

test.for(["2025-06-18", "2025-11-25"])(
  "initialize agrees on %s with a client that asks for it",
  async (version, { market }) => {
    const asked = { protocolVersion: version, capabilities: {}, clientInfo: { name: "test", version: "1" } };
    const { result } = await answerOf(await postMessage(market.url, key, rpc("initialize", asked)));
    expect(result).toMatchObject({ protocolVersion: version, capabilities: { tools: {} } });
  },
);

test.for<[string, string, unknown, string]>([
  ["parameters that are a list", "tools/list", [], '"params" must be an object'],
  ["a cursor that is a number", "tools/list", { cursor: 7 }, '"cursor" must be a text'],
  ["no name of a tool", "tools/call", { arguments: {} }, '"name" is required'],
  ["arguments that are a text", "tools/call", { name: "x", arguments: "y" }, '"arguments" must be an object'],
  ["a _meta that is a list", "tools/call", { name: "x", _meta: [] }, '"_meta" must be an object'],
  ["a handshake without a version", "initialize", { capabilities: {} }, '"protocolVersion" is required'],
  [
    "a client without a name",
    "initialize",
    { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: {} },
    '"clientInfo.name"',
  ],
])("%s is -32602 in words", async ([_what, method, params, words], { market }) => {
  const { id, error } = await answerOf(await postMessage(market.url, key, { ...rpc(method), params }));
  expect({ id, code: error.code }).toEqual({ id: 1, code: -32602 });
  expect(error.message).toContain(words);
  expect(error.message).not.toMatch(/[{}]|invalid_type/);
});

test.for(["*/*", "application/*, text/*", "application/json, text/event-stream;q=0.5, */*;q=0.1"])(
  "a client that accepts %s is served",
  async (accept, { market }) => {
    const response = await postMessage(market.url, key, rpc("tools/list"), { accept });
    expect(await answerOf(response)).toMatchObject({ id: 1, result: { tools: expect.any(Array) } });
  },
);

test("what 2026-07-28 asks of each request is refused where it lacks, by the specification's codes", async ({
  market,
}) => {
  const envelope = (version: string) => ({
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientCapabilities": {},
  });
  const ask = async (version: string, headers: Record<string, string>) => {
    const message = rpc("tools/call", { name: tool, arguments: { text: "hello" }, _meta: envelope(version) });
    const response = await postMessage(market.url, key, message, { "mcp-protocol-version": version, ...headers });
    return { status: response.status, code: (await answerOf(response)).error?.code };
  };
  const right = { "mcp-method": "tools/call", "mcp-name": tool };
  expect(await ask("2026-07-28", right)).toEqual({ status: 200, code: undefined });
  expect(await ask("2026-07-28", {})).toEqual({ status: 400, code: -32020 });
  expect(await ask("2026-07-28", { ...right, "mcp-name": "another" })).toEqual({ status: 400, code: -32020 });
  expect(await ask("2099-01-01", right)).toEqual({ status: 400, code: -32022 });
});
