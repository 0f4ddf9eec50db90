import { request } from "node:http";
import { describe, expect } from "vitest";
import { marketTest } from "../../support/fixtures.ts";
import { type Market, seedMarket, startMarketplace, type TestMarketplace } from "../../support/marketplace.ts";
import { answerOf, postMessage, rpc } from "../../support/mcp.ts";

let market: TestMarketplace;
let seeded: Market;
const test = marketTest();
test.beforeAll(({ market: started, seeded: owned }) => {
  [market, seeded] = [started, owned];
});

const post = (body: unknown, headers?: Record<string, string>) => postMessage(market.url, seeded.key, body, headers);
const initialize = (protocolVersion: string) =>
  rpc("initialize", { protocolVersion, capabilities: {}, clientInfo: { name: "test", version: "1" } });

const withAnotherEnd = (key: string) => `${key.slice(0, -1)}${key.endsWith("x") ? "y" : "x"}`;

describe("a request that no message is read from", () => {
  const list = () => rpc("tools/list");
  test.each<[string, number, () => Promise<Response>]>([
    ["without a key", 401, () => postMessage(market.url, undefined, list())],
    ["with a key that is none", 401, () => postMessage(market.url, withAnotherEnd(seeded.key), list())],
    ["with the key in the query", 401, () => fetch(`${market.url}/api/mcp?key=${seeded.key}`, { method: "POST" })],
    ["from a foreign page", 403, () => post(list(), { origin: "https://evil.example.com" })],
    ["from a page without an origin of its own", 403, () => post(list(), { origin: "null" })],
    ["of a batch of one", 400, () => post([list()])],
    ["of an empty batch", 400, () => post([])],
    ["of no JSON", 400, () => post("{")],
    ["of nothing", 400, () => post("")],
    ["of null", 400, () => post("null")],
    ["of no JSON-RPC", 400, () => post({ hello: 1 })],
    ["of another JSON-RPC", 400, () => post({ ...list(), jsonrpc: "1.0" })],
    ["with a long id", 400, () => post({ ...list(), id: "x".repeat(257) })],
    ["with a long progress token", 400, () => post(rpc("tools/list", { _meta: { progressToken: "x".repeat(257) } }))],
    ["in a version that is none", 400, () => post(list(), { "mcp-protocol-version": "1999-01-01" })],
    ["in a version of the future", 400, () => post(list(), { "mcp-protocol-version": "2099-01-01" })],
    ["that takes JSON alone", 406, () => post(list(), { accept: "application/json" })],
    ["that takes events alone", 406, () => post(list(), { accept: "text/event-stream" })],
    ["that is said to be text", 415, () => post(list(), { "content-type": "text/plain" })],
    ["too large", 413, () => post(rpc("tools/list", { padding: "x".repeat(15_000_001) }))],
  ])("%s is a %i that says why", async (_what, status, ask) => {
    const response = await ask();
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type")).toMatch(/^application\/json/);
    const body = (await response.json()) as { id: unknown; error: { message: string } };
    expect(body).toMatchObject({ jsonrpc: "2.0", error: { code: expect.any(Number) } });
    // The message's own, where one could be told from what came.
    expect([null, 1]).toContain(body.id);
    expect(body.error.message.length).toBeGreaterThan(5);
    if (status === 401) expect(response.headers.get("www-authenticate")).toMatch(/^Bearer/);
  });

  test.each(["GET", "DELETE", "PUT"])("by %s is a 405 that names POST", async (method) => {
    const response = await fetch(`${market.url}/api/mcp`, {
      method,
      headers: { authorization: `Bearer ${seeded.key}`, accept: "text/event-stream" },
    });
    expect({ status: response.status, allow: response.headers.get("allow") }).toEqual({ status: 405, allow: "POST" });
  });

  test("under a name that was led here is a 403, under an address or a loopback name is answered", async () => {
    const statusFor = (host: string, origin?: string) =>
      new Promise<number>((resolve, reject) => {
        const sent = request(
          `${market.url}/api/mcp`,
          {
            method: "POST",
            headers: {
              host,
              ...(origin ? { origin } : {}),
              authorization: `Bearer ${seeded.key}`,
              "content-type": "application/json",
              accept: "application/json, text/event-stream",
            },
          },
          (response) => {
            response.resume();
            resolve(response.statusCode ?? 0);
          },
        );
        sent.on("error", reject);
        sent.end(JSON.stringify(rpc("ping")));
      });
    const port = new URL(market.url).port;
    expect(await statusFor("evil.example.com")).toBe(403);
    expect(await statusFor(`localhost.evil.example.com:${port}`)).toBe(403);
    expect(await statusFor(`127.0.0.1.evil.example.com:${port}`)).toBe(403);
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`, "LOCALHOST"]) {
      expect(await statusFor(host, `http://localhost:${port}`), host).toBe(200);
    }
  });

  test("past the key's limit is a 429 with the seconds to wait", async () => {
    const limited = await seedMarket(market.context, { rateLimit: 1 });
    expect((await postMessage(market.url, limited.key, rpc("ping"))).status).toBe(200);
    const response = await postMessage(market.url, limited.key, rpc("ping"));
    expect(response.status).toBe(429);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await response.json()).toMatchObject({ error: { message: expect.stringContaining("requests a minute") } });
  });
});

