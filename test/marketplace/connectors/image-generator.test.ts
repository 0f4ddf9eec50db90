import { createHash } from "node:crypto";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import sharp from "sharp";
import { expect } from "vitest";
import type { MockModels } from "../../../infra/mock-models/server.ts";
import { createKey } from "../../../marketplace/api-keys/create.ts";
import { elapse } from "../../support/elapse.ts";
import { marketTest } from "../../support/fixtures.ts";
import { jpegOfScans } from "../../support/jpeg-of-scans.ts";
import { call, run, seedMarket, startMarketplace, type TestMarketplace } from "../../support/marketplace.ts";
import { perFile } from "../../support/part.ts";

const test = marketTest().extend("options", perFile, ({ directory }) => ({
  env: { FILES_DIR: directory, MARKETPLACE_PUBLIC_URL: "https://market.example.com" },
}));

test.afterEach(({ market }) => market.model.clearFaults());

const seed = (market: TestMarketplace, settings: object = {}, more: object = {}) =>
  seedMarket(market.context, {
    agent: { connector: "image-generator", settings: { prompt: "A picture of {{text}}", ...settings }, ...more },
  });
const draw = async (market: TestMarketplace, settings: object = {}) => {
  const seeded = await seed(market, settings);
  const { body } = await run(market, seeded.key, seeded.agent.address, { text: "a boat" });
  return { ...seeded, body };
};
const pathOf = (url: string) => new URL(url).pathname;
const fetchFile = (market: TestMarketplace, url: string) => fetch(market.url + pathOf(url));

test("an image is drawn from the prompt, written anew and kept here, under a link of this service", async ({
  market,
}) => {
  const { body } = await draw(market, { size: "128x64", model: "special" });
  expect(body).toMatchObject({ success: true, credits_used: 5, receipt: null });
  expect(Object.keys(body.output)).toEqual(["images", "stand_in"]);
  expect(body.output.images).toHaveLength(1);
  const [url] = body.output.images;
  expect(url).toMatch(/^https:\/\/market\.example\.com\/files\/[0-9a-f]{64}\.png$/);
  expect(market.model.requests.at(-1)?.body).toEqual({
    model: "special",
    prompt: "A picture of a boat",
    n: 1,
    size: "128x64",
  });
  const response = await fetchFile(market, url);
  const bytes = Buffer.from(await response.arrayBuffer());
  expect(await sharp(bytes).metadata()).toMatchObject({ format: "png", width: 128, height: 64 });
  // The stand-in writes a comment into what it draws; written anew there is none.
  expect(bytes.includes("tEXt")).toBe(false);
});

test("an image that comes as a link is fetched through the guard, and the link stays here", async ({
  market,
  directory,
}) => {
  const { port } = new URL(market.model.url);
  const guarded = await draw(market, { response_format: "url" });
  expect(guarded.body).toMatchObject({ success: false, credits_used: 0 });
  const open = await startMarketplace({
    model: market.model,
    env: { FILES_DIR: directory, OUTBOUND_ALLOW_HOSTS: `127.0.0.1:${port}` },
  });
  const { key, agent } = await seedMarket(open.context, {
    agent: { connector: "image-generator", settings: { prompt: "{{text}}", response_format: "url", count: 3 } },
  });
  const { body, text } = await run(open, key, agent.address, { text: "three boats" });
  expect(body.success).toBe(true);
  expect(new Set(body.output.images).size).toBe(3);
  expect(text).not.toContain(port);
  await open.stop();
});

test.for<[string, Parameters<MockModels["injectFault"]>[0], string]>([
  ["is busy", { status: 429, retryAfterSeconds: 3 }, "busy"],
  ["fails", { status: 500 }, "failed"],
  ["hangs up", { hangUp: true }, "reached"],
  ["answers half", { garbled: true }, "no image"],
  ["declines the prompt", { refuse: true }, "declined"],
])("a model that %s fails the run, which costs nothing", async ([_name, fault, word], { market }) => {
  market.model.injectFault(fault);
  const { body, key } = await draw(market);
  expect(body).toMatchObject({ success: false, credits_used: 0, credits_remaining: 100 });
  expect(body.error).toContain(word);
  expect((await call(market.url, "/api/v1/balance", { key })).body.credits).toBe(100);
});

test("what is no image never becomes a file", async ({ market }) => {
  const { keepImage } = await import("../../../marketplace/connectors/keep-image.ts");
  const { creator } = await seed(market);
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
  const whole = await sharp({ create: { width: 50, height: 50, channels: 3, background: "red" } })
    .png()
    .toBuffer();
  const { signal } = new AbortController();
  for (const bytes of [svg, Buffer.from("GIF89a"), whole.subarray(0, 60), Buffer.alloc(0), jpegOfScans(101)]) {
    const kept = keepImage(market.context.tools.files, bytes, { ownerId: creator.id }, signal);
    await expect(kept).rejects.toThrow("no image");
  }
});

