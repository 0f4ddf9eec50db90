import { describe, expect } from "vitest";
import { accountByHandle } from "../../marketplace/accounts/create.ts";
import { moveAccount } from "../../marketplace/accounts/state.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { runCommand } from "../../marketplace/operator/command-line.ts";
import { withAccount } from "../support/browser.ts";
import { marketTest } from "../support/fixtures.ts";
import {
  echoAgent,
  proveLedger,
  run,
  seedMarket,
  spendable,
  startMarketplace,
  type TestMarketplace,
  until,
} from "../support/marketplace.ts";

const test = marketTest();
test.afterEach(({ market }) => proveLedger(market.context));

const operator = (market: TestMarketplace, ...args: string[]) => runCommand(args, market.environment);

test("credits that are left are given up only by saying so", async ({ market }) => {
  const { browser, handle } = await withAccount(market);
  await operator(market, "credits", "grant", "--account", handle, "--credits", "5");
  const refused = await browser.post("/api/account/close", { handle });
  expect(refused).toMatchObject({ status: 409, body: { error: expect.stringContaining("5 credits") } });
  expect((await browser.post("/api/account/close", { handle, give_up_credits: true })).body.state).toBe("closed");
});

describe("closing", () => {
  /** An account, signed in, with one agent. */
  const withAgent = async (market: TestMarketplace, agent: object = {}) => {
    const { browser, handle } = await withAccount(market);
    const account = await accountByHandle(market.context.db, handle);
    const published = await publishAgent(market.context, account, "mine", { ...echoAgent, ...agent });
    const close = (givesUp: boolean) => browser.post("/api/account/close", { handle, give_up_credits: givesUp });
    const closing = async () => (await browser.get("/api/account/closing")).body;
    return { browser, handle, account, agent: published, close, closing };
  };

  test("counts credits that are set aside for models of its agents among those that are left", async ({
    market,
    seeded,
  }) => {
    const priced = await startMarketplace({
      databaseUrl: market.databaseUrl,
      model: market.model,
      env: { LLM_MODELS: "small=1:500:2000" },
    });
    try {
      const settings = { prompt: "{{text}}", model: "small" };
      const { browser, handle, account, agent, close, closing } = await withAgent(priced, {
        price_credits: 0,
        settings,
      });
      await operator(market, "credits", "grant", "--account", handle, "--credits", "100");
      expect((await run(priced, seeded.key, agent.address)).body.success).toBe(true);
      // What is not set aside is spent.
      const price = await spendable(market.context, account);
      const dear = await seedMarket(market.context, { price });
      const { token } = (await browser.post("/api/account/keys", { name: "k" })).body;
      expect((await run(market, token, dear.agent.address)).body.success).toBe(true);
      const { credits } = await closing();
      // The creator bears one credit for the model.
      expect([await spendable(market.context, account), credits]).toEqual([0, 99 - price]);
      await market.context.db.query(
        "select settle_model_day(agent_id, day, false) from model_days where account_id = $1",
        [account.id],
      );
      expect([await spendable(market.context, account), (await closing()).credits]).toEqual([credits, credits]);
      expect(await close(false)).toMatchObject({
        status: 409,
        body: { error: expect.stringContaining(`There are ${credits} credits left`) },
      });
      expect((await close(true)).body.state).toBe("closed");
    } finally {
      await priced.stop();
    }
  });

  test("waits for runs of its agents that others have under way, whose price it earns", async ({ market, seeded }) => {
    const { agent, account, close, closing } = await withAgent(market);
    market.model.injectFault({ delayMs: 600_000 });
    const running = run(market, seeded.key, agent.address);
    await until(async () => (await closing()).runs_under_way === 1);
    expect(await close(true)).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining("runs under way") },
    });
    await expect(moveAccount(market.context.db, account, "close")).rejects.toMatchObject({ code: "conflict" });
    market.model.answerHeld();
    expect((await running).body.success).toBe(true);
    expect((await close(true)).body.state).toBe("closed");
  });

  test("waits for buyers whose results are kept, for a day where the payment is not settled", async ({ market }) => {
    const { db } = market.context;
    const { agent, account, close, closing } = await withAgent(market);
    const keep = (key: string, transaction: string | null) =>
      db.query(
        `insert into paid_calls (network, payment_key, product, call_digest, requirements, run_id, transaction_id, output, result_at)
         values ('eip155:8453', $1, $2, '', '{}', $1, $3, '{}', now())`,
        [key, agent.agentId, transaction],
      );
    await keep(`${account.id}-settled`, "0x1");
    await keep(`${account.id}-unsettled`, null);
    expect([(await closing()).calls_owed, (await close(true)).status]).toEqual([2, 409]);
    await db.query("update paid_calls set result_at = now() - interval '25 hours' where product = $1", [agent.agentId]);
    expect([(await closing()).calls_owed, (await close(true)).status]).toEqual([1, 409]);
    await db.query("update paid_calls set delivered_at = now() where product = $1 and transaction_id is not null", [
      agent.agentId,
    ]);
    expect((await close(true)).body.state).toBe("closed");
  });
});