test("a service at a public name takes that name and its pages, and no loopback pages", async () => {
  const open = await startMarketplace({
    databaseUrl: market.databaseUrl,
    model: market.model,
    env: { MARKETPLACE_PUBLIC_URL: "https://market.example" },
  });
  const status = async (origin: string) => (await postMessage(open.url, seeded.key, rpc("ping"), { origin })).status;
  expect(await status("https://market.example")).toBe(200);
  expect(await status("http://market.example")).toBe(403);
  expect(await status("https://market.example:8443")).toBe(403);
  expect(await status("http://localhost:6274")).toBe(403);
  await open.stop();
});

describe("a message", () => {
  test("that is a notification or an answer is taken with 202 and no body", async () => {
    for (const message of [
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } },
      { jsonrpc: "2.0", id: 7, result: {} },
    ]) {
      const response = await post(message);
      expect({ status: response.status, body: await response.text() }).toEqual({ status: 202, body: "" });
    }
  });

  test("without a version header is read as 2025-03-26, and initialize agrees on what the client asks", async () => {
    const bare = await fetch(`${market.url}/api/mcp`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${seeded.key}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify(rpc("ping")),
    });
    expect(await answerOf(bare)).toMatchObject({ id: 1, result: {} });
    const agreed = await post(initialize("2025-06-18"));
    expect(agreed.headers.get("content-type")).toMatch(/^text\/event-stream/);
    expect(agreed.headers.get("mcp-session-id")).toBeNull();
    expect(await answerOf(agreed)).toMatchObject({
      result: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "agent-marketplace" } },
    });
    const { result } = await answerOf(await post(initialize("2099-01-01")));
    expect(["2025-06-18", "2025-11-25"]).toContain(result.protocolVersion);
  });

  test("with a method that is not offered is a JSON-RPC error, and so are wrong parameters", async () => {
    expect(await answerOf(await post(rpc("resources/list")))).toMatchObject({ error: { code: -32601 } });
    expect(await answerOf(await post(rpc("tools/call", { name: "no--such" })))).toMatchObject({
      error: { code: -32602 },
    });
    expect(await answerOf(await post(rpc("tools/list", { cursor: "!" })))).toMatchObject({ error: { code: -32602 } });
    const zero = Buffer.from("a\0b").toString("base64url");
    expect(await answerOf(await post(rpc("tools/list", { cursor: zero })))).toMatchObject({ error: { code: -32602 } });
    expect(await answerOf(await post(rpc("tools/call", { name: "a\0--b" })))).toMatchObject({
      error: { code: -32602 },
    });
    expect(await answerOf(await post(rpc("tools/list", { _meta: { progressToken: 1.5 } })))).toMatchObject({
      error: { code: -32602, message: '"_meta.progressToken" must be a text or a whole number.' },
    });
  });
});
