import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  balanceOf,
  call,
  type Market,
  seedMarket,
  startMarketplace,
  type TestMarketplace,
} from "../../support/marketplace.ts";

describe("POST /api/v1/svg/generate with a chat model", () => {
  let marketplace: TestMarketplace;
  let market: Market;

  beforeAll(async () => {
    marketplace = await startMarketplace({ env: { SVG_ENGINE: "chat", SVG_MODEL: "writer-1" } });
    marketplace.model.poseAsModel(true);
    market = await seedMarket(marketplace.context, { balance: 100 });
  });
  afterAll(() => marketplace?.stop());

  const generate = (body: object) => call(marketplace.url, "/api/v1/svg/generate", { key: market.key, body });
  const credits = async () => (await balanceOf(marketplace, market.key)).credits as number;
  const asks = () => marketplace.model.requests.filter(({ path }) => path === "/v1/chat/completions");

  test("answers every field, for three credits, asking the model that was configured", async () => {
    const before = await credits();
    const { status, body } = await generate({ prompt: "A fox", aspect: "wide", files: ["pdf"], background: "#112233" });
    expect(status).toBe(200);
    expect(body).toMatchObject({ width: 1792, height: 1024, cost_usd: 0.03, svg: expect.stringMatching(/^<svg/) });
    for (const field of ["paths", "colors", "bytes", "ms"]) expect(body[field]).toBeGreaterThan(0);
    expect(body.score).toBeGreaterThan(0.9);
    expect(Object.keys(body.files).sort()).toEqual(["pdf", "png"]);
    expect(body.svg).not.toContain("stand-in");
    expect(asks().at(-1)!.body).toMatchObject({ model: "writer-1" });
    expect(await credits()).toBe(before - 3);
  });

  test("the same order, the same drawing", async () => {
    const [one, other] = [await generate({ prompt: "A boat" }), await generate({ prompt: "A boat" })];
    expect(one.body.svg).toBe(other.body.svg);
  });

  test("an answer that cannot be used is answered with why, once", async () => {
    const before = asks().length;
    marketplace.model.injectFault({ answer: `<svg viewBox="0 0 100 100"><script>alert(1)</script></svg>` });
    const { status, body } = await generate({ prompt: "A hut" });
    expect(status).toBe(200);
    expect(body.svg).not.toContain("script");
    expect(asks().length).toBe(before + 2);
    expect(JSON.stringify(asks().at(-1)!.body)).toContain("<script> is not allowed");
  });

  test.each([
    ["two answers of no use", { answer: "I would rather not.", times: 2 }],
    ["two that are cut off", { truncate: true, times: 2 }],
    ["a refusal", { refuse: true }],
    ["a failure", { status: 500 }],
  ])("%s: 502, and nothing is charged", async (_name, fault) => {
    const before = await credits();
    marketplace.model.injectFault(fault);
    const answer = await generate({ prompt: "A wall" });
    marketplace.model.clearFaults();
    expect(answer.status).toBe(502);
    expect(await credits()).toBe(before);
  });
});
