import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  call,
  proveLedger,
  run,
  seedMarket,
  spendable,
  startMarketplace,
  type TestMarketplace,
} from "../support/marketplace.ts";

let market: TestMarketplace;
beforeAll(async () => {
  market = await startMarketplace();
});
afterAll(() => market.stop());

describe("POST /api/v1/run", () => {
  test("runs an agent, charges its price and pays the creator", async () => {
    const { key, agent, buyer, creator } = await seedMarket(market.context, { price: 5, balance: 100 });
    const answer = await run(market, key, agent.address.toUpperCase());
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      success: true,
      run_id: expect.stringMatching(/^run_[0-9a-z]{26}$/),
      output: { kind: "text", text: "echo: RECIPE-MARK repeat: hello" },
      credits_used: 5,
      credits_remaining: 95,
      receipt: null,
    });
    expect(await spendable(market.context, buyer)).toBe(95);
    const [earned] = await Promise.all([market.context.lookups.balance(creator.id)]);
    expect(earned.earned).toBe(5n);
    await proveLedger(market.context);
  });

  test("forty runs at once on a balance for three run exactly three times", async () => {
    const { key, agent, buyer } = await seedMarket(market.context, { price: 10, balance: 35 });
    const answers = await Promise.all(Array.from({ length: 40 }, () => run(market, key, agent.address)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(3).fill(200), ...Array(37).fill(402)]);
    expect(answers.find(({ status }) => status === 402)?.body).toMatchObject({
      credits_required: 10,
      error: expect.any(String),
    });
    expect(await spendable(market.context, buyer)).toBe(5);
    await proveLedger(market.context);
  });

  test("an agent that fails answers 200 with success false, and nothing is charged", async () => {
    const { key, agent, buyer } = await seedMarket(market.context, { price: 5, balance: 5 });
    market.model.answer = async () => ({ status: 500, body: { error: { message: "RECIPE-MARK leaked" } } });
    const answer = await run(market, key, agent.address);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ success: false, credits_used: 0, credits_remaining: 5, receipt: null });
    expect(answer.body).not.toHaveProperty("output");
    expect(await spendable(market.context, buyer)).toBe(5);
    await proveLedger(market.context);
  });

  test("a missing key is 401 with WWW-Authenticate", async () => {
    const answer = await call(market.url, "/api/v1/run", { body: "not json" });
    expect(answer.status).toBe(401);
    expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer/);
  });
});
