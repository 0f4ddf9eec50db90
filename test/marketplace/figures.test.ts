import { describe, expect } from "vitest";
import { countRuns } from "../../marketplace/agents/count-runs.ts";
import { readDailyFigures } from "../../marketplace/agents/daily-figures.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { moveAgent } from "../../marketplace/agents/state.ts";
import { createKey } from "../../marketplace/api-keys/create.ts";
import { credits } from "../../marketplace/credits/amount.ts";
import { grant } from "../../marketplace/credits/ledger.ts";
import { connect } from "../../shared/postgres.ts";
import { withAccount } from "../support/browser.ts";
import { elapse } from "../support/elapse.ts";
import { marketTest } from "../support/fixtures.ts";
import { call, echoAgent, type Market, run, type TestMarketplace, until } from "../support/marketplace.ts";
import { startProcess } from "../support/marketplace-process.ts";
import { isPooled, statements } from "../support/statements.ts";

const test = marketTest({}, { balance: 1_000 });
/** What is counted by the day is not begun in the last minute of one (UTC). */
test.beforeEach(async () => {
  const leftMs = 86_400_000 - (Date.now() % 86_400_000);
  if (leftMs < 60_000) await elapse(leftMs, "the day ends");
});

const figuresOf = async (market: TestMarketplace, seeded: Market, agent: string) =>
  (await call(market.url, `/api/v1/agents/${agent}`, { key: seeded.key })).body.figures;

const none = { runs_30d: 0, success_rate: null, median_ms: null, p95_ms: null, last_success_at: null };

/** An agent without runs, of the seeded creator. */
async function newAgent(market: TestMarketplace, seeded: Market, slug: string) {
  return publishAgent(market.context, seeded.creator, slug, { ...echoAgent, name: slug, price_credits: 1 });
}

let rowsAdded = 0;
/** SQL for runs that have ended, without running anything: how they are counted is asked here. */
function addRuns(agentId: string, { state = "succeeded", tookMs = 1_000, count = 1 } = {}) {
  rowsAdded += 1;
  return {
    text: `insert into runs (id, rail, agent_id, agent_version, price_credits, state, output, created_at, finished_at)
           select 'run_' || $1 || '_' || n, 'per_call', $2, 1, 0, $3, '{}', now() - $4 * interval '1 ms', now()
           from generate_series(1, $5) n`,
    values: [`made${rowsAdded}`, agentId, state, tookMs, count],
  };
}

const countedOf = async (market: TestMarketplace, agentId: string): Promise<number> => {
  const { rows } = await market.context.db.query(
    "select coalesce(sum(runs), 0)::integer as runs from agent_run_counts where agent_id = $1",
    [agentId],
  );
  return rows[0].runs;
};

describe("an agent's figures", () => {
  test("are those of runs by its buyers, on credits and without an account, and never of its creator's own", async ({
    market,
    seeded,
  }) => {
    const own = `${seeded.creator.handle}/echo`;
    expect(await figuresOf(market, seeded, own)).toEqual(none);
    const startedAt = Date.now();
    const { context, url } = market;
    await grant(context.db, { accountId: seeded.creator.id, credits: credits(100n) });
    const creatorKey = await createKey(context.db, { accountId: seeded.creator.id, name: "own" });
    expect((await run(market, creatorKey.token, own)).body.success).toBe(true);
    for (let n = 0; n < 3; n += 1) expect((await run(market, seeded.key, own)).body.success).toBe(true);
    await publishAgent(context, seeded.creator, "free", { ...echoAgent, name: "Free echo", price_credits: 0 });
    const free = `${seeded.creator.handle}/free`;
    expect((await call(url, `/api/agent/${free}`, { body: { text: "hi" } })).status).toBe(200);
    await until(
      async () =>
        (await figuresOf(market, seeded, own)).runs_30d >= 3 && (await figuresOf(market, seeded, free)).runs_30d >= 1,
    );
    const figures = await figuresOf(market, seeded, own);
    expect(figures).toMatchObject({ runs_30d: 3, success_rate: 1 });
    expect(figures.median_ms).toBeGreaterThan(0);
    expect(figures.p95_ms).toBeGreaterThanOrEqual(figures.median_ms);
    expect(Date.parse(figures.last_success_at)).toBeGreaterThanOrEqual(startedAt);
    const { agents } = (await call(url, "/api/v1/agents?sort=most_run", { key: seeded.key })).body;
    expect(agents.map(({ agent }: { agent: string }) => agent)).toEqual([own, free]);
    expect(agents[0].figures).toEqual(figures);
  });

  test("say the success rate, the median and what nineteen of twenty stay under, within 5 %", async ({
    market,
    seeded,
  }) => {
    const { agentId, address } = await newAgent(market, seeded, "timed");
    const { db } = market.context;
    for (let n = 1; n <= 100; n += 1) await db.query(addRuns(agentId, { tookMs: n * 100 }));
    for (let n = 0; n < 3; n += 1) await db.query(addRuns(agentId, { state: "failed" }));
    await db.query(addRuns(agentId, { state: "lost" }));
    await db.query(addRuns(agentId, { tookMs: 3_600_000 }));
    await until(async () => (await figuresOf(market, seeded, address)).runs_30d === 105);
    const { success_rate, median_ms, p95_ms } = await figuresOf(market, seeded, address);
    expect(success_rate).toBe(0.9619);
    expect(Math.abs(median_ms / 5_000 - 1)).toBeLessThan(0.05);
    expect(Math.abs(p95_ms / 9_500 - 1)).toBeLessThan(0.05);
    const days = await readDailyFigures(db, agentId);
    expect(days.map(({ succeeded, failed }) => succeeded + failed)).toEqual([...Array(29).fill(0), 105]);
    expect(days.at(-1)).toMatchObject({ succeeded: 101, failed: 4, medianMs: median_ms });
    expect(days[0]).toMatchObject({ medianMs: null });
  });

  test("forget what is thirty days old, but for when the agent last succeeded", async ({ market, seeded }) => {
    const { agentId, address } = await newAgent(market, seeded, "old");
    const { db } = market.context;
    await db.query(addRuns(agentId, { count: 4 }));
    await until(async () => (await figuresOf(market, seeded, address)).runs_30d === 4);
    const { last_success_at } = await figuresOf(market, seeded, address);
    await db.query("update agent_run_counts set day = day - 30 where agent_id = $1", [agentId]);
    await countRuns(db);
    await until(async () => (await figuresOf(market, seeded, address)).runs_30d === 0);
    expect(await figuresOf(market, seeded, address)).toEqual({ ...none, last_success_at });
    expect(await countedOf(market, agentId)).toBe(0);
  });

  test("are still there, and still rank, when an agent is unpublished and published again", async ({
    market,
    seeded,
  }) => {
    const { agentId, address } = await newAgent(market, seeded, "back");
    await market.context.db.query(addRuns(agentId, { count: 500 }));
    const first = async () =>
      (await call(market.url, "/api/v1/agents?sort=most_run&limit=1", { key: seeded.key })).body.agents[0].agent;
    await until(async () => (await figuresOf(market, seeded, address)).runs_30d === 500);
    expect(await first()).toBe(address);
    await moveAgent(market.context.db, address, "unpublish");
    expect(await first()).not.toBe(address);
    await newAgent(market, seeded, "back");
    expect(await first()).toBe(address);
  });
});

