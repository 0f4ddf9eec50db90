import { describe, expect } from "vitest";
import { marketTest } from "../../support/fixtures.ts";
import { balanceOf, call, type Market, type TestMarketplace } from "../../support/marketplace.ts";

const test = marketTest({ env: { SVG_ENGINE: "chat", SVG_MODEL: "writer-1" } }, { balance: 100 });
test.beforeAll(({ market }) => {
  market.model.poseAsModel(true);
});

const asks = ({ model }: TestMarketplace) => model.requests.filter(({ path }) => path === "/v1/chat/completions");
const generate = (market: TestMarketplace, { key }: Market, body: object) =>
  call(market.url, "/api/v1/svg/generate", { key, body });
const creditsOf = async (market: TestMarketplace, { key }: Market) => (await balanceOf(market, key)).credits as number;

describe("POST /api/v1/svg/generate with a chat model", () => {
  test("answers every field, for three credits, asking the model that was configured", async ({ market, seeded }) => {
    const before = await creditsOf(market, seeded);
    const { status, body } = await generate(market, seeded, {
      prompt: "A fox",
      aspect: "wide",
      files: ["pdf"],
      background: "#112233",
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ width: 1792, height: 1024, cost_usd: 0.03, svg: expect.stringMatching(/^<svg/) });
    for (const field of ["paths", "colors", "bytes", "ms"]) expect(body[field]).toBeGreaterThan(0);
    expect(body.score).toBeGreaterThan(0.9);
    expect(Object.keys(body.files).sort()).toEqual(["pdf", "png"]);
    expect(body.svg).not.toContain("stand-in");
    expect(asks(market).at(-1)!.body).toMatchObject({ model: "writer-1" });
    expect(await creditsOf(market, seeded)).toBe(before - 3);
  });

  test("answers the same order with the same drawing", async ({ market, seeded }) => {
    const [one, other] = [
      await generate(market, seeded, { prompt: "A boat" }),
      await generate(market, seeded, { prompt: "A boat" }),
    ];
    expect(one.body.svg).toBe(other.body.svg);
  });

  test("an answer that cannot be used is answered with why, once", async ({ market, seeded }) => {
    const before = asks(market).length;
    market.model.injectFault({ answer: `<svg viewBox="0 0 100 100"><script>alert(1)</script></svg>` });
    const { status, body } = await generate(market, seeded, { prompt: "A hut" });
    expect(status).toBe(200);
    expect(body.svg).not.toContain("script");
    expect(asks(market).length).toBe(before + 2);
    expect(JSON.stringify(asks(market).at(-1)!.body)).toContain("<script> is not allowed");
  });

  test("control characters in the names of its parts cost no second attempt, and what they name is drawn", async ({
    market,
    seeded,
  }) => {
    const before = asks(market).length;
    const stops = '<stop offset="0" stop-color="#ff0000"/><stop offset="1" stop-color="#0000ff"/>';
    const answer = `<svg viewBox="0 0 100 100"><linearGradient id="sky\u0001">${stops}</linearGradient><g id="b\u0000ack\ufffe"><rect width="100" height="100" fill="url(#sky\u0001)"/></g></svg>`;
    market.model.injectFault({ answer });
    const { status, body } = await generate(market, seeded, { prompt: "A sky" });
    expect([status, asks(market).length]).toEqual([200, before + 1]);
    expect(body.svg).toContain("linearGradient");
    expect(body.svg).not.toMatch(/(?!\n)\p{Cc}|\ufffe/u);
  });

  test.for<[string, Parameters<TestMarketplace["model"]["injectFault"]>[0]]>([
    ["two answers of no use", { answer: "I would rather not.", times: 2 }],
    ["two that are cut off", { truncate: true, times: 2 }],
    ["a refusal", { refuse: true }],
    ["a failure", { status: 500 }],
  ])("answers %s with 502, and charges nothing", async ([_name, fault], { market, seeded }) => {
    const before = await creditsOf(market, seeded);
    market.model.injectFault(fault);
    const answer = await generate(market, seeded, { prompt: "A wall" });
    market.model.clearFaults();
    expect(answer.status).toBe(502);
    expect(await creditsOf(market, seeded)).toBe(before);
  });
});
