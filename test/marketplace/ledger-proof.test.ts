import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "vitest";
import { findBroken, proveLedger } from "../../marketplace/credits/prove.ts";
import { marketTest } from "../support/fixtures.ts";
import { run, seedMarket } from "../support/marketplace.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const test = marketTest({ env: { PLATFORM_FEE_BASIS_POINTS: "1000", RUN_LEASE_MS: "600000" } });
test.beforeAll(async ({ market }) => {
  const seeded = await seedMarket(market.context, { price: 20, balance: 100 });
  await run(market, seeded.key, seeded.agent.address);
  market.model.injectFault({ status: 500 });
  await run(market, seeded.key, seeded.agent.address);
  market.model.clearFaults();
});

test("a sound ledger is proved, with its totals", async ({ market }) => {
  expect(await proveLedger(market.context.db)).toMatchObject({
    postings: 6n,
    issued: 100n,
    spendable: 80n,
    held: 0n,
    earned: 18n,
    fees: 2n,
  });
});

test.for([
  ["a balance raised", "update balances set spendable = spendable + 1 where spendable = 80", "a balance is the sum"],
  [
    "a posting lost",
    "delete from postings where kind = 'hold'",
    "no ledger account but the platform's own source is below zero",
  ],
  ["a posting changed", "update postings set amount = amount + 1 where kind = 'capture'", "a run ends once"],
  [
    "a hold of another account",
    "update postings set from_purse = 'spendable:acc_none' where kind = 'hold'",
    "ledger accounts belong to accounts",
  ],
  [
    "a refund to another account",
    `update postings set to_purse = (select 'spendable:' || account_id from balances where spendable = 0 limit 1)
     where kind = 'release'`,
    "a run moves its price",
  ],
  [
    "a run said to be running",
    "update runs set state = 'running', finished_at = null, lease_until = 'infinity' where state = 'succeeded'",
    "what is held is the price",
  ],
  [
    "a run that worked said to have failed",
    "update runs set state = 'failed' where state = 'succeeded'",
    "a run ends once",
  ],
  [
    "a wrong total",
    "insert into purse_totals select from_purse, 5, now() from postings where kind = 'capture'",
    "a folded total is the sum",
  ],
  [
    "a wrong mark",
    "insert into statement_marks select account_id, now(), 'hold', 1, -5, 0 from balances where spendable = 80",
    "the newest mark of a statement is the sum",
  ],
  [
    "credits set aside that nobody took",
    "insert into model_days (agent_id, day, account_id, taken) select id, current_date, account_id, 5 from agents",
    "what is set aside for an agent's models",
  ],
  [
    "a claim on more than is set aside",
    "insert into model_claims (run_id, agent_id, day, credits) select 'run_x', id, current_date, 5 from agents limit 1",
    "what models cost in a day",
  ],
  ["a debt nobody lent", "insert into model_debts select id, 5 from accounts", "what an account owes for models"],
  [
    "a wrong day of a key",
    "insert into key_days select id, (now() at time zone 'utc')::date, 7, 9 from api_keys",
    "what a capped key has spent today",
  ],
] as const)("%s is found, and its row named", async ([_name, damage, promise], { market }) => {
  const { db } = market.context;
  const damaged = await db.connect();
  try {
    // Undone at the end: what is broken is looked for inside the transaction that broke it.
    await damaged.query("begin");
    await damaged.query("alter table postings disable trigger postings_append_only");
    const { rowCount } = await damaged.query(damage);
    expect(rowCount).toBeGreaterThan(0);
    expect(await findBroken(damaged)).toContainEqual(expect.stringMatching(new RegExp(`^${promise}.*: \\{".+\\}$`)));
  } finally {
    await damaged.query("rollback");
    damaged.release();
  }
});

test("npm run ledger:prove says so and exits 0, or names the row and exits 1", async ({ market }) => {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, MARKETPLACE_DATABASE_URL: market.databaseUrl };
  const prove = () => promisify(execFile)("npm", ["run", "--silent", "ledger:prove"], { cwd: root, env });
  expect((await prove()).stdout).toContain("postings: 6");
  await market.context.db.query("update balances set spendable = spendable + 1 where spendable = 80");
  const failure = await prove().catch((error) => error);
  await market.context.db.query("update balances set spendable = spendable - 1 where spendable = 81");
  expect(failure).toMatchObject({ code: 1, stderr: expect.stringContaining('"balance":81,"posted":80') });
});
