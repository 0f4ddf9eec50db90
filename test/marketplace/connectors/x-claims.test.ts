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
    env: { X_API_BASE_URL: x.url, X_API_BEARER_TOKEN: "X-TOKEN", X_CLAIMS_PER_CREATOR_MINUTE: "3" },
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
  const claimOf = (id: number, at: TestMarketplace = market) =>
    run(at, one.key, one.agent.address, { post: `${1_000 + id}` });
  expect((await run(market, one.key, one.agent.address, { post: "no post" })).status).toBe(400);
  for (const claim of [await claimOf(1), await claimOf(2, copy), await claimOf(3)]) expect(claim.status).toBe(422);
  for (const at of [market, copy]) {
    const { status, headers, body } = await claimOf(4, at);
    expect({ status, body }).toMatchObject({ status: 429, body: { charged: false } });
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  }
  expect(x.requests()).toBe(3);
  expect((await run(market, other.key, other.agent.address, { post: "1005" })).status).toBe(422);
});
