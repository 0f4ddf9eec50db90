import { mkdtemp, rename } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { startMockModels } from "../../../infra/mock-models/server.ts";
import { credits } from "../../../marketplace/credits/amount.ts";
import { grant } from "../../../marketplace/credits/ledger.ts";
import type { AccountId } from "../../../marketplace/ids.ts";
import { Browser, signedIn, withAccount } from "../../support/browser.ts";
import { marketTest } from "../../support/fixtures.ts";
import { startHttpServer } from "../../support/http-server.ts";
import { proveLedger, startMarketplace, type TestMarketplace, until } from "../../support/marketplace.ts";
import { part, perFile } from "../../support/part.ts";
import { logo, picture, png } from "../tracer/pictures.ts";

const test = marketTest()
  .extend(
    "model",
    perFile,
    part(() => startMockModels({ asModel: true })),
  )
  .extend("files", perFile, () => mkdtemp(join(tmpdir(), "files-")))
  .extend("options", perFile, ({ model, files }) => ({ model, env: { FILES_DIR: files } }))
  .extend("image", perFile, async () => (await png(picture(400, 300, logo))).toString("base64"));
test.afterEach(({ market }) => proveLedger(market.context));

async function buyerWith(market: TestMarketplace, balance: bigint) {
  const { browser, handle } = await withAccount(market);
  const { rows } = await market.context.db.query<{ id: AccountId }>("select id from accounts where handle = $1", [
    handle,
  ]);
  if (balance > 0n) await grant(market.context.db, { accountId: rows[0]!.id, credits: credits(balance) });
  return { browser, credits: async () => (await browser.get("/api/account")).body.account.credits };
}

test("a signed-in visitor pays with the account's credits: a trace, and a drawing, each at its price", async ({
  market,
  image,
}) => {
  const { browser, credits } = await buyerWith(market, 5n);
  const traced = await browser.post("/api/account/svg/vectorize", { image, layers: true, max_credits: 1 });
  expect(traced).toMatchObject({ status: 200, body: { svg: expect.stringMatching(/^<svg/), cost_usd: 0.01 } });
  expect(traced.body.layers.map(({ id }: { id: string }) => id)).toContain("circle-1");
  expect(await credits()).toBe(4);
  const drawn = await browser.post("/api/account/svg/generate", { prompt: "A fox made of paper", max_credits: 3 });
  expect(drawn).toMatchObject({ status: 200, body: { svg: expect.stringMatching(/^<svg/), cost_usd: 0.03 } });
  expect(await credits()).toBe(1);
});

test("a lost answer is had again by the request's name, for no second charge", async ({ market, image }) => {
  const { browser, credits } = await buyerWith(market, 3n);
  const ask = () => browser.post("/api/account/svg/vectorize", { image }, { "idempotency-key": "press-1" });
  const [first, second] = [await ask(), await ask()];
  expect(second.body).toEqual(first.body);
  expect(await credits()).toBe(2);
});

test("a picture whose file its holder has hidden is traced again all the same, and the file stays hidden", async ({
  market,
  image,
}) => {
  const { browser, credits } = await buyerWith(market, 2n);
  const ask = () => browser.post("/api/account/svg/vectorize", { image });
  const { body: first } = await ask();
  const path = new URL(first.url).pathname;
  expect((await browser.post(`/api/account${path}/hide`)).status).toBe(200);
  expect(await ask()).toMatchObject({ status: 200, body: { svg: first.svg, url: first.url } });
  expect(await credits()).toBe(0);
  expect((await fetch(market.url + path)).status).toBe(410);
});

test("a drawing that was paid for and cannot be read from its store is said to be charged, and is had by its name", async ({
  market,
  image,
  files,
}) => {
  const { browser, credits } = await buyerWith(market, 2n);
  const ask = () => browser.post("/api/account/svg/vectorize", { image }, { "idempotency-key": "stored" });
  const { url } = (await ask()).body;
  const name = url.slice(url.lastIndexOf("/") + 1);
  const file = join(files, name.slice(0, 2), name);
  await rename(file, `${file}.away`);
  expect(await ask()).toMatchObject({ status: 503, body: { error: expect.stringContaining(url), charged: true } });
  await rename(`${file}.away`, file);
  expect(await ask()).toMatchObject({ status: 200, body: { svg: expect.stringMatching(/^<svg/) } });
  expect(await credits()).toBe(1);
});

test("a drawing is answered though its file cannot be read at that moment, and charged once", async ({ image }) => {
  // It takes what is stored, and gives nothing back.
  const store = await startHttpServer((request, response) => {
    request.resume().on("end", () => response.writeHead(request.method === "PUT" ? 200 : 503).end());
  });
  const env = {
    FILES_S3_ENDPOINT: store.url,
    FILES_S3_BUCKET: "files",
    FILES_S3_ACCESS_KEY_ID: "key",
    FILES_S3_SECRET_ACCESS_KEY: "secret",
  };
  const market = await startMarketplace({ env });
  try {
    const { browser, credits } = await buyerWith(market, 2n);
    const traced = await browser.post("/api/account/svg/vectorize", { image });
    expect(traced).toMatchObject({ status: 200, body: { svg: expect.stringMatching(/^<svg/) } });
    expect(await credits()).toBe(1);
  } finally {
    await market.stop();
    await store.stop();
  }
});

