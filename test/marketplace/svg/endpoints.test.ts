import { Resvg } from "@resvg/resvg-js";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { balanceOf, call, proveLedger } from "../../support/marketplace.ts";
import { type PaidMarket, startPaidMarket } from "../../support/paid-market.ts";
import { decodeHeader, payQuote, post } from "../../support/pay-call.ts";
import { noise, png } from "./pictures.ts";

let paid: PaidMarket;
let logo: string;

beforeAll(async () => {
  paid = await startPaidMarket();
  const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="120" height="80"><rect width="120" height="80" fill="#fff"/>
    <circle cx="40" cy="40" r="24" fill="#c03"/><rect x="70" y="20" width="36" height="40" fill="#036"/></svg>`;
  logo = new Resvg(drawing).render().asPng().toString("base64");
});

afterAll(() => paid?.stop());

const ask = (path: string, body: unknown, key: string | undefined = paid.market.key) =>
  call(paid.marketplace.url, `/api/v1/svg/${path}`, { body, ...(key && { key }) });
const credits = async () => (await balanceOf(paid.marketplace, paid.market.key)).credits as number;
/** The service names its files by its public address. */
const fetchFile = (url: string) => fetch(paid.marketplace.url + new URL(url).pathname);

describe("POST /api/v1/svg/vectorize", () => {
  test("answers every field of the result, for one credit, and serves the files under a strict policy", async () => {
    const before = await credits();
    const { status, headers, body } = await ask("vectorize", { image: logo, files: ["pdf"] });
    expect(status).toBe(200);
    expect(body).toMatchObject({ width: 120, height: 80, cost_usd: 0.01, svg: expect.stringMatching(/^<svg/) });
    for (const field of ["paths", "colors", "bytes", "score", "ms"]) expect(body[field]).toBeGreaterThan(0);
    expect(body.bytes).toBe(Buffer.byteLength(body.svg));
    expect(body.score).toBeLessThanOrEqual(1);
    expect(body.layers[0]).toMatchObject({ id: expect.any(String), fill: [expect.stringMatching(/^#/)] });
    expect(Number(headers.get("x-ratelimit-remaining"))).toBeGreaterThan(0);
    expect(await credits()).toBe(before - 1);

    const file = await fetchFile(body.url);
    expect(await file.text()).toBe(body.svg);
    expect(file.headers.get("content-type")).toContain("image/svg+xml");
    expect(file.headers.get("content-security-policy")).toBe("default-src 'none'; style-src 'unsafe-inline'; sandbox");
    expect(file.headers.get("x-content-type-options")).toBe("nosniff");
    const png = await sharp(Buffer.from(await (await fetchFile(body.files.png)).arrayBuffer())).metadata();
    expect(png).toMatchObject({ format: "png", width: 120 });
    expect(await (await fetchFile(body.files.pdf)).text()).toMatch(/^%PDF/);
  });

  test("takes a data: URI as well", async () => {
    expect((await ask("vectorize", { image: `data:image/png;base64,${logo}` })).status).toBe(200);
  });

  test.each([
    [{}, "image"],
    [{ image: 5 }, "image"],
    [{ image: "x", mode: "flat" }, "stacked, cutout"],
    [{ image: "x", style: "crayon" }, "lineart"],
    [{ image: "x", colors: 1 }, "colors"],
    [{ image: "x", files: ["eps"] }, "png, pdf"],
  ])("400 names the field and what is allowed: %j", async (body, mention) => {
    const answer = await ask("vectorize", body);
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringContaining(mention) } });
  });

  test.each([
    ["no image", Buffer.from("not an image").toString("base64")],
    ["an SVG that pretends to be a PNG", `data:image/png;base64,${Buffer.from("<svg xmlns='x'/>").toString("base64")}`],
    ["not base64", "%%%"],
    ["a private address", "https://127.0.0.1/logo.png"],
    ["the cloud's metadata", "https://169.254.169.254/latest"],
    ["no https", "file:///etc/passwd"],
  ])("422 for %s, and nothing is charged", async (_name, image) => {
    const before = await credits();
    const answer = await ask("vectorize", { image });
    expect(answer).toMatchObject({ status: 422, body: { error: expect.stringMatching(/\w/) } });
    expect(await credits()).toBe(before);
  });

  test("429 with Retry-After while the tracer's queue is full, before the image is read; nothing is charged", async () => {
    const { tracers } = paid.marketplace.context;
    const done = new AbortController();
    const bytes = await png(noise(900, 900));
    const jobs: Promise<unknown>[] = [];
    const run = () => tracers.run({ bytes, options: {}, files: [] }, AbortSignal.any([done.signal]));
    while (!tracers.full) jobs.push(run().catch(() => {}));
    const before = await credits();
    const answer = await ask("vectorize", "no JSON at all");
    expect(answer.status).toBe(429);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    done.abort();
    await Promise.all(jobs);
    expect(await credits()).toBe(before);
    expect((await ask("vectorize", { image: logo })).status).toBe(200);
  });

  test("under one name it is traced and charged once, however often and at once it is asked", async () => {
    const before = await credits();
    const named = (image: string) =>
      call(paid.marketplace.url, "/api/v1/svg/vectorize", {
        key: paid.market.key,
        body: { image },
        headers: { "idempotency-key": "logo-1" },
      });
    const answers = await Promise.all(Array.from({ length: 5 }, () => named(logo)));
    for (const { status, body } of answers) expect({ status, body }).toEqual({ status: 200, body: answers[0]?.body });
    expect(answers.filter(({ headers }) => headers.get("idempotent-replayed") === "true")).toHaveLength(4);
    expect(await named(`data:image/png;base64,${logo}`)).toMatchObject({ status: 409 });
    expect(await credits()).toBe(before - 1);
  });

  test.each(["", "x".repeat(256)])("400 names an Idempotency-Key that is none: %#", async (name) => {
    const headers = { "idempotency-key": name };
    const answer = await call(paid.marketplace.url, "/api/v1/svg/vectorize", {
      key: paid.market.key,
      body: { image: logo },
      headers,
    });
    expect(answer).toMatchObject({ status: 400, body: { field: "Idempotency-Key" } });
  });

  test("401 without a key", async () => {
    expect((await ask("vectorize", { image: logo }, "")).status).toBe(401);
  });
});

describe("POST /api/v1/svg/generate", () => {
  test("draws a prompt for three credits, and in HD for eight", async () => {
    const before = await credits();
    const { status, body } = await ask("generate", { prompt: "A red fox", style: "logo" });
    expect(status).toBe(200);
    expect(body).toMatchObject({ cost_usd: 0.03, width: 1024, height: 1024, files: { png: expect.any(String) } });
    expect(await credits()).toBe(before - 3);
    const hd = await ask("generate", { prompt: "A red fox", hd: true, aspect: "wide", layers: true });
    expect(hd).toMatchObject({ status: 200, body: { cost_usd: 0.08, width: 2048 } });
    expect(await credits()).toBe(before - 11);
    await proveLedger(paid.marketplace.context);
  }, 60_000);

  test("the model's failure is a 502 that was refunded; a busy model is 429 with Retry-After", async () => {
    const before = await credits();
    paid.marketplace.model.injectFault({ status: 500 });
    expect((await ask("generate", { prompt: "A fox" })).status).toBe(502);
    paid.marketplace.model.injectFault({ status: 429, retryAfterSeconds: 3 });
    const busy = await ask("generate", { prompt: "A fox" });
    paid.marketplace.model.clearFaults();
    expect(busy.status).toBe(429);
    expect(Number(busy.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await credits()).toBe(before);
  });

  test("400 names the field", async () => {
    expect(await ask("generate", {})).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining("prompt") },
    });
    const palette = await ask("generate", { prompt: "A fox", palette: ["red"] });
    expect(palette).toMatchObject({ status: 400, body: { error: expect.stringContaining("palette") } });
  });
});

describe("the fixed-price routes", () => {
  test.each([
    ["svg-vectorize", "10000", () => ({ image: logo })],
    ["svg-generate", "30000", () => ({ prompt: "A fox" })],
    ["svg-generate-hd", "80000", () => ({ prompt: "A fox" })],
  ])(
    "%s costs %s base units to the platform's wallet",
    async (product, amount, body) => {
      const url = `${paid.marketplace.url}/api/x402/${product}`;
      const quoted = await post(url, { body: body() });
      expect(quoted.status).toBe(402);
      expect(quoted.body.accepts).toMatchObject([
        { network: "hedera:testnet", amount, payTo: paid.ledger.accounts.platform.accountId },
        { network: "eip155:84532", amount, payTo: paid.platformWallet },
      ]);
      const proof = await payQuote(paid, "evm", quoted);
      const answer = await post(url, { body: body(), proof });
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({ svg: expect.stringMatching(/^<svg/), cost_usd: Number(amount) / 1_000_000 });
      expect(decodeHeader(answer.headers.get("payment-response"))).toMatchObject({ success: true });
      expect((await post(url, { body: body(), proof })).status).toBe(402);
    },
    60_000,
  );

  test.each([
    ["svg-generate", { prompt: "A fox", layers: true }],
    ["svg-generate-hd", { prompt: "A fox", aspect: "wide" }],
  ])("%s refuses what needs a key before it settles: %j", async (product, body) => {
    const url = `${paid.marketplace.url}/api/x402/${product}`;
    const proof = await payQuote(paid, "hedera", await post(url, { body }));
    expect(await post(url, { body, proof })).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining("key") },
    });
    const { body: verdict } = await paid.facilitator.verify({
      paymentPayload: proof,
      paymentRequirements: proof.accepted,
    });
    expect(verdict).toMatchObject({ isValid: true });
  });
});
