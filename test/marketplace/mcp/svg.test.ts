import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { Resvg } from "@resvg/resvg-js";
import { expect } from "vitest";
import { createKey } from "../../../marketplace/api-keys/create.ts";
import { marketTest } from "../../support/fixtures.ts";
import { balanceOf, call, proveLedger, seedMarket, type TestMarketplace } from "../../support/marketplace.ts";
import { allTools, callTool, connectMcp, textOf } from "../../support/mcp.ts";
import { perFile } from "../../support/part.ts";

let market: TestMarketplace;
let client: Client;
let key: string;
let logo: string;
const test = marketTest().extend("options", perFile, ({ directory }) => ({ env: { FILES_DIR: directory } }));
test.beforeAll(async ({ market: started }) => {
  market = started;
  market.model.poseAsModel(true);
  const { buyer } = await seedMarket(market.context, { balance: 100 });
  key = (await createKey(market.context.db, { accountId: buyer.id, name: "rest", scope: "rest_only" })).token;
  client = await connectMcp(market.url, key);
  const drawing =
    '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="60"><rect width="90" height="60" fill="#fff"/>' +
    '<circle cx="45" cy="30" r="20"/></svg>';
  logo = new Resvg(drawing).render().asPng().toString("base64");
});
test.afterAll(async () => {
  await proveLedger(market.context);
  await client.close();
});
test.afterEach(() => market.model.clearFaults());
const credits = async () => (await balanceOf(market, key)).credits;

test("svg_vectorize answers links, size and score, and the markup only when it is asked for", async () => {
  await allTools(client);
  const before = await credits();
  const answer = await callTool(client, "svg_vectorize", { image: logo, files: ["pdf"] });
  expect(answer.isError).toBeUndefined();
  const drawn = answer.structuredContent as Record<string, unknown>;
  expect(drawn).toMatchObject({ width: 90, height: 60, cost_usd: 0.01, score: expect.any(Number) });
  expect(JSON.stringify(answer)).not.toContain("<svg");
  const links = answer.content.flatMap((part) => (part.type === "resource_link" ? [part] : []));
  expect(links.map(({ mimeType }) => mimeType)).toEqual(["image/svg+xml", "image/png", "application/pdf"]);
  for (const { uri } of links) expect((await fetch(market.url + new URL(uri).pathname)).status).toBe(200);
  expect(answer._meta).toMatchObject({ credits_used: 1, credits_remaining: before - 1 });

  const inline = await callTool(client, "svg_vectorize", { image: logo, files: ["pdf"], include_svg: true });
  const stored = await (await fetch(market.url + new URL(links[0]!.uri).pathname)).text();
  expect(inline.structuredContent).toMatchObject({ svg: stored, url: links[0]!.uri });
  expect(JSON.parse(textOf(inline))).toEqual(inline.structuredContent);
  const { body } = await call(market.url, "/api/v1/runs", { key });
  expect(body.runs[0]).toMatchObject({ run_id: inline._meta?.run_id, credits_used: 1 });
});

test("svg_generate costs three credits, in HD eight, and the caller's limit holds", async () => {
  const before = await credits();
  const drawn = await callTool(client, "svg_generate", { prompt: "A fox", style: "logo" });
  expect(drawn).toMatchObject({ structuredContent: { cost_usd: 0.03 }, _meta: { credits_used: 3 } });
  const hd = await callTool(client, "svg_generate", { prompt: "A fox", hd: true }, { max_credits: 7 });
  expect(hd).toMatchObject({ isError: true, _meta: { credits_required: 8, limit_source: "request" } });
  expect(await credits()).toBe(before - 3);
});

test("named by the caller, a drawing is made and charged once", async () => {
  const before = await credits();
  const meta = { idempotency_key: "fox" };
  const one = await callTool(client, "svg_vectorize", { image: logo }, meta);
  const two = await callTool(client, "svg_vectorize", { image: logo, include_svg: true }, meta);
  expect(two._meta).toMatchObject({ run_id: one._meta?.run_id, idempotent_replayed: true });
  expect(await credits()).toBe(before - 1);
});

test.each<[string, string, object, string]>([
  ["a prompt left out", "svg_generate", {}, '"prompt" is required'],
  ["a prompt of blanks", "svg_generate", { prompt: " \n" }, '"prompt" must say what is to be drawn'],
  ["a style that is none", "svg_generate", { prompt: "x", style: "crayon" }, "icon, logo"],
  ["no image", "svg_vectorize", { image: "aGVsbG8=" }, "image"],
  ["a private address", "svg_vectorize", { image: "https://127.0.0.1/x.png" }, '"image" is a URL that is not fetched'],
])("%s is told so that a model can correct it, and costs nothing", async (_what, tool, input, words) => {
  const before = await credits();
  const answer = await callTool(client, tool, input);
  expect(answer).toMatchObject({ isError: true, _meta: { credits_used: 0 } });
  expect(textOf(answer)).toContain(words);
  expect(textOf(answer)).toContain("Correct the arguments");
  expect(await credits()).toBe(before);
});

test("an image model that is busy is told with the seconds to wait", async () => {
  const before = await credits();
  market.model.injectFault({ status: 429, times: 10 });
  const answer = await callTool(client, "svg_generate", { prompt: "A fox" });
  expect(answer).toMatchObject({ isError: true, _meta: { credits_used: 0, retry_after_seconds: 15 } });
  expect(textOf(answer)).toMatch(/Wait 15 seconds/);
  expect(await credits()).toBe(before);
});
