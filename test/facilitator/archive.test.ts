import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { gzipSync } from "node:zlib";
import { expect } from "vitest";
import { type ArchiverNeeds, archiveRecords } from "../../facilitator/archive/archive-records.ts";
import { auditRecord } from "../../facilitator/archive/audit.ts";
import { unpackRecords } from "../../facilitator/archive/record-file.ts";
import { readQuery } from "../../facilitator/http/query.ts";
import { lookedAtMax } from "../../facilitator/list-statement.ts";
import { refreshDailyFigures } from "../../facilitator/settlements/daily-figures.ts";
import { rollUp, rollUpAll } from "../../facilitator/settlements/rollup.ts";
import { keepArchivedSelfPayments } from "../../facilitator/settlements/self-payment-moves.ts";
import {
  newestTransactions,
  type Transactions,
  transactions,
  transactionsQuery,
} from "../../facilitator/transactions.ts";
import type { Visit } from "../../facilitator/web/page.ts";
import { transactionsPages } from "../../facilitator/web/pages/transactions.tsx";
import { createLog } from "../../shared/log.ts";
import type { Database } from "../../shared/postgres.ts";
import { openBucket } from "../../shared/s3.ts";
import { startBucket, type TestBucket } from "../support/bucket.ts";
import { compiled } from "../support/compiled.ts";
import { startCutProxy } from "../support/cut-proxy.ts";
import { recordTest } from "../support/fixtures.ts";
import { perFile } from "../support/part.ts";
import { insertRecords, recordNeeds, type TestRecord } from "../support/records.ts";
import { statements } from "../support/statements.ts";

const test = recordTest()
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads from the pattern which other fixtures this one takes
  .extend("s3", perFile, async ({}, { onCleanup }) => {
    const s3 = await startBucket("record");
    onCleanup(s3.stop);
    return s3;
  })
  .extend("proxy", perFile, async ({ s3 }, { onCleanup }) => {
    const proxy = await startCutProxy(s3.endpoint);
    onCleanup(proxy.stop);
    return proxy;
  })
  /** Each test's records are another account's, long ago; what is recorded is counted. */
  .extend("make", ({ db }) => {
    return async (records: readonly Partial<TestRecord>[]) => {
      const payer = `0.0.${Math.floor(Math.random() * 1e9)}`;
      await insertRecords(
        db,
        records.map((record) => ({ ...base, payer, ...record })),
      );
      await countAll(db);
      return payer;
    };
  });

const log = createLog("test", "silent");
const environmentOf = (network: string) => (network.endsWith("mainnet") ? "mainnet" : "testnet");
const countAll = async (db: Database) => {
  while ((await rollUp(db, environmentOf)) > 0);
};
const dayMs = 86_400_000;
const noon = Math.floor(Date.now() / dayMs) * dayMs + dayMs / 2;
const daysAgo = (days: number, plusMs = 0) => new Date(noon - days * dayMs + plusMs);
const base: TestRecord = {
  network: "hedera:testnet",
  status: "settled",
  kind: "settle",
  payer: null,
  payTo: "0.0.9",
  amount: 5n,
  totalMs: 100,
  createdAt: daysAgo(40),
};

function archiver(db: Database, s3: TestBucket, endpoint = s3.endpoint): ArchiverNeeds {
  const bucket = openBucket({ ...s3.config, endpoint });
  return { db, bucket, log, holder: randomUUID(), afterDays: 31, recordsMax: 7, environmentOf };
}
const running = new AbortController().signal;

/** All pages of a list, from a service that has just begun. */
async function listed(db: Database, s3: Pick<TestBucket, "config"> | undefined, query: Record<string, string>) {
  const context = recordNeeds(db, environmentOf, s3 && openBucket(s3.config));
  const pages: Transactions[] = [];
  for (let cursor: string | null = ""; cursor !== null; cursor = pages.at(-1)!.cursor) {
    const asked = { env: "testnet", limit: "5", ...query, ...(cursor && { cursor }) };
    pages.push(await transactions(context, readQuery(transactionsQuery, asked)));
  }
  return { pages, records: pages.flatMap(({ transactions: page }) => page) };
}

