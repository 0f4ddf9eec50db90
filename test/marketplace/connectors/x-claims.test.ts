import { expect } from "vitest";
import { startMockX } from "../../../infra/mock-x/server.ts";
import { marketTest } from "../../support/fixtures.ts";
import { run, seedMarket, type TestMarketplace } from "../../support/marketplace.ts";
import { part, perFile } from "../../support/part.ts";

const test = marketTest()
  .extend(
    "x",
    perFile,
    part(() => startMockX({ token: "X-TOKEN" })),
  )
  .extend("options", perFile, ({ x }) => ({
    env: { X_API_BASE_URL: x.url, X_API_BEARER_TOKEN: "X-TOKEN", X_CLAIMS_PER_CREATOR_MINUTE: "18" },
  }));

const rewards = (market: TestMarketplace) =>
  seedMarket(market.context, {
    price: 0,
    agent: {
      connector: "x-reward-credits",
      fields: [{ name: "post", type: "string", required: true }],
      settings: { amount: 1, per_day_max: 5, budget: 5, rule: {} },
    },
  });

test("claims of one creator's agents use up no more of what the operator may read on X than their share", async ({
  x,
  market,
  copy,
}) => {
  const [one, other] = [await rewards(market), await rewards(market)];
  const claimOf = (key: string, id: number, at: TestMarketplace = market) =>
    run(at, key, one.agent.address, { post: `${1_000 + id}` });
  const read = x.requests();
  expect((await run(market, one.key, one.agent.address, { post: "no post" })).status).toBe(400);
  const buyers = await Promise.all(Array.from({ length: 7 }, () => seedMarket(market.context)));
  for (const { key } of buyers.slice(0, 6)) {
    for (const claim of [await claimOf(key, 1), await claimOf(key, 2, copy), await claimOf(key, 3)])
      expect(claim.status).toBe(422);
  }
  for (const at of [market, copy]) {
    const { status, headers, body } = await claimOf(buyers[6]!.key, 4, at);
    expect({ status, body }).toMatchObject({ status: 429, body: { charged: false } });
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  }
  expect(x.requests() - read).toBe(18);
  expect((await run(market, other.key, other.agent.address, { post: "1005" })).status).toBe(422);
});

test("claims of one buyer use up no more of a creator's than their share", async ({ x, market, copy }) => {
  const one = await rewards(market);
  const other = await seedMarket(market.context);
  const read = x.requests();
  const claimOf = (key: string, id: number, at: TestMarketplace = market) =>
    run(at, key, one.agent.address, { post: `${2_000 + id}` });
  for (const claim of [await claimOf(one.key, 1), await claimOf(one.key, 2, copy), await claimOf(one.key, 3)])
    expect(claim.status).toBe(422);
  for (const at of [market, copy]) {
    const { status, body } = await claimOf(one.key, 4, at);
    expect({ status, body }).toMatchObject({ status: 429, body: { charged: false } });
    expect(body.error).toContain("one buyer");
  }
  expect((await claimOf(other.key, 5)).status).toBe(422);
  expect(x.requests() - read).toBe(4);
});