describe("what a creator sees of an agent", () => {
  async function creatorWithAgent(market: TestMarketplace) {
    const { browser, handle } = await withAccount(market);
    const { db } = market.context;
    const { rows } = await db.query("select id, handle from accounts where handle = $1", [handle]);
    const agent = await publishAgent(market.context, rows[0], "sold", { ...echoAgent, price_credits: 5 });
    const figures = async (query = "") => (await browser.get(`/api/account/agents/sold/figures${query}`)).body;
    return { browser, id: rows[0].id, agent, figures };
  }

  const payCall = (market: TestMarketplace, agentId: string, key: string, transaction: string | null) =>
    market.context.db.query(
      `insert into paid_calls (network, payment_key, product, call_digest, requirements, run_id, output, transaction_id, result_at)
       values ('eip155:84532', $1, $2, '', '{"asset": "0x0", "amount": "50000"}', 'run_paid' || $1, '{}', $3, now())`,
      [key, agentId, transaction],
    );

  test("is revenue by day in credits and in what wallets settled, counted once, and never its own runs", async ({
    market,
    seeded,
  }) => {
    const { id, agent, figures } = await creatorWithAgent(market);
    const { context } = market;
    await grant(context.db, { accountId: id, credits: credits(100n) });
    const own = await createKey(context.db, { accountId: id, name: "own" });
    for (const key of [own.token, seeded.key, seeded.key]) {
      expect((await run(market, key, agent.address)).body.success).toBe(true);
    }
    await payCall(market, agent.agentId, "settled", "0x1");
    await payCall(market, agent.agentId, "unsettled", null);
    await until(async () => (await figures()).runs === 4);
    const today = new Date().toISOString().slice(0, 10);
    const sums = { runs: 4, failed: 0, credits: 10, usdc: "0.050000" };
    const seen = await figures("?days=7");
    expect(seen).toMatchObject({ ...sums, success_rate: 1, runs_before: 0, failures: [] });
    expect(seen.days).toHaveLength(7);
    expect(seen.days.at(-1)).toEqual({ day: today, ...sums });
    expect(seen.payers).toEqual(
      expect.arrayContaining([
        { payer: "key", runs: 2 },
        { payer: "eip155:84532", runs: 2 },
      ]),
    );
    await context.db.query("update paid_calls set transaction_id = '0x2' where payment_key = 'unsettled'");
    await until(async () => (await figures()).usdc === "0.100000");
    await countRuns(context.db);
    expect(await figures("?days=1")).toMatchObject({ ...sums, usdc: "0.100000" });
  });

  test("is counted once where a result was let go unpaid, made again and paid for", async ({ market }) => {
    const { id, agent, figures } = await creatorWithAgent(market);
    const { db, paidCalls } = market.context;
    await payCall(market, agent.agentId, "made-twice", null);
    await db.query(
      "insert into files (name, account_id, run_id, bytes) select repeat('a', 64) || '.png', $1, run_id, 1 from paid_calls where payment_key = 'made-twice'",
      [id],
    );
    await until(async () => (await figures()).runs === 1);
    const output = JSON.stringify({ kind: "image", images: [] });
    const made = (transaction: string | null) =>
      db.query(
        "update paid_calls set output = $1, result_at = now(), transaction_id = $2 where payment_key = 'made-twice'",
        [output, transaction],
      );
    await made(null);
    expect(await paidCalls.dropFiles({ network: "eip155:84532", key: "made-twice" })).toBe("run_paidmade-twice");
    await made("0x3");
    await until(async () => {
      await countRuns(db);
      return (await figures()).usdc !== "0.000000";
    });
    await until(async () => (await figures()).runs > 1);
    await countRuns(db);
    expect(await figures()).toMatchObject({ usdc: "0.050000" });
  });

  test("is why it failed, by cause, with the newest as an example and no word of its input", async ({
    market,
    seeded,
  }) => {
    const { agent, figures } = await creatorWithAgent(market);
    const { db } = market.context;
    for (let n = 0; n < 3; n += 1) await db.query(addRuns(agent.agentId, { state: "failed" }));
    await db.query("update runs set error = 'The model refused.' where agent_id = $1", [agent.agentId]);
    market.model.injectFault({ status: 500 });
    const { run_id, error } = (await run(market, seeded.key, agent.address, { text: "PRIVATE-MARK" })).body;
    market.model.clearFaults();
    const { failures } = await figures();
    expect(failures).toMatchObject([
      { cause: "The model refused.", runs: 3, shared: null },
      { cause: error, runs: 1, example: run_id, shared: null },
    ]);
    expect(JSON.stringify(failures)).not.toContain("PRIVATE-MARK");
  });

  test("is for that creator alone, and asked for in bounds", async ({ market }) => {
    const { browser } = await creatorWithAgent(market);
    const { browser: other } = await withAccount(market);
    expect((await other.get("/api/account/agents/sold/figures")).status).toBe(404);
    expect(await browser.get("/api/account/agents/sold/figures?days=91")).toMatchObject({
      status: 400,
      body: { field: "days" },
    });
  });
});

