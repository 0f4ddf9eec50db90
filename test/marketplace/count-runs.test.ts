import { expect, test } from "vitest";
import { countRuns } from "../../marketplace/agents/count-runs.ts";
import { connect, type Database } from "../../shared/postgres.ts";
import { appTest } from "../support/fixtures.ts";
import { seedMarket } from "../support/marketplace.ts";
import { freshDatabase } from "../support/postgres.ts";
import { statements } from "../support/statements.ts";

test("counting runs takes a transaction for ten minutes of the past, and none for the moments that pass meanwhile", async () => {
  const db = connect(await freshDatabase("marketplace"), { poolMax: 1, statements, applicationName: "test" });
  try {
    await db.query("update run_count_progress set counted_until = now() - interval '65 minutes'");
    // One more takes out the days that are too long ago.
    expect(await transactionsOf(db, countRuns)).toBe(7 + 1);
    expect(await transactionsOf(db, countRuns)).toBe(1 + 1);
  } finally {
    await db.end();
  }
});

const withRuns = appTest();
withRuns(
  "a run that ended before it began, by a clock that was set back, stops no runs from being counted",
  async ({ context }) => {
    const { db } = context;
    const { buyer, agent } = await seedMarket(context);
    await db.query(
      `insert into runs (id, rail, account_id, agent_id, agent_version, price_credits, state, created_at, finished_at)
     select 'run_' || lpad(n::text, 26, '0'), 'credits', $1, $2, 1, 0, 'failed',
       now() - interval '9 minutes' + n * interval '1 minute', now() - interval '8 minutes'
     from generate_series(0, 2) n`,
      [buyer.id, agent.agentId],
    );
    await db.query("update run_count_progress set counted_until = now() - interval '10 minutes'");
    await countRuns(db);
    const { rows } = await db.query(
      "select sum(runs)::bigint as runs, sum(ms)::bigint as ms from account_days where account_id = $1",
      [buyer.id],
    );
    expect(rows).toEqual([{ runs: 3n, ms: 60_000n }]);
  },
);

async function transactionsOf(db: Database, work: (db: Database) => Promise<void>): Promise<number> {
  let begun = 0;
  // Single statements take their connection by a callback.
  const connectCounted = (...callback: []) => {
    if ((callback as unknown[]).length === 0) begun += 1;
    return db.connect(...callback);
  };
  await work(Object.create(db, { connect: { value: connectCounted } }));
  return begun;
}
