import { expect } from "vitest";
import { auditRecord } from "../../facilitator/archive/audit.ts";
import { accountRecord } from "../../facilitator/settlements/accounts.ts";
import { refreshDailyFigures } from "../../facilitator/settlements/daily-figures.ts";
import { rollUpAll } from "../../facilitator/settlements/rollup.ts";
import { environmentOf } from "../../shared/networks.ts";
import { type Database, inTransaction } from "../../shared/postgres.ts";
import { recordTest } from "../support/fixtures.ts";
import { insertRecords } from "../support/records.ts";

const test = recordTest();

const paid = (payer: string, payTo: string) => ({
  network: "eip155:8453",
  status: "settled" as const,
  kind: "settle" as const,
  ...{ payer, payTo, amount: 10n, totalMs: 5, createdAt: new Date() },
});

/** As forgetting final payments records it: the newest that a payer paid a payee. */
async function takeBack(db: Database, payer: string, payTo: string): Promise<void> {
  await db.query(
    `with failed as (
       update transactions set status = 'failed', error_reason = 'invalid_transaction_state'
        where id = (select max(id) from transactions where payer = $1 and pay_to = $2) returning id)
     insert into taken_back_settlements select id from failed`,
    [payer, payTo],
  );
}

/** Adds up until nothing waits. */
async function rollUp(db: Database): Promise<void> {
  const waiting =
    "select from taken_back_settlements union all select from uncounted_settlements union all select from self_payment_moves";
  do await rollUpAll(db, environmentOf, new AbortController().signal);
  while ((await db.query(waiting)).rowCount !== 0);
}

const selfPayments = async (db: Database) => {
  const { rows } = await db.query(
    `select status, sum(settlements)::int as settlements from daily_settlements
      where network = 'self eip155:8453' group by status order by status`,
  );
  return Object.fromEntries(rows.map(({ status, settlements }) => [status, settlements]));
};

test("a payer who is left with one payee, which paid it back, pays itself, and each payment is counted once there", async ({
  db,
}) => {
  await insertRecords(db, [paid("alice", "carol"), paid("alice", "bob"), paid("alice", "bob"), paid("bob", "alice")]);
  await rollUp(db);
  expect(await accountRecord(db, "mainnet", "alice")).toMatchObject({ payees: 2, isSelfPayer: false });
  expect(await selfPayments(db)).toEqual({ settled: 1 });
  await takeBack(db, "alice", "carol");
  await takeBack(db, "alice", "bob");
  await rollUp(db);
  expect(await accountRecord(db, "mainnet", "alice")).toMatchObject({ paid: 1, payees: 1, isSelfPayer: true });
  expect(await selfPayments(db)).toEqual({ failed: 2, settled: 2 });
});

test("of an account that paid itself, what was taken back is neither paid nor received", async ({ db }) => {
  await insertRecords(db, [paid("dave", "dave"), paid("dave", "erin")]);
  await rollUp(db);
  const both = { paid: 2, payees: 2, received: 1, payers: 1 };
  expect(await accountRecord(db, "mainnet", "dave")).toMatchObject(both);
  await takeBack(db, "dave", "dave");
  await rollUp(db);
  const { rows } = await db.query(
    "select paid, payees, first_payee, received, payers, first_payer from accounts where account = 'dave'",
  );
  expect(rows).toEqual([{ paid: 1n, payees: 1n, first_payee: "erin", received: 0n, payers: 0n, first_payer: null }]);
});

test("figures of a day are those of what is left, also where another payment was settled before they were refreshed", async ({
  db,
}) => {
  await db.query(
    "truncate transactions, uncounted_settlements, daily_settlements, daily_settle_spans, daily_settle_times, daily_figures",
  );
  const running = new AbortController().signal;
  const figures = async () => {
    await refreshDailyFigures(db, environmentOf, running);
    const { rows } = await db.query(
      "select p50_ms from daily_figures where scope in ('mainnet', '7 days mainnet') order by scope",
    );
    return rows.map(({ p50_ms: ms }) => ms);
  };
  await insertRecords(db, [{ ...paid("frank", "grace"), totalMs: 1_000 }]);
  await rollUp(db);
  expect(await figures()).toEqual([31 * 31 + 31, 1_000]);
  await takeBack(db, "frank", "grace");
  await insertRecords(db, [{ ...paid("frank", "heidi"), totalMs: 9_000 }]);
  await rollUp(db);
  expect(await figures()).toEqual([94 * 94 + 94, 9_000]);
});

test("what was taken back is not counted while figures are being refreshed, which would stay those of before", async ({
  db,
}) => {
  const waiting = async () => (await db.query("select from taken_back_settlements")).rowCount;
  await insertRecords(db, [paid("kate", "lena")]);
  await rollUp(db);
  await takeBack(db, "kate", "lena");
  await inTransaction(db, async (refresh) => {
    await refresh.query("select pg_advisory_xact_lock(hashtext('daily figures'))");
    await rollUpAll(db, environmentOf, new AbortController().signal);
    expect(await waiting()).toBe(1);
  });
  await rollUp(db);
  expect(await waiting()).toBe(0);
});

test("what was taken back makes no figures of the other environment due", async ({ db }) => {
  const running = new AbortController().signal;
  const testnet = { ...paid("mia", "nora"), network: "eip155:84532" };
  await insertRecords(db, [paid("mia", "nora"), testnet, testnet]);
  await rollUp(db);
  await refreshDailyFigures(db, environmentOf, running);
  await takeBack(db, "mia", "nora");
  const { rows: taken } = await db.query(
    "select t.network from taken_back_settlements b join transactions t on t.id = b.transaction_id",
  );
  await rollUp(db);
  const { rows } = await db.query(
    "select scope from daily_figures where settlements = -1 and scope ~ '^[0-9]+ days ' order by scope",
  );
  expect(taken).toEqual([{ network: "eip155:84532" }]);
  const days = ["30", "365", "7", "90"];
  expect(rows.map(({ scope }) => scope).toSorted()).toEqual(
    days.flatMap((n) => [`${n} days testnet`, `${n} days without self testnet`]).toSorted(),
  );
});

test("an audit finds nothing wrong while what was taken back waits to be counted", async ({ db }) => {
  await insertRecords(db, [paid("ivan", "judy")]);
  await rollUp(db);
  await takeBack(db, "ivan", "judy");
  expect(await auditRecord(db, undefined)).toMatchObject({ findings: [] });
  await rollUp(db);
  expect(await auditRecord(db, undefined)).toMatchObject({ findings: [] });
});