describe("every run is counted once", () => {
  test("although its transaction ends long after others that began later", async ({ market, seeded }) => {
    const { agentId, address } = await newAgent(market, seeded, "late");
    const { db } = market.context;
    const late = await db.connect();
    let runs = 1;
    try {
      await late.query("begin");
      await late.query(addRuns(agentId));
      await until(async () => {
        await db.query(addRuns(agentId));
        runs += 1;
        await countRuns(db);
        // By the open transaction, which may not be idle for long. It ends what is counted, though it began long ago.
        const { rows } = await late.query("select counted_until >= now() as come from run_count_progress");
        return rows[0].come;
      });
      expect(await countedOf(market, agentId)).toBeLessThan(runs);
      await late.query("commit");
    } finally {
      late.release();
    }
    await until(async () => (await figuresOf(market, seeded, address)).runs_30d === runs);
    await countRuns(db);
    expect(await countedOf(market, agentId)).toBe(runs);
  });

  // The copies are killed by their names in the database, which are any caller's behind a pooler.
  test.skipIf(isPooled)(
    "over many copies that count at once, and copies that are killed while they do",
    async ({ market, seeded }) => {
      const { agentId, address } = await newAgent(market, seeded, "contested");
      const { db } = market.context;
      const pools = Array.from({ length: 4 }, () =>
        connect(market.databaseUrl, { poolMax: 2, statements, applicationName: "counting copy" }),
      );
      let runs = 0;
      let over = false;
      const adding = (async () => {
        while (!over) {
          runs += 20;
          await db.query(addRuns(agentId, { count: 20, state: runs % 3 ? "succeeded" : "failed" }));
          await elapse(50, "runs end now and then");
        }
      })();
      // Now and then two begin at the same time; without a pause they would do nothing else than keep the machine busy.
      const counting = pools.map(async (pool) => {
        for (; !over; await elapse(100 * Math.random(), "copies count now and then")) {
          await countRuns(pool).catch(() => {});
        }
      });
      const cutting = (async () => {
        while (!over) {
          await elapse(150, "connections are cut now and then");
          await db.query(
            `select pg_terminate_backend(pid) from pg_stat_activity
           where application_name = 'counting copy' and datname = current_database() order by random() limit 1`,
          );
        }
      })();
      for (let n = 0; n < 2; n += 1) {
        const { child } = await startProcess(market.environment);
        await elapse(2_000, "a copy is killed in the middle of its work");
        child.kill("SIGKILL");
      }
      over = true;
      await Promise.all([adding, ...counting, cutting]);
      for (const pool of pools) await pool.end();
      await until(async () => (await countedOf(market, agentId)) >= runs);
      await countRuns(db);
      expect(await countedOf(market, agentId)).toBe(runs);
      expect((await figuresOf(market, seeded, address)).runs_30d).toBe(runs);
    },
  );
});