test("pictures of one creator are written one after another, and not for a run that is over", async ({ market }) => {
  const { keepImage } = await import("../../../marketplace/connectors/keep-image.ts");
  const { creator } = await seed(market);
  const bytes = await sharp({ create: { width: 1_500, height: 1_500, channels: 3, background: "red" } })
    .png()
    .toBuffer();
  const run = new AbortController();
  const keep = (signal: AbortSignal) => keepImage(market.context.tools.files, bytes, { ownerId: creator.id }, signal);
  const kept = [keep(run.signal), keep(new AbortController().signal)];
  const over = keep(run.signal);
  run.abort();
  await expect(over).rejects.toThrow("took too long");
  expect(await Promise.all(kept)).toEqual([expect.stringMatching(/\.png$/), expect.stringMatching(/\.png$/)]);
});

test("no more pictures of one creator are asked of the model than this copy has memory for", async ({ market }) => {
  const [mine, other] = [await seed(market, { count: 10 }), await seed(market, { count: 10 })];
  const drawn = market.model.asked();
  market.model.injectFault({ delayMs: 600_000, times: 100 });
  const runs = Array.from({ length: 8 }, () => run(market, mine.key, mine.agent.address, { text: "ten boats" }));
  await expect.poll(() => market.model.asked() - drawn).toBeGreaterThan(0);
  const another = run(market, other.key, other.agent.address, { text: "ten boats" });
  await expect.poll(() => market.model.asked() - drawn).toBe(3);
  await elapse(500, "for runs that are not held back to reach the model");
  expect(market.model.asked() - drawn).toBe(3);
  market.model.answerHeld();
  for (const { body } of await Promise.all([another, ...runs])) expect(body).toMatchObject({ success: true });
  expect(market.model.asked() - drawn).toBe(9);
});

test("a file is served so that nothing in it can run, and may be kept for ever", async ({ market }) => {
  const { body } = await draw(market);
  const response = await fetchFile(market, body.output.images[0]);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-type": "image/png",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "x-content-type-options": "nosniff",
    "cache-control": "public, max-age=31536000, immutable",
  });
  const etag = response.headers.get("etag")!;
  const again = await fetch(market.url + pathOf(body.output.images[0]), { headers: { "if-none-match": etag } });
  expect([again.status, await again.text()]).toEqual([304, ""]);
});

/** As it stands: fetch would make `/` of `/files/%2e%2e`. */
async function statusOf(market: TestMarketplace, path: string): Promise<number | undefined> {
  const { hostname, port } = new URL(market.url);
  const [answer] = (await once(get({ hostname, port, path }), "response")) as [IncomingMessage];
  answer.resume();
  return answer.statusCode;
}

test("only names of files lead to files", async ({ market }) => {
  const hash = createHash("sha256").update("nothing").digest("hex");
  for (const name of [
    `${hash}.png`,
    `${hash}.exe`,
    "..%2f..%2fpackage.json",
    "%2e%2e",
    `${hash}.png.tmp`,
    "a".repeat(9_000),
  ]) {
    expect([404, 400]).toContain(await statusOf(market, `/files/${name}`));
  }
});

test("the owner hides an image: its link answers 410 until it is shown again; nobody else can", async ({ market }) => {
  const { body, creator, key, agent } = await draw(market);
  const [url] = body.output.images;
  const name = pathOf(url).split("/").at(-1)!;
  const owner = (await createKey(market.context.db, { accountId: creator.id, name: "owner" })).token;
  const visibility = (who: string, what: string) =>
    call(market.url, `/api/v1/files/${name}/${what}`, { key: who, method: "POST" });

  expect((await visibility(key, "hide")).status).toBe(404);
  expect((await fetchFile(market, url)).status).toBe(200);
  expect(await visibility(owner, "hide")).toMatchObject({ status: 200, body: { name, hidden: true } });
  const gone = await fetchFile(market, url);
  expect(gone.status).toBe(410);
  expect(gone.headers.get("cache-control")).toBe("no-store");
  // Drawing the same again does not bring it back.
  const again = await run(market, key, agent.address, { text: "a boat" });
  expect(again.body.output.images).toEqual([url]);
  expect((await fetchFile(market, url)).status).toBe(410);

  const listed = (await call(market.url, "/api/v1/files", { key: owner })).body.files;
  expect(listed).toMatchObject([{ name, url, agent: agent.address, hidden_at: expect.any(String) }]);
  expect((await call(market.url, "/api/v1/files", { key })).body.files).toEqual([]);
  expect((await visibility(owner, "show")).status).toBe(200);
  expect((await fetchFile(market, url)).status).toBe(200);
  expect((await call(market.url, `/api/v1/files/${name}/hide`, { method: "POST" })).status).toBe(401);
});

test("two creators who drew the same picture hide it each for themselves", async ({ market }) => {
  const [one, two] = [await draw(market), await draw(market)];
  expect(one.body.output.images).not.toEqual(two.body.output.images);
});

test("extra instructions end the prompt", async ({ market }) => {
  const { key, agent } = await seed(market);
  await run(market, key, agent.address, { text: "a boat", extraInstructions: "in blue" });
  expect(market.model.requests.at(-1)?.body).toMatchObject({
    prompt: "A picture of a boat\n\nAdditional instructions:\nin blue",
  });
});