const urlOf = (db: Database) => (db as unknown as { options: { connectionString: string } }).options.connectionString;
const stored = async (db: Database, payer: string) =>
  (await db.query("select from transactions where payer = $1", [payer])).rows.length;
const objects = async (db: Database) => (await db.query("select * from archive_objects order by name")).rows;

test("while two copies archive and answers of the bucket are lost, every list reads each record once, as it was before", async ({
  db,
  s3,
  proxy,
  make,
}) => {
  const networks = ["hedera:testnet", "eip155:84532", "hedera:previewnet"];
  // Of one day many share a moment; the last days are kept.
  const many = Array.from({ length: 120 }, (_, at) => ({
    network: networks[at % 3]!,
    status: at % 5 === 0 ? ("failed" as const) : ("settled" as const),
    payTo: at % 4 === 0 ? "0.0.8" : "0.0.9",
    resourceUrl: at % 2 === 0 ? "https://a.example.com/x" : "https://b.example.com/y",
    totalMs: at,
    createdAt: at % 2 === 0 ? daysAgo(40) : daysAgo(20 + (at % 40), at),
  }));
  const payer = await make(many);
  await make([
    { payer: "0.0.501", payTo: "0.0.502" },
    { payer: "0.0.502", payTo: "0.0.501" },
  ]);
  await db.query(
    "insert into transactions (network, status, kind, total_ms, created_at) values ('hedera:testnet', 'rejected', 'verify', 1, $1)",
    [daysAgo(35)],
  );
  const queries: readonly Record<string, string>[] = [
    {},
    { payer },
    { payer, status: "failed" },
    { pay_to: "0.0.8", network: "eip155:84532" },
    { resource: "https://a.example.com/x" },
    { self: "hide" },
    { since: daysAgo(45).toISOString().slice(0, 10), until: daysAgo(33).toISOString().slice(0, 10) },
    { limit: "100" },
  ];
  const lists = () => Promise.all(queries.map(async (query) => (await listed(db, s3, query)).records));
  const before = await lists();
  expect(before[0]!.length).toBeGreaterThan(120);
  expect(before[5]).toHaveLength(before[0]!.length - 2);

  let [answers, lost] = [0, 0];
  proxy.behave(() => {
    answers += 1;
    if (answers % 3 !== 0 || lost === 4) return "pass";
    lost += 1;
    return "cut";
  });
  const copies = [archiver(db, s3, proxy.url), archiver(db, s3, proxy.url)];
  let isReading = true;
  const readers = (async () => {
    const seen: Transactions["transactions"][] = [];
    while (isReading) seen.push((await listed(db, s3, {})).records);
    return seen;
  })();
  await Promise.all(
    copies.map(async (copy) => {
      for (let tries = 0; tries < 20; tries += 1) {
        const failed = await archiveRecords(copy, running).then(
          () => false,
          () => true,
        );
        if (!failed) return;
      }
      throw new Error("the archiver did not come to an end");
    }),
  );
  isReading = false;
  for (const seen of await readers) expect(seen).toEqual(before[0]);
  expect(lost).toBe(4);
  expect(await lists()).toEqual(before);
  const { rows } = await db.query(
    "select status, count(*)::int as left from transactions where created_at < $1 group by status",
    [daysAgo(32)],
  );
  expect(rows).toEqual([{ status: "rejected", left: 1 }]);
  expect((await objects(db)).length).toBeGreaterThan(12);
  expect(await auditRecord(db, openBucket(s3.config))).toMatchObject({ findings: [] });
  expect((await db.query("select from archive_leases")).rows).toEqual([]);
});

