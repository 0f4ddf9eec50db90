import { availableParallelism } from "node:os";
import { Resvg } from "@resvg/resvg-js";
import sharp from "sharp";
import { describe, expect } from "vitest";
import { type MockModels, startMockModels } from "../../../infra/mock-models/server.ts";
import { createKey } from "../../../marketplace/api-keys/create.ts";
import { freeParty } from "../../../marketplace/svg/trace-pool.ts";
import { paidTest } from "../../support/fixtures.ts";
import { usdcOf } from "../../support/hedera-payments.ts";
import { balanceOf, call, proveLedger, seedMarket, startMarketplace, until } from "../../support/marketplace.ts";
import { callTool, connectMcp } from "../../support/mcp.ts";
import type { PaidMarket } from "../../support/paid-market.ts";
import { part, perFile } from "../../support/part.ts";
import { decodeHeader, payQuote, post } from "../../support/pay-call.ts";
import { noise, png } from "../tracer/pictures.ts";

let model: MockModels;
let paid: PaidMarket;
let logo: string;

const nothing = { width: 8, height: 8, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } } as const;
const transparent = (await sharp({ create: nothing }).png().toBuffer()).toString("base64");

const test = paidTest()
  .extend(
    "model",
    perFile,
    part(() => startMockModels({ asModel: true, sideMax: 256 })),
  )
  .extend("options", perFile, ({ model }) => ({ model }));