test("a form without JavaScript is told the same, and asks again under the same name", async ({
  market,
  image,
  files,
}) => {
  const { browser, credits } = await buyerWith(market, 2n);
  const post = async () => {
    const body = new FormData();
    for (const [name, value] of Object.entries({ make: "trace", pay: "credits", request_name: "formed" })) {
      body.set(name, value);
    }
    body.set("image", new Blob([Buffer.from(image, "base64")], { type: "image/png" }), "a.png");
    const headers = { cookie: browser.cookie, accept: "text/html" };
    const answer = await fetch(`${market.url}/svg`, { method: "POST", headers, body });
    return { status: answer.status, html: await answer.text() };
  };
  const made = await post();
  expect(made.status).toBe(200);
  const [, name = ""] = /\/files\/(\w+\.svg)/.exec(made.html) ?? [];
  const file = join(files, name.slice(0, 2), name);
  await rename(file, `${file}.away`);
  const away = await post();
  expect([away.status, away.html.includes("It is drawn and paid for")]).toEqual([503, true]);
  expect(away.html).not.toContain("nothing was charged");
  expect(away.html).toContain('name="request_name" value="formed"');
  await rename(`${file}.away`, file);
  expect((await post()).html).toContain(name);
  expect(await credits()).toBe(1);
});

test("a form without JavaScript says the price that it showed, and is charged no more", async ({ market, image }) => {
  const { browser, credits } = await buyerWith(market, 3n);
  const headers = { cookie: browser.cookie, accept: "text/html" };
  const shown = await (await fetch(`${market.url}/svg`, { headers })).text();
  expect(shown).toContain('name="max_credits.svg-vectorize" value="1"');
  const post = async (price: string) => {
    const body = new FormData();
    const fields = { make: "trace", pay: "credits", "max_credits.svg-vectorize": price };
    for (const [name, value] of Object.entries(fields)) body.set(name, value);
    body.set("image", new Blob([Buffer.from(image, "base64")], { type: "image/png" }), "a.png");
    const answer = await fetch(`${market.url}/svg`, { method: "POST", headers, body });
    return { status: answer.status, html: await answer.text() };
  };
  const dear = await post("0");
  expect([dear.status, dear.html.includes("nothing was charged")]).toEqual([402, true]);
  expect(dear.html).toContain('name="max_credits.svg-vectorize" value="1"');
  const wrong = await post("one");
  expect([wrong.status, wrong.html.includes("max_credits.svg-vectorize")]).toEqual([400, true]);
  expect(await credits()).toBe(3);
  expect((await post("1")).status).toBe(200);
  expect(await credits()).toBe(2);
});

test("a form without JavaScript whose drawing is still being made is not told that nothing was charged, and buys no second one", async ({
  market,
  model,
}) => {
  const { browser, credits } = await buyerWith(market, 6n);
  const post = async () => {
    const body = new FormData();
    const fields = { make: "draw", pay: "credits", prompt: "A fox made of paper", request_name: "slow" };
    for (const [name, value] of Object.entries(fields)) body.set(name, value);
    const headers = { cookie: browser.cookie, accept: "text/html" };
    const answer = await fetch(`${market.url}/svg`, { method: "POST", headers, body });
    return { status: answer.status, html: await answer.text() };
  };
  model.injectFault({ delayMs: 600_000 });
  const first = post();
  const isRunning = async () =>
    (await market.context.db.query("select from runs where idempotency_key = 'slow' and state = 'running'"))
      .rowCount === 1;
  await until(isRunning);
  // As many as may wait for it at once, and one more.
  const posts = Array.from({ length: 65 }, post);
  const refused = await Promise.race(posts);
  model.answerHeld();
  await Promise.all([first, ...posts]);
  expect([refused.status, refused.html.includes("still goes on")]).toEqual([503, true]);
  expect(refused.html).not.toContain("nothing was charged");
  expect(refused.html).toContain('name="request_name" value="slow"');
  expect((await post()).status).toBe(200);
  expect(await credits()).toBe(3);
});

test("nothing is charged for too dear a price, too small a balance, or a picture that cannot be read", async ({
  market,
}) => {
  const { browser, credits } = await buyerWith(market, 2n);
  const hd = { prompt: "A fox", hd: true, max_credits: 3 };
  expect(await browser.post("/api/account/svg/generate", hd)).toMatchObject({
    status: 402,
    body: { credits_required: 8, limit_source: "request" },
  });
  expect(await browser.post("/api/account/svg/generate", { prompt: "A fox" })).toMatchObject({
    status: 402,
    body: { limit_source: "balance" },
  });
  expect(await browser.post("/api/account/svg/vectorize", { image: "no picture" })).toMatchObject({ status: 422 });
  expect(await credits()).toBe(2);
});

test("only a signed-in holder of an account, from a page of this service", async ({ market, image }) => {
  expect(await new Browser(market.url).post("/api/account/svg/vectorize", { image })).toMatchObject({ status: 401 });
  const without = await signedIn(market);
  expect(await without.post("/api/account/svg/vectorize", { image })).toMatchObject({ status: 403 });
  const { browser } = await buyerWith(market, 2n);
  const foreign = { origin: "https://evil.example" };
  expect(await browser.post("/api/account/svg/vectorize", { image }, foreign)).toMatchObject({ status: 403 });
});