test("a copy that is killed after it put an object loses nothing and leaves nothing twice", async ({
  db,
  s3,
  proxy,
  make,
}) => {
  const payer = await make(Array.from({ length: 10 }, (_, at) => ({ totalMs: at, createdAt: daysAgo(50, at) })));
  const before = (await listed(db, s3, { payer })).records;
  // What was put is not read back: there the copy stands when it dies.
  let answers = 0;
  proxy.behave(() => (++answers > 1 ? "stall" : "pass"));
  const child = spawn(process.execPath, [compiled(new URL("../../facilitator/main.ts", import.meta.url))], {
    env: {
      PATH: process.env.PATH,
      LOG_LEVEL: "silent",
      FACILITATOR_PORT: "0",
      FACILITATOR_DATABASE_URL: urlOf(db),
      FACILITATOR_DATABASE_STATEMENTS: statements,
      EIP155_84532_RPC_URL: "http://127.0.0.1:1",
      EIP155_84532_SIGNERS: `0x${"1".repeat(64)}`,
      ARCHIVE_AFTER_DAYS: "31",
      ...s3.variables("ARCHIVE", proxy.url),
    },
    stdio: "ignore",
  });
  await expect.poll(() => answers).toBeGreaterThan(1);
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(await stored(db, payer)).toBe(10);
  expect(await listed(db, s3, { payer })).toMatchObject({ records: before });
  await archiveRecords({ ...archiver(db, s3), recordsMax: 5_000 }, running);
  expect(await stored(db, payer), "its lease has not lapsed").toBe(10);
  await db.query("update archive_leases set lease_until = now()");
  await archiveRecords({ ...archiver(db, s3), recordsMax: 5_000 }, running);
  expect(await stored(db, payer)).toBe(0);
  expect((await listed(db, s3, { payer })).records).toEqual(before);
  expect(await auditRecord(db, openBucket(s3.config))).toMatchObject({ findings: [] });
});

test("what is not counted yet stays in the database, and totals and days' figures are as before", async ({
  db,
  s3,
}) => {
  const createdAt = daysAgo(60);
  await insertRecords(db, [{ ...base, payer: "0.0.77", createdAt }]);
  await archiveRecords(archiver(db, s3), running);
  expect(await stored(db, "0.0.77")).toBe(1);
  await countAll(db);
  await refreshDailyFigures(db, environmentOf, running);
  const figures = async () =>
    (await db.query("select * from daily_figures where day = $1::timestamptz::date order by scope", [createdAt])).rows;
  const before = await figures();
  expect(before.length).toBeGreaterThan(0);
  await archiveRecords(archiver(db, s3), running);
  expect(await stored(db, "0.0.77")).toBe(0);
  await db.query("update daily_figures set settlements = settlements + 1 where day = $1::timestamptz::date", [
    createdAt,
  ]);
  await refreshDailyFigures(db, environmentOf, running);
  expect((await figures()).map(({ payers, p50_ms }) => [payers, p50_ms])).toEqual(
    before.map(({ payers, p50_ms }) => [payers, p50_ms]),
  );
});

test("a page reads a few objects, says how far it looked, and goes on from there", async ({ db, s3, make }) => {
  await make(Array.from({ length: 140 }, (_, at) => ({ createdAt: daysAgo(70, at) })));
  const rare = await make([{ createdAt: daysAgo(70, -1) }]);
  await archiveRecords(archiver(db, s3), running);
  const { pages, records } = await listed(db, s3, { payer: rare });
  expect(records).toHaveLength(1);
  expect(pages.length).toBeGreaterThan(1);
  expect(pages[0]).toMatchObject({
    transactions: [],
    cursor: expect.any(String),
    notice: expect.stringMatching(/a page reads 6 objects at most: this one looked back to \d{4}-.*The next page/),
  });
  expect(pages.at(-1)).toMatchObject({ cursor: null, notice: null });
});

