import { Resvg } from "@resvg/resvg-js";
import { describe, expect } from "vitest";
import { publishAgent } from "../../../marketplace/agents/publish.ts";
import { createKey } from "../../../marketplace/api-keys/create.ts";
import type { Scope } from "../../../marketplace/api-keys/key-settings.ts";
import { marketTest } from "../../support/fixtures.ts";
import {
  type Answer,
  call,
  echoAgent,
  type Market,
  seedMarket,
  type TestMarketplace,
} from "../../support/marketplace.ts";
import { postMessage } from "../../support/mcp.ts";
import { at, isOf, type Type } from "./fields.ts";

/** The vector-graphics endpoints and the tool server, row by row of the specification. */
let market: TestMarketplace;
let seeded: Market;
let drawn: Answer;
let traced: Answer;
let image: string;

const test = marketTest({ env: { MARKETPLACE_PUBLIC_URL: "https://market.example.com" } }, { balance: 1_000 });
test.beforeAll(async ({ market: started, seeded: owned }) => {
  market = started;
  seeded = owned;
  const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="120" height="80"><rect width="120" height="80" fill="#fff"/>
    <circle cx="40" cy="40" r="24" fill="#c03"/></svg>`;
  image = new Resvg(drawing).render().asPng().toString("base64");
  drawn = await svg("generate", { prompt: "A fox" });
  traced = await svg("vectorize", { image });
});

const svg = (verb: string, body: object, key = seeded.key) => call(market.url, `/api/v1/svg/${verb}`, { key, body });
const credits = async (): Promise<number> =>
  (await call(market.url, "/api/v1/balance", { key: seeded.key })).body.credits;
const fetchFile = (url: string) => fetch(market.url + new URL(url).pathname);

describe.each(["generate", "vectorize"])("result of POST /api/v1/svg/%s", (verb) => {
  const answer = () => (verb === "generate" ? drawn : traced);

  test.each<[string, Type]>([
    ["svg", "string"],
    ["url", "https URL"],
    ["files", "object"],
    ["files.png", "https URL"],
    ["width", "integer"],
    ["height", "integer"],
    ["paths", "integer"],
    ["colors", "integer"],
    ["bytes", "integer"],
    ["layers", "array"],
    ["layers.0.id", "string"],
    ["layers.0.fill.0", "string"],
    ["score", "number"],
    ["cost_usd", "number"],
    ["ms", "integer"],
  ])("%s is a %s", (field, type) => {
    const { status, body } = answer();
    expect(status).toBe(200);
    expect(isOf(type, at(body, field)), JSON.stringify(body).slice(0, 500)).toBe(true);
  });

  test("the score is from 0 to 1, the size the markup's, X-RateLimit-Remaining a number", () => {
    const { body, headers } = answer();
    expect(body.score).toBeGreaterThanOrEqual(0);
    expect(body.score).toBeLessThanOrEqual(1);
    expect(body.bytes).toBe(Buffer.byteLength(body.svg));
    expect(headers.get("x-ratelimit-remaining")).toMatch(/^\d+$/);
  });

  test("url is the stored file, under a restrictive content security policy", async () => {
    const file = await fetchFile(answer().body.url);
    expect(await file.text()).toBe(answer().body.svg);
    expect(file.headers.get("content-security-policy")).toContain("default-src 'none'");
  });
});

describe("an API key", () => {
  test("buys object layers", async () => {
    expect((await svg("vectorize", { image, layers: true })).status).toBe(200);
  });
  test("buys a wide drawing in HD", async () => {
    expect((await svg("generate", { prompt: "A fox", hd: true, aspect: "wide" })).status).toBe(200);
  });
});

describe("errors, none of which costs anything", () => {
  const keyWith = async (balance: number, rateLimit = 60) =>
    (await seedMarket(market.context, { balance, rateLimit })).key;

  test.each<[number, string, () => Promise<Answer>, object?]>([
    [
      400,
      "bad field: named, with the allowed values",
      () => svg("vectorize", { image, mode: "flat" }),
      { error: expect.stringMatching(/mode.*stacked.*cutout/s) },
    ],
    [400, "missing prompt", () => svg("generate", {}), { error: expect.stringContaining("prompt") }],
    [401, "missing key", () => call(market.url, "/api/v1/svg/generate", { body: { prompt: "A fox" } })],
    [401, "invalid key", () => svg("generate", { prompt: "A fox" }, "amk_wrong")],
    [402, "not enough balance", async () => svg("vectorize", { image }, await keyWith(0))],
    [422, "image unreadable", () => svg("vectorize", { image: Buffer.from("no image").toString("base64") })],
    [422, "URL refused by the outbound guard", () => svg("vectorize", { image: "https://169.254.169.254/latest" })],
    [
      429,
      "rate limited",
      async () => {
        const key = await keyWith(10, 1);
        await call(market.url, "/api/v1/balance", { key });
        return svg("vectorize", { image }, key);
      },
    ],
    [
      429,
      "the image model is busy",
      () => {
        market.model.injectFault({ status: 429 });
        return svg("generate", { prompt: "A fox" });
      },
    ],
    [
      502,
      "upstream failure, refunded",
      () => {
        market.model.injectFault({ status: 500 });
        return svg("generate", { prompt: "A fox" });
      },
    ],
  ])("%i %s", async (status, _what, provoke, body = {}) => {
    const before = await credits();
    const answer = await provoke();
    market.model.clearFaults();
    expect(answer).toMatchObject({ status, body: { error: expect.any(String), ...body } });
    if (status === 429) expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await credits()).toBe(before);
  });
});

describe("POST /api/mcp", () => {
  const ask = async (
    key: string | undefined,
    method: string,
    params: object,
    // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely
  ): Promise<{ status: number; result: any }> => {
    const response = await postMessage(market.url, key, { jsonrpc: "2.0", id: 1, method, params });
    const text = await response.text();
    const json = text.startsWith("{") ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? "{}");
    return { status: response.status, result: JSON.parse(json).result };
  };
  const tools = async (key: string): Promise<string[]> =>
    (await ask(key, "tools/list", {})).result.tools.map(({ name }: { name: string }) => name);
  const callTool = async (key: string, name: string, input: object) =>
    (await ask(key, "tools/call", { name, arguments: input })).result;
  const keyOf = async (accountId: typeof seeded.creator.id, more: { scope?: Scope; agents?: string[] } = {}) =>
    (await createKey(market.context.db, { accountId, name: "tools", ...more })).token;

  test("speaks protocol 2025-06-18", async () => {
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "client", version: "1" } };
    expect((await ask(seeded.key, "initialize", params)).result).toMatchObject({ protocolVersion: "2025-06-18" });
  });

  test("a missing or invalid key is 401", async () => {
    expect((await ask(undefined, "tools/list", {})).status).toBe(401);
    expect((await ask("amk_wrong", "tools/list", {})).status).toBe(401);
  });

  test("a key with nothing set sees its account's own agents", async () => {
    expect(await tools(await keyOf(seeded.creator.id))).toContain(seeded.agent.address.replace("/", "--"));
    expect(await tools(seeded.key)).not.toContain(seeded.agent.address.replace("/", "--"));
  });

  test("a key with chosen agents sees those", async () => {
    const key = await keyOf(seeded.buyer.id, { scope: "chosen_agents", agents: [seeded.agent.address] });
    expect(await tools(key)).toContain(seeded.agent.address.replace("/", "--"));
  });

  test.each<Scope>(["own_agents", "rest_only"])(
    "svg_generate and svg_vectorize are there for a key of scope %s",
    async (scope) => {
      expect(await tools(await keyOf(seeded.creator.id, { scope }))).toEqual(
        expect.arrayContaining(["svg_generate", "svg_vectorize"]),
      );
    },
  );

  test.each<[string, Type]>([
    ["url", "https URL"],
    ["files.png", "https URL"],
    ["width", "integer"],
    ["height", "integer"],
    ["score", "number"],
  ])("svg_vectorize answers %s, a %s, and not the markup", async (field, type) => {
    const { structuredContent } = await callTool(seeded.key, "svg_vectorize", { image });
    expect(isOf(type, at(structuredContent, field)), JSON.stringify(structuredContent)).toBe(true);
    expect(JSON.stringify(structuredContent)).not.toContain("<svg");
  });

  test("include_svg: true answers the markup as well", async () => {
    const result = await callTool(seeded.key, "svg_vectorize", { image, include_svg: true });
    expect(JSON.stringify(result)).toContain("<svg");
  });

  test("images from agents come back as links", async () => {
    const drawing = { ...echoAgent, connector: "image-generator", settings: { prompt: "{{text}}" } };
    const { address } = await publishAgent(market.context, seeded.creator, "spec-image", drawing);
    const key = await keyOf(seeded.buyer.id, { scope: "chosen_agents", agents: [address] });
    const { content } = await callTool(key, address.replace("/", "--"), { text: "a boat" });
    expect(content).toContainEqual(
      expect.objectContaining({ type: "resource_link", uri: expect.stringMatching(/^https:/) }),
    );
  });
});
