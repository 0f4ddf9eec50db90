import { expect, test } from "vitest";
import { migrations as facilitator } from "../../facilitator/migrations/all.ts";
import { migrations as marketplace } from "../../marketplace/migrations/all.ts";
import { type Migration, migrate, missingMigrations, prepareSchema } from "../../shared/migrate.ts";
import { hazardsOf } from "../support/migration-hazards.ts";
import { databaseAt, freshDatabase } from "../support/postgres.ts";

/** Older than this rule: no database in use has still to run them. */
const lastExempt = { facilitator: "0021-network-fees", marketplace: "0064-creator-about" };

/** Tables that stay small however much is paid and run: they have rows of people and of what these publish, or a few of our own. */
const small: ReadonlySet<string> = new Set([
  ...["quote_secret", "run_count_progress", "unlinked_records", "copies", "operators"],
  ...[
    "accounts",
    "handles",
    "tool_names",
    "api_keys",
    "payout_wallets",
    "agents",
    "agent_versions",
    "agent_drafts",
    "listings",
  ],
]);

/** What is read all the same, by an index that holds few rows of a large table. */
const readByIndex: Readonly<Record<string, readonly string[]>> = {
  // By payments_unfinished: no more than is under way.
  "0030-unfinished-payments": ["payments is read through"],
};

const services = { facilitator, marketplace };

test.each(["facilitator", "marketplace"] as const)(
  "no migration of the %s reads, writes or locks a table that can be large: it is run while calls are made",
  async (service) => {
    const all = services[service];
    const exempt = all.findIndex(({ name }) => name === lastExempt[service]) + 1;
    expect(exempt).toBeGreaterThan(0);
    const url = await databaseAt(all.slice(0, exempt));
    for (const [at, migration] of all.entries()) {
      if (at < exempt) continue;
      const { name } = migration;
      expect({ [name]: await hazardsOf(url, migration, small) }).toEqual({ [name]: readByIndex[name] ?? [] });
      await migrate(url, all.slice(0, at + 1));
    }
  },
);

const wrong: Readonly<Record<string, string>> = {
  "an index that keeps writers out": "create index by_amount on payments (amount_atomic)",
  "a column whose default is different for each row":
    "alter table payments add column token uuid default gen_random_uuid()",
  "another type": "alter table payments alter column nonce type numeric",
  "a rule that every row is held against": "alter table payments add constraint one check (amount_atomic < 10)",
  "a column that must not be empty": "alter table payments alter column fee_payer set not null",
  "rows that are filled in": "update payments set retryable = false",
  "a few rows that are found by an index": "update payments set retryable = false where transaction_id = 'x'",
  "a table that the version before reads": "drop table payer_failures",
  "an index that queries need": "drop index payments_transaction",
  "a reference from a table that is there": "alter table payments add foreign key (id) references transactions",
};

test.each(Object.keys(wrong))("%s is refused", async (what) => {
  const migration = { name: "wrong", sql: wrong[what]! };
  expect(await hazardsOf(await emptyFacilitator(), migration, small)).not.toEqual([]);
});

const right: Readonly<Record<string, Migration>> = {
  "a column that may be empty": { name: "a", sql: "alter table payments add column note text" },
  "a column whose default is one value": { name: "a", sql: "alter table payments add column n int not null default 3" },
  "a rule for new rows": {
    name: "a",
    sql: "alter table payments add constraint one check (amount_atomic < 10) not valid",
  },
  "a table of its own with its index": {
    name: "a",
    sql: "create table notes (id text primary key); create index x on notes (id)",
  },
  "an index that is made while rows are written": {
    name: "a",
    online: ["drop index concurrently if exists x", "create index concurrently if not exists x on payments (payer)"],
  },
};

test.each(Object.keys(right))("%s is not", async (what) => {
  expect(await hazardsOf(await emptyFacilitator(), right[what]!, small)).toEqual([]);
});

test("a late step waits for the run after its version's, with nobody kept from starting, and comes at once to a new database", async () => {
  const first: Migration = { name: "1", sql: "create table notes (id text primary key)" };
  const index: Migration = { name: "2", online: ["create index concurrently if not exists x on notes (id)"] };
  const second: Migration = { name: "3", sql: "alter table notes add column note text" };
  const late: Migration = { name: "4", online: ["drop index concurrently if exists x"], late: true };
  const third: Migration = { name: "5", sql: "alter table notes add column more text" };
  const url = await databaseAt([first, index]);
  expect(await migrate(url, [first, index, second, late])).toEqual(["3"]);
  await prepareSchema("facilitator", { url, migrations: [first, index, second, late], migrates: false });
  expect(await migrate(url, [first, index, second, late, third])).toEqual(["4", "5"]);
  const fresh = await databaseAt([first, index, second, late, third]);
  expect(await missingMigrations(fresh, [first, index, second, late, third])).toEqual([]);
});

let empty: Promise<string> | undefined;
function emptyFacilitator(): Promise<string> {
  empty ??= freshDatabase("facilitator");
  return empty;
}