test.beforeAll(({ model: standIn, paid: started }) => {
  [model, paid] = [standIn, started];
  const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="120" height="80"><rect width="120" height="80" fill="#fff"/>
    <circle cx="40" cy="40" r="24" fill="#c03"/><rect x="70" y="20" width="36" height="40" fill="#036"/></svg>`;
  logo = new Resvg(drawing).render().asPng().toString("base64");
});

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

  test("writes its run into the log under the product's own name", async () => {
    expect((await ask("vectorize", { image: logo })).status).toBe(200);
    const ended = paid.marketplace.lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === "connector ended");
    expect(ended.at(-1)).toMatchObject({
      agent: "platform/svg-vectorize",
      connector: "svg-vectorize",
      outcome: "succeeded",
    });
  });

  test("takes a data: URI as well", async () => {
    expect((await ask("vectorize", { image: `data:image/png;base64,${logo}` })).status).toBe(200);
  });

  test.each([
    [{}, "image"],
    [{ image: 5 }, "image"],
    [{ image: "x", mode: "flat" }, "stacked, cutout"],
    [{ image: "x", style: "crayon" }, "lineart"],
    [{ image: "x", colors: 1 }, '"colors" must be a whole number from 2 to 256.'],
    [{ image: "x", colors: "8" }, '"colors" must be a whole number from 2 to 256.'],
    [{ image: "x", simplify: 2 }, '"simplify" must be a number from 0 to 1.'],
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
    ["a picture of nothing", transparent],
  ])("422 for %s, and nothing is charged", async (_name, image) => {
    const before = await credits();
    const answer = await ask("vectorize", { image });
    expect(answer).toMatchObject({ status: 422, body: { error: expect.stringMatching(/\w/) } });
    expect(await credits()).toBe(before);
  });

  test("429 with Retry-After while the account has all the drawings it may, before the image is read; nothing is charged", async () => {
    const full = await fillQueue(paid.market.buyer.id);
    const before = await credits();
    const answer = await ask("vectorize", "no JSON at all");
    expect(answer.status).toBe(429);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    await full.empty();
    expect(await credits()).toBe(before);
    expect((await ask("vectorize", { image: logo })).status).toBe(200);
  });

  test("an account that floods the queue delays nobody else by more than the drawing that is being made", async () => {
    const { context } = paid.marketplace;
    const { width, height, rgba } = noise(96, 72);
    const jpeg = await sharp(rgba, { raw: { width, height, channels: 4 } })
      .jpeg({ quality: 40 })
      .toBuffer();
    const second = await createKey(context.db, { accountId: paid.market.buyer.id, name: "second" });
    const others = await seedMarket(context);
    // With the processes up and their code compiled, eight small pictures are well within a trace's deadline on a busy machine.
    for (const image of [logo, jpeg.toString("base64")])
      expect((await ask("vectorize", { image }, others.key)).status).toBe(200);
    const answers: Awaited<ReturnType<typeof ask>>[] = [];
    const flood = Array.from({ length: 12 }, async (_, i) => {
      const key = i % 2 === 0 ? paid.market.key : second.token;
      answers.push(await ask("vectorize", { image: jpeg.toString("base64") }, key));
    });
    // Both keys of the account share its eight places.
    await until(() => answers.filter(({ status }) => status === 429).length === 4);
    const drawn = () => answers.filter(({ status }) => status === 200).length;
    const before = drawn();
    for (const { headers } of answers.filter(({ status }) => status === 429))
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await ask("vectorize", { image: logo }, others.key)).status).toBe(200);
    const meanwhile = drawn() - before;
    await Promise.all(flood);
    expect(meanwhile).toBeLessThanOrEqual(availableParallelism() + 1);
    expect(drawn()).toBe(8);
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
    // The model is asked for the size that was sold, and draws what it can.
    const sizeAsked = () => (model.requests.at(-1)!.body as { size: string }).size;
    expect(sizeAsked()).toBe("1024x1024");
    expect(body).toMatchObject({ cost_usd: 0.03, width: 256, height: 256, files: { png: expect.any(String) } });
    expect(await credits()).toBe(before - 3);
    const hd = await ask("generate", { prompt: "A red fox", hd: true, aspect: "wide", layers: true });
    expect(sizeAsked()).toBe("2048x1152");
    expect(hd).toMatchObject({ status: 200, body: { cost_usd: 0.08, width: 256, height: 144 } });
    expect(await credits()).toBe(before - 11);
    await proveLedger(paid.marketplace.context);
  });

  test("a request that was told to come again is drawn under the same name then; one that failed is told the same again", async () => {
    const named = (name: string, prompt: string) =>
      call(paid.marketplace.url, "/api/v1/svg/generate", {
        body: { prompt },
        key: paid.market.key,
        headers: { "idempotency-key": name },
      });
    paid.marketplace.model.injectFault({ status: 429, retryAfterSeconds: 3 });
    expect((await named("busy", "A patient fox")).status).toBe(429);
    expect((await named("busy", "A patient fox")).status).toBe(200);
    paid.marketplace.model.injectFault({ status: 400 });
    const failed = await named("broken", "A broken fox");
    expect([failed.status, (await named("broken", "A broken fox")).status]).toEqual([502, 502]);
  });

  test("two equal requests at once are told to come again, or the one that comes second is drawn; none is told that it lacks credits", async () => {
    const named = (n: number) =>
      call(paid.marketplace.url, "/api/v1/svg/generate", {
        body: { prompt: "A patient fox" },
        key: paid.market.key,
        headers: { "idempotency-key": `twice ${n}` },
      });
    for (let n = 0; n < 5; n += 1) {
      paid.marketplace.model.injectFault({ status: 429, retryAfterSeconds: 3 });
      const statuses = (await Promise.all([named(n), named(n)])).map(({ status }) => status);
      for (const status of statuses) expect([200, 429]).toContain(status);
      expect(statuses).toContain(429);
    }
    paid.marketplace.model.clearFaults();
  });

  test("who leaves ten drawings an hour unpaid gets no more of them from the model, others do", async () => {
    const { context, url, model: standIn } = paid.marketplace;
    const { key } = await seedMarket(context);
    const draw = (prompt: string) => call(url, "/api/v1/svg/generate", { body: { prompt }, key });
    for (let n = 0; n < 10; n += 1) {
      standIn.injectFault({ garbled: true });
      expect((await draw(`Nothing ${n}`)).status).toBe(502);
    }
    const asked = standIn.asked();
    const refused = await draw("Nothing more");
    expect([refused.status, refused.body.error]).toEqual([429, expect.stringContaining("Too many")]);
    expect(standIn.asked()).toBe(asked);
    expect((await ask("generate", { prompt: "A fox of another account" })).status).toBe(200);
  });

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

/** Hands in drawings for a party until there is no room for another; `empty` takes them back. */
async function fillQueue(party: string): Promise<{ empty(): Promise<void> }> {
  const { tracers } = paid.marketplace.context;
  const done = new AbortController();
  const bytes = await png(noise(400, 400));
  const jobs: Promise<unknown>[] = [];
  const hasRoom = () => {
    try {
      tracers.admit(party);
      return true;
    } catch {
      return false;
    }
  };
  while (hasRoom()) {
    const signal = AbortSignal.any([done.signal]);
    jobs.push(tracers.run({ bytes, options: {}, files: [] }, signal, party).catch(() => {}));
  }
  return {
    empty: async () => {
      done.abort();
      await Promise.all(jobs);
    },
  };
}

describe("the fixed-price routes", () => {
  test.each([
    ["svg-vectorize", "10000", () => ({ image: logo })],
    ["svg-generate", "30000", () => ({ prompt: "A fox" })],
    ["svg-generate-hd", "80000", () => ({ prompt: "A fox" })],
  ])("%s costs %s base units to the platform's wallet", async (product, amount, body) => {
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
  });

  const pay = async (product: string, body: object) => {
    const url = `${paid.marketplace.url}/api/x402/${product}`;
    const proof = await payQuote(paid, "hedera", await post(url, { body }));
    return { proof, answer: await post(url, { body, proof }) };
  };
  const isUnspent = async (proof: Awaited<ReturnType<typeof payQuote>>) => {
    const asked = { paymentPayload: proof, paymentRequirements: proof.accepted };
    return (await paid.facilitator.verify(asked)).body;
  };

  test.each([
    ["svg-generate", { prompt: "A fox", layers: true }, "layers", "key"],
    ["svg-generate-hd", { prompt: "A fox", layers: true }, "layers", "key"],
    ["svg-generate-hd", { prompt: "A fox", aspect: "wide" }, "aspect", "key"],
    ["svg-generate", { prompt: "A fox", hd: true, aspect: "wide" }, "hd", "key"],
    ["svg-generate", { prompt: "A fox", hd: true }, "hd", "/api/x402/svg-generate-hd"],
    ["svg-generate-hd", { prompt: "A fox", hd: false }, "hd", "/api/x402/svg-generate."],
    ["svg-generate", { prompt: "A fox", hd: "true" }, "hd", "true or false"],
    ["svg-generate", { prompt: "A fox", max_credits: 2 }, "max_credits", "$0.03, and in the quote"],
  ])("%s refuses what it does not draw before it settles: %j", async (product, body, field, where) => {
    const { proof, answer } = await pay(product, body);
    expect(answer).toMatchObject({
      status: 400,
      body: { field, error: expect.stringContaining(where) },
    });
    // It is said once the facilitator could be asked: strangers may have it asked a few times a second.
    const url = `${paid.marketplace.url}/api/x402/${product}`;
    await expect.poll(async () => (await post(url, { body, proof })).body.charged).toBe(false);
    expect(await isUnspent(proof)).toMatchObject({ isValid: true });
  });

  test("what they do not draw is not in what they publish", async () => {
    const properties = async (product: string) => {
      const { headers, body } = await post(`${paid.marketplace.url}/api/x402/${product}`, { body: {} });
      const { extensions } = decodeHeader(headers.get("payment-required")) as {
        extensions: { bazaar: { schema: { properties: { input: { properties: { body: { properties: object } } } } } } };
      };
      const v2 = extensions.bazaar.schema.properties.input.properties.body.properties;
      expect(body.accepts[0].outputSchema.input.bodyFields).toEqual(v2);
      const { body: document } = await call(paid.marketplace.url, "/api/v1/openapi.json");
      const { $ref } = document.paths[`/api/x402/${product}`].post.requestBody.content["application/json"].schema;
      const published = document.components.schemas[$ref.split("/").at(-1)];
      expect(Object.keys(published.properties)).toEqual(Object.keys(v2));
      return v2 as Record<string, { enum?: string[] }>;
    };
    expect(await properties("svg-vectorize")).not.toHaveProperty("layers");
    const plain = await properties("svg-generate");
    const hd = await properties("svg-generate-hd");
    for (const fields of [plain, hd]) for (const field of ["hd", "layers"]) expect(fields).not.toHaveProperty(field);
    expect(plain.aspect?.enum).toContain("wide");
    expect(hd.aspect?.enum).toEqual(["square", "landscape", "portrait"]);
  });

  test.each([
    ["no image", Buffer.from("not an image").toString("base64")],
    ["a picture cut short", () => logo.slice(0, 400)],
    ["a picture of nothing", transparent],
    ["a private address", "https://127.0.0.1/logo.png"],
    ["an address that nobody answers at", "https://nobody.invalid/logo.png"],
  ])("422 for %s before it settles", async (_what, image) => {
    const { proof, answer } = await pay("svg-vectorize", { image: typeof image === "string" ? image : image() });
    expect(answer).toMatchObject({ status: 422, body: { field: "image", charged: false } });
    expect(await isUnspent(proof)).toMatchObject({ isValid: true });
  });

  test("a payment settled before is not lost to a bad image: 422 says that it stays good, and a good one is drawn", async () => {
    const url = `${paid.marketplace.url}/api/x402/svg-vectorize`;
    const bad = { image: Buffer.from("not an image").toString("base64") };
    const proof = await payQuote(paid, "hedera", await post(url, { body: bad }));
    const settled = await paid.facilitator.settle({ paymentPayload: proof, paymentRequirements: proof.accepted });
    expect(settled.body).toMatchObject({ success: true });
    expect(await post(url, { body: bad, proof })).toMatchObject({
      status: 422,
      body: { charged: true, advice: expect.stringContaining("stays good") },
    });
    expect((await post(url, { body: { image: logo }, proof })).status).toBe(200);
  });

  test("429 with Retry-After while the model or the drawing queue is busy, before it settles", async () => {
    model.injectFault({ status: 429, retryAfterSeconds: 7 });
    const drawn = await pay("svg-generate", { prompt: "A busy fox" });
    model.clearFaults();
    expect(drawn.answer).toMatchObject({ status: 429, body: { charged: false } });
    expect(drawn.answer.headers.get("retry-after")).toBe("7");
    expect(await isUnspent(drawn.proof)).toMatchObject({ isValid: true });

    const full = await fillQueue("from 127.0.0.1");
    const traced = await pay("svg-vectorize", { image: logo });
    await full.empty();
    expect(traced.answer.status).toBe(429);
    expect(Number(traced.answer.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await isUnspent(traced.proof)).toMatchObject({ isValid: true });
  });
});

describe("what is drawn without a model", () => {
  const platformHolds = async () => usdcOf(paid.ledger, paid.ledger.accounts.platform.accountId);
  const generate = (body: object) => ask("generate", { prompt: "A fox", ...body });

  test("says so and costs nothing on any rail; a model that comes back is paid again", async () => {
    const { marketplace, market } = paid;
    const [before, held] = [await credits(), await platformHolds()];
    const url = `${marketplace.url}/api/x402/svg-generate`;
    const quoted = await post(url, { body: { prompt: "A fox" } });
    expect(quoted.status).toBe(402);
    model.poseAsModel(false);
    // It was thought to be a model's when the price was told.
    expect(await generate({})).toMatchObject({ status: 503, headers: expect.anything() });
    expect(await generate({})).toMatchObject({ status: 200, body: { stand_in: true, cost_usd: 0 } });
    const hd = await generate({ hd: true, background: "transparent", palette: ["#000000", "#ffffff"] });
    expect(hd).toMatchObject({ status: 200, body: { stand_in: true, cost_usd: 0 } });

    for (const product of ["svg-generate", "svg-generate-hd"]) {
      const free = await post(`${marketplace.url}/api/x402/${product}`, { body: { prompt: "A fox" } });
      expect(free).toMatchObject({ status: 200, body: { stand_in: true, cost_usd: 0, svg: expect.any(String) } });
    }
    // All that is drawn for nothing shares the places of one party, with a key or without.
    const { tracers } = marketplace.context;
    const places = [];
    for (let isFull = false; !isFull; ) {
      try {
        places.push(tracers.reserve(freeParty));
      } catch {
        isFull = true;
      }
    }
    expect(await generate({})).toMatchObject({ status: 429, body: { error: expect.stringContaining("cost nothing") } });
    for (const place of places) place.leave();

    const proof = await payQuote(paid, "hedera", quoted);
    const unpaid = await post(url, { body: { prompt: "A fox" }, proof });
    expect(unpaid).toMatchObject({ status: 200, body: { stand_in: true } });
    expect(unpaid.headers.get("payment-response")).toBeNull();
    const asked = { paymentPayload: proof, paymentRequirements: proof.accepted };
    expect((await paid.facilitator.verify(asked)).body).toMatchObject({ isValid: true });

    const client = await connectMcp(marketplace.url, market.key);
    const tool = await callTool(client, "svg_generate", { prompt: "A fox" });
    expect(tool).toMatchObject({ structuredContent: { stand_in: true }, _meta: { credits_used: 0 } });
    await client.close();
    expect([await credits(), await platformHolds()]).toEqual([before, held]);

    model.poseAsModel(true);
    expect((await generate({})).body).not.toHaveProperty("stand_in");
    expect((await generate({})).body).toMatchObject({ cost_usd: 0.03 });
    expect(await credits()).toBe(before - 3);
    await proveLedger(marketplace.context);
  });

  test("a model that cannot be reached has no price: 503, so that nobody pays for what is not there", async () => {
    const gone = await startMockModels();
    await gone.stop();
    const marketplace = await startMarketplace({ model: gone });
    const { key } = await seedMarket(marketplace.context);
    for (const [path, more] of [
      ["/api/x402/svg-generate", {}],
      ["/api/v1/svg/generate", { key }],
    ] as const) {
      const answer = await call(marketplace.url, path, { body: { prompt: "A fox" }, ...more });
      expect(answer).toMatchObject({ status: 503, body: { error: expect.stringContaining("nothing was charged") } });
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    await marketplace.stop();
  });
});

// Last, since they all come from one address.
test("who leaves ten drawings an hour unpaid has no more begun, by another wallet either", async () => {
  const url = `${paid.marketplace.url}/api/x402/svg-generate-hd`;
  const body = { prompt: "A fox that nobody pays for" };
  const pay = async (rail: "hedera" | "evm") =>
    post(url, { body, proof: await payQuote(paid, rail, await post(url, { body })) });
  for (let n = 0; n < 10; n += 1) {
    model.injectFault({ garbled: true });
    expect(await pay("hedera")).toMatchObject({ status: 500, body: { charged: false } });
  }
  const asked = model.asked();
  for (const rail of ["hedera", "evm"] as const) {
    const refused = await pay(rail);
    expect([refused.status, refused.body.error]).toEqual([429, expect.stringContaining("Too many")]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  }
  expect(model.asked()).toBe(asked);
});
