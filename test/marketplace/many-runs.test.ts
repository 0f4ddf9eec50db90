import { expect } from "vitest";
import { accountByHandle } from "../../marketplace/accounts/create.ts";
import { changeKey } from "../../marketplace/api-keys/change.ts";
import { connect } from "../../shared/postgres.ts";
import { withAccount } from "../support/browser.ts";
import { marketTest } from "../support/fixtures.ts";
import { statements } from "../support/statements.ts";

const test = marketTest();
const rarely = 20;
const often = 20_000;

const runsOf = `
  insert into runs (id, rail, account_id, agent_id, agent_version, price_credits, state, key_id, created_at, finished_at)
  select 'run_' || lpad(n::text, 26, '0'), 'credits', $1, $2, 1, 3, 'succeeded', case when n <= $5 then $4 else $3 end, now(), now()
  from generate_series(1, $6::integer) n`;

test("a changed cap counts what the key spent, and reads no runs of the account's other keys", async ({
  market,
  seeded,
}) => {
  const { browser, handle } = await withAccount(market);
  const { id: accountId } = await accountByHandle(market.context.db, handle);
  const newKey = async (name: string) => (await browser.post("/api/account/keys", { name })).body.id as string;
  const [busy, quiet] = [await newKey("busy"), await newKey("quiet")];
  // Counts of one connection are written when it says so.
  const db = connect(market.databaseUrl, { poolMax: 1, applicationName: "test", statements });
  try {
    await db.query(runsOf, [accountId, seeded.agent.agentId, busy, quiet, rarely, often]);
    await db.query("analyze runs");
    const before = await runsRead(db);
    await changeKey(db, accountId, quiet, { maxCreditsPerDay: 100 });
    expect((await runsRead(db)) - before).toBeLessThan(10 * rarely);
  } finally {
    await db.end();
  }
  const { keys } = (await browser.get("/api/account/keys")).body;
  expect(keys).toContainEqual(expect.objectContaining({ id: quiet, credits_today: 3 * rarely }));
});

async function runsRead(db: ReturnType<typeof connect>): Promise<number> {
  await db.query("select pg_stat_force_next_flush()");
  const { rows } = await db.query<{ read: number }>(
    "select (seq_tup_read + idx_tup_fetch)::integer as read from pg_stat_user_tables where relname = 'runs'",
  );
  return rows[0]!.read;
}