test("what the archive cannot tell is said: 503 while it is away or holds other bytes, and a word where it is not configured", async ({
  db,
  s3,
  make,
}) => {
  const payer = await make([{ createdAt: daysAgo(80) }]);
  await archiveRecords(archiver(db, s3), running);
  const away = { config: { ...s3.config, endpoint: "http://127.0.0.1:9" } };
  await expect(listed(db, away, { payer })).rejects.toMatchObject({ code: "unavailable" });
  expect((await listed(db, away, { payer, since: daysAgo(5).toISOString().slice(0, 10) })).records).toEqual([]);
  const without = await listed(db, undefined, { payer });
  expect(without.pages).toMatchObject([{ transactions: [], notice: expect.stringContaining("cannot read") }]);
  const [object] = (await objects(db)).filter(({ first_at: at }) => at < daysAgo(79));
  await openBucket(s3.config).put(object.name, Buffer.from("other"));
  await expect(listed(db, s3, { payer })).rejects.toMatchObject({ code: "unavailable" });
  expect((await auditRecord(db, openBucket(s3.config))).findings).toEqual([
    expect.stringContaining("is not what was put there"),
    expect.stringContaining("0 records, and 1 were counted"),
  ]);
});

test("a page that begins before the archive shows what it has while that is away, and the next one is 503", async ({
  db,
  s3,
  make,
}) => {
  const payer = await make([1, 2, 35, 36].map((days) => ({ createdAt: daysAgo(days) })));
  await make([{ createdAt: daysAgo(34) }]);
  await archiveRecords(archiver(db, s3), running);
  const context = recordNeeds(db, environmentOf, openBucket({ ...s3.config, endpoint: "http://127.0.0.1:9" }));
  const asked = { env: "testnet", payer, limit: "5" };
  const page = await transactions(context, readQuery(transactionsQuery, asked));
  expect(page.transactions.map(({ created_at: at }) => at)).toEqual([1, 2].map((days) => daysAgo(days).toISOString()));
  expect(page.notice).toMatch(
    /cannot be read at the moment: this one looked back to .* The next page goes on from there/,
  );
  const next = readQuery(transactionsQuery, { ...asked, cursor: page.cursor ?? "" });
  await expect(transactions(context, next)).rejects.toMatchObject({ code: "unavailable" });
  expect(await newestTransactions(context, next)).toEqual({ rows: [], hasMore: true });
  const since = daysAgo(40).toISOString().slice(0, 10);
  expect((await listed(db, s3, { payer, since })).records).toHaveLength(4);
});

test("a CSV of a payer whose newest payments are on other networks ends at these while the archive is away", async ({
  db,
  s3,
  make,
}) => {
  const recent = Array.from({ length: lookedAtMax }, (_, n) => ({ createdAt: daysAgo(1, n) }));
  const payer = await make([{ createdAt: daysAgo(80), network: "eip155:84532" }, ...recent]);
  await archiveRecords(archiver(db, s3), running);
  const needs = recordNeeds(db, environmentOf, openBucket({ ...s3.config, endpoint: "http://127.0.0.1:9" }));
  const context = { ...needs, reads: { primary: db } } as unknown as Parameters<typeof transactionsPages>[0];
  const csv = transactionsPages(context, ["testnet"]).find(({ path }) => path === "/transactions.csv");
  const query = new URLSearchParams({ payer, network: "eip155:84532" });
  expect(await csv?.show({ path: "/transactions.csv", query, env: "testnet" } as Visit)).toMatchObject({
    content: expect.stringMatching(/^created_at,[^\n]*\s*$/),
    headers: { link: expect.stringContaining("cursor=") },
  });
});

test("a file that is older than a column of the record is read with null in it, unless a record cannot be without", async () => {
  const { error_reason: _, ...older } = {
    ...{ id: "1", network: "hedera:testnet", status: "settled", kind: "settle", payer: "0.0.7", pay_to: "0.0.9" },
    ...{ asset: "0.0.5", amount_atomic: "5", resource_url: null, tx_id: null, error_reason: null, total_ms: 100 },
    created_at: "2026-01-01T12:00:00.000000Z",
  };
  const file = (record: object) => gzipSync(`${JSON.stringify(record)}\n`);
  expect(await unpackRecords(file(older))).toEqual([{ ...older, error_reason: null }]);
  const { status: __, ...broken } = older;
  await expect(unpackRecords(file(broken))).rejects.toThrow();
});

test("a payer whose payments are archived in part, and who is no self-payer any more, is counted like others with all of them", async ({
  db,
  s3,
}) => {
  const [payer, payee, other] = ["0.0.8801", "0.0.8802", "0.0.8803"];
  const paid = (from: string, to: string, days: number) => ({
    ...{ ...base, network: "hedera:previewnet", payer: from, payTo: to, createdAt: daysAgo(days), totalMs: 2_500 },
  });
  const counted = async (env: string) => {
    const { rows } = await db.query(
      `select d.day::text, d.status, sum(d.settlements) as settlements, sum(d.volume_atomic) as volume,
              (select sum(s.settlements) from daily_settle_spans s where s.network = d.network and s.day = d.day) as timed
         from daily_settlements d where d.network = $1 and d.settlements <> 0 group by d.network, d.day, d.status order by 1, 2`,
      [env],
    );
    return rows;
  };
  const before = await counted("self hedera:previewnet");
  await insertRecords(db, [
    paid(payer, payee, 50),
    { ...paid(payer, payee, 50), status: "failed" },
    paid(payer, payee, 45),
    paid(payer, payee, 2),
    paid(payee, payer, 2),
  ]);
  await rollUpAll(db, environmentOf, running);
  const days = async () => (await counted("self hedera:previewnet")).map(({ day }) => day);
  expect(new Set(await days()).size - new Set(before.map(({ day }) => day)).size).toBe(3);
  await archiveRecords(archiver(db, s3), running);
  expect(await stored(db, payer)).toBe(1);
  // It pays another account, and so does its payee.
  await insertRecords(db, [paid(payer, other, 1), paid(payee, other, 1)]);
  await rollUpAll(db, environmentOf, running);
  expect(await counted("self hedera:previewnet")).toEqual(before);
  expect((await db.query("select from archived_self_payments where payer = $1", [payer])).rowCount).toBe(0);
});

test("while payments are moved into or out of the figures, none of them leaves for the archive", async ({ db, s3 }) => {
  await insertRecords(db, [{ ...base, payer: "0.0.8811", payTo: "0.0.8812" }]);
  await countAll(db);
  // It begins after the archiver has looked whether any is under way.
  const bucket = openBucket(s3.config);
  const begin = () =>
    db.query(
      "insert into self_payment_moves (env, payer, status, sign, last_id) values ('testnet', '0.0.1', 'settled', 1, 0)",
    );
  const put: typeof bucket.put = async (name, bytes) => {
    await begin();
    return bucket.put(name, bytes);
  };
  await archiveRecords({ ...archiver(db, s3), bucket: { ...bucket, put } }, running);
  expect(await stored(db, "0.0.8811")).toBe(1);
  await db.query("delete from self_payment_moves");
  await archiveRecords(archiver(db, s3), running);
  expect(await stored(db, "0.0.8811")).toBe(0);
});

test("settlements are counted while records leave for the archive; a payer becomes no self-payer in that moment", async ({
  db,
}) => {
  const [payer, payee] = ["0.0.8821", "0.0.8822"];
  const paid = (from: string, to: string) => ({ ...base, payer: from, payTo: to, createdAt: daysAgo(1) });
  await insertRecords(db, [paid(payer, payee)]);
  await countAll(db);
  const archiving = await db.connect();
  let judged: Promise<unknown> | undefined;
  try {
    await archiving.query("begin");
    expect(await keepArchivedSelfPayments(archiving, [], "testnet")).toBe(true);
    await insertRecords(db, [paid("0.0.8823", "0.0.8824")]);
    expect(await rollUp(db, environmentOf)).toBe(1);
    await insertRecords(db, [paid(payee, payer)]);
    let isJudged = false;
    judged = rollUp(db, environmentOf).then(() => {
      isJudged = true;
    });
    const waits = "select from pg_locks where locktype = 'advisory' and not granted";
    await expect.poll(async () => (await db.query(waits)).rowCount).toBe(1);
    expect(isJudged).toBe(false);
  } finally {
    await archiving.query("commit");
    archiving.release();
    await judged;
  }
  const { rows } = await db.query("select is_self_payer from accounts where account = $1", [payer]);
  expect(rows).toEqual([{ is_self_payer: true }]);
});
