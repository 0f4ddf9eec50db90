import fc from "fast-check";
import { expect } from "vitest";
import { overview } from "../../facilitator/overview.ts";
import { SchemeRegistry } from "../../facilitator/schemes/registry.ts";
import { refreshDailyFigures } from "../../facilitator/settlements/daily-figures.ts";
import { rollUp, rollUpAll } from "../../facilitator/settlements/rollup.ts";
import { environmentOf } from "../../shared/networks.ts";
import type { Database } from "../../shared/postgres.ts";
import { recordTest } from "../support/fixtures.ts";
import { insertRecords, type TestRecord } from "../support/records.ts";

const test = recordTest();

const networks = ["eip155:8453", "eip155:137", "hedera:testnet"];
const people = ["0xa", "0xb", "0xc", "0xd", "0xe"];
const running = new AbortController().signal;
const context = (db: Database) => ({ db, schemes: new SchemeRegistry([]), config: { environmentOf } });
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);

const record = fc.record<TestRecord>({
  network: fc.constantFrom(...networks),
  status: fc.constantFrom("settled", "settled", "settled", "failed", "rejected"),
  kind: fc.constantFrom("settle", "settle", "verify"),
  payer: fc.constantFrom(...people),
  payTo: fc.constantFrom(...people),
  // No USDC of any network.
  asset: fc.constantFrom(undefined, undefined, "0.0.0"),
  amount: fc.bigInt({ min: 1n, max: 10_000_000n }),
  totalMs: fc.integer({ min: 1_000, max: 60_000 }),
  createdAt: fc.integer({ min: 0, max: 40 }).map(daysAgo),
});

/** As a settlement is: a refusal is the only record of a /verify, and no account pays itself. */
const sensible = (one: TestRecord) => one.payer !== one.payTo && (one.kind === "settle" || one.status === "rejected");

/** The rule said the slow and obvious way, of the records in the order in which they were made. */
function selfPayers(records: readonly TestRecord[], env: string): Set<string> {
  const paid = records.filter(
    (one) => one.status === "settled" && one.kind === "settle" && environmentOf(one.network) === env,
  );
  const firstPayer = (account: string) => paid.find(({ payTo }) => payTo === account)?.payer;
  return new Set(
    people.filter((payer) => {
      const payees = [...new Set(paid.filter((one) => one.payer === payer).map(({ payTo }) => payTo))];
      const [payee = ""] = payees;
      if (payees.length !== 1) return false;
      const isPaidBack = paid.some((one) => one.payer === payee && one.payTo === payer);
      return isPaidBack || (firstPayer(payer) !== undefined && firstPayer(payer) === firstPayer(payee));
    }),
  );
}

function naive(records: readonly TestRecord[], env: string, days: number, withoutSelf: boolean) {
  const self = withoutSelf ? selfPayers(records, env) : new Set<string | null>();
  const first = daysAgo(days - 1)
    .toISOString()
    .slice(0, 10);
  const inWindow = records.filter(
    (one) =>
      one.kind === "settle" &&
      environmentOf(one.network) === env &&
      one.createdAt.toISOString().slice(0, 10) >= first &&
      (one.status === "rejected" || !self.has(one.payer)),
  );
  const settled = inWindow.filter(({ status }) => status === "settled");
  return {
    settled: settled.length,
    failed: inWindow.filter(({ status }) => status === "failed").length,
    rejected: inWindow.filter(({ status }) => status === "rejected").length,
    volume: settled.reduce((sum, { amount, asset }) => sum + (asset ? 0n : amount), 0n),
    payers: new Set(settled.map(({ payer }) => payer)).size,
    success: inWindow.length === 0 ? undefined : settled.length / inWindow.length,
  };
}

test("with and without self-payments, for any records in any order, figures are those of the slow and obvious way", async ({
  db,
}) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(record, { maxLength: 8 }), { minLength: 1, maxLength: 5 }),
      fc.constantFrom("mainnet", "testnet"),
      fc.constantFrom(1, 14, 365),
      async (batches, env, days) => {
        await db.query(
          "truncate transactions, uncounted_settlements, daily_settlements, daily_settle_spans, daily_settle_times, payer_days, payers_by_last_day, paying_days, daily_payers, paid_pairs, accounts, daily_figures, daily_reasons",
        );
        const all: TestRecord[] = [];
        for (const batch of batches.map((some) => some.filter(sensible))) {
          await insertRecords(db, batch);
          all.push(...batch);
          await rollUp(db, environmentOf);
        }
        await refreshDailyFigures(db, environmentOf, running);
        for (const withoutSelf of [false, true]) {
          const seen = await overview(context(db), { env, network: undefined, days, withoutSelf });
          expect(seen.total).toMatchObject(naive(all, env, days, withoutSelf));
          const sum = (value: (day: (typeof seen.daily)[number]) => number) =>
            seen.daily.reduce((total, day) => total + value(day), 0);
          expect(sum(({ settled }) => settled)).toBe(seen.total.settled);
          expect(seen.daily.every((day) => day.settled === 0 || day.payers > 0)).toBe(true);
          expect(seen.byNetwork.reduce((total, { settled }) => total + settled, 0)).toBe(seen.total.settled);
        }
      },
    ),
    { numRuns: 60 },
  );
});

const figureTables =
  "transactions, uncounted_settlements, daily_settlements, daily_settle_spans, daily_settle_times, payer_days, payers_by_last_day, paying_days, daily_payers, paid_pairs, accounts, daily_figures";

/** What the figures of a day are of the records of one kind, by sorting them. */
function naiveDay(records: readonly TestRecord[]) {
  const times = records.map(({ totalMs }) => totalMs).toSorted((one, other) => one - other);
  const at = (share: number) => times[Math.ceil(share * times.length) - 1];
  return {
    settled: records.length,
    payers: new Set(records.map(({ payer }) => payer)).size,
    p50Ms: at(0.5),
    p95Ms: at(0.95),
  };
}

test("each day's figures are exact, of a network and an environment, with and without self-payments, however often they are refreshed", async ({
  db,
}) => {
  const recent = record.chain((one) =>
    fc.integer({ min: 0, max: 2 }).map((days) => ({ ...one, createdAt: daysAgo(days) })),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(recent, { maxLength: 8 }), { minLength: 1, maxLength: 5 }), async (batches) => {
      await db.query(`truncate ${figureTables}`);
      const all: TestRecord[] = [];
      for (const batch of batches.map((some) => some.filter(sensible))) {
        await insertRecords(db, batch);
        all.push(...batch);
        await rollUpAll(db, environmentOf, running);
        await refreshDailyFigures(db, environmentOf, running);
      }
      const self = selfPayers(all, "mainnet");
      for (const network of [undefined, ...networks.slice(0, 2)]) {
        for (const withoutSelf of [false, true]) {
          const { daily } = await overview(context(db), { env: "mainnet", network, days: 3, withoutSelf });
          const expected = daily.map(({ day }) =>
            naiveDay(
              all.filter(
                (one) =>
                  one.status === "settled" &&
                  (network === undefined ? environmentOf(one.network) === "mainnet" : one.network === network) &&
                  one.createdAt.toISOString().startsWith(day) &&
                  !(withoutSelf && self.has(one.payer!)),
              ),
            ),
          );
          expect(daily).toMatchObject(expected);
        }
      }
    }),
    { numRuns: 60 },
  );
});

test("a day's figures are not read from its records: it may have any number", async ({ db }) => {
  await db.query(`truncate ${figureTables}`);
  const one = { network: "eip155:8453", status: "settled", kind: "settle", amount: 5n, createdAt: new Date() } as const;
  const add = async (some: readonly Pick<TestRecord, "payer" | "totalMs" | "payTo">[]) => {
    await insertRecords(
      db,
      some.map((other) => ({ ...one, ...other })),
    );
    await rollUp(db, environmentOf);
    // Whoever reads them now is told something else.
    await db.query("update transactions set total_ms = total_ms + 100000");
    await refreshDailyFigures(db, environmentOf, running);
    await db.query("update transactions set total_ms = total_ms - 100000");
  };
  const today = async (withoutSelf: boolean) =>
    (await overview(context(db), { env: "mainnet", network: undefined, days: 1, withoutSelf })).daily[0];
  await add([
    { payer: "0xa", payTo: "0xb", totalMs: 1_000 },
    { payer: "0xb", payTo: "0xc", totalMs: 5_000 },
  ]);
  expect(await today(false)).toMatchObject({ payers: 2, p50Ms: 1_000, p95Ms: 5_000 });
  await add([{ payer: "0xb", payTo: "0xa", totalMs: 9_000 }]);
  expect(await today(false)).toMatchObject({ payers: 2, p50Ms: 5_000, p95Ms: 9_000 });
  expect(await today(true)).toMatchObject({ payers: 1, p50Ms: 5_000, p95Ms: 9_000 });
});

test("a day that was counted in part before its payers were is read whole", async ({ db }) => {
  await db.query(`truncate ${figureTables}`);
  const one = { network: "eip155:8453", status: "settled", kind: "settle", amount: 5n, createdAt: new Date() } as const;
  for (const payer of ["0xa", "0xb"]) {
    await insertRecords(db, [{ ...one, payer, payTo: "0xc", totalMs: 2_000 }]);
    await rollUp(db, environmentOf);
    if (payer === "0xa") await db.query("truncate paying_days, daily_payers");
  }
  await refreshDailyFigures(db, environmentOf, running);
  const { daily } = await overview(context(db), { env: "mainnet", network: undefined, days: 1, withoutSelf: false });
  expect(daily[0]).toMatchObject({ settled: 2, payers: 2, p50Ms: 2_000 });
});

test("records of before are linked once, in the background, and judged as new ones are", async ({ db }) => {
  await db.query(
    "truncate transactions, uncounted_settlements, daily_settlements, payer_days, payers_by_last_day, paying_days, daily_payers, paid_pairs, accounts",
  );
  const at = new Date();
  const one = {
    network: "eip155:8453",
    status: "settled",
    kind: "settle",
    amount: 5n,
    totalMs: 2_000,
    createdAt: at,
  } as const;
  await insertRecords(db, [
    { ...one, payer: "0xa", payTo: "0xb", resourceUrl: "https://shop.example.com/one" },
    { ...one, payer: "0xb", payTo: "0xa" },
  ]);
  await db.query("update uncounted_settlements set transaction_id = null");
  await db.query("insert into unlinked_records select min(id), max(id) from transactions");
  for (let n = 0; n < 2; n += 1) await rollUpAll(db, environmentOf, running);
  const { rows } = await db.query("select account, paid, received, is_self_payer from accounts order by account");
  expect(rows).toEqual([
    { account: "0xa", paid: 1n, received: 1n, is_self_payer: true },
    { account: "0xb", paid: 1n, received: 1n, is_self_payer: true },
  ]);
  const seen = await overview(context(db), { env: "mainnet", network: undefined, days: 1, withoutSelf: true });
  expect(seen.total).toMatchObject({ settled: 0, volume: 0n, payers: 0 });
  expect((await db.query("select from unlinked_records")).rowCount).toBe(0);
});

test("what a self-payer of very many payments paid is moved some at a time, and each payment once, whatever is counted meanwhile", async ({
  db,
}) => {
  await db.query(`truncate ${figureTables}`);
  const one = { network: "eip155:8453", status: "settled", kind: "settle", amount: 5n, totalMs: 2_000 } as const;
  const payment = (payer: string, payTo: string): TestRecord => ({ ...one, payer, payTo, createdAt: daysAgo(1) });
  const many = (count: number) => Array.from({ length: count }, () => payment("0xa", "0xb"));
  const withoutSelf = async () => {
    const asked = { env: "mainnet", network: undefined, days: 14, withoutSelf: true } as const;
    const { settled, volume, payers } = (await overview(context(db), asked)).total;
    return { settled, volume, payers };
  };
  const movesLeft = async () => (await db.query("select count(*)::int as left from self_payment_moves")).rows[0].left;
  // Paid back at once, while most of its payments wait to be counted.
  await insertRecords(db, [payment("0xb", "0xa"), ...many(30_000)]);
  await rollUp(db, environmentOf);
  expect(await movesLeft()).toBe(1);
  expect((await withoutSelf()).settled).toBeGreaterThan(10_000);
  await insertRecords(db, many(100));
  await rollUp(db, environmentOf);
  expect(await movesLeft()).toBe(1);
  await rollUpAll(db, environmentOf, running);
  expect(await movesLeft()).toBe(0);
  expect(await withoutSelf()).toEqual({ settled: 0, volume: 0n, payers: 0 });

  // It pays another account, and what it paid before counts again; that a second time while it is on its way changes nothing.
  await insertRecords(db, [payment("0xa", "0xc"), ...many(50)]);
  await rollUp(db, environmentOf);
  expect(await movesLeft()).toBe(1);
  await insertRecords(db, many(7));
  await rollUpAll(db, environmentOf, running);
  expect(await withoutSelf()).toEqual({ settled: 30_158, volume: 150_790n, payers: 1 });
  const { rows } = await db.query("select sum(settlements) as self from daily_settlements where network like 'self %'");
  expect(rows[0].self).toBe(1n);
  expect((await db.query("select from self_payment_moves_except")).rowCount).toBe(0);
});

test("times without self-payments are those of what is left, however long a payer's payments were on the way out", async ({
  db,
}) => {
  await db.query(`truncate ${figureTables}`);
  const one = { network: "eip155:8453", status: "settled", kind: "settle", amount: 5n, createdAt: new Date() } as const;
  const many = Array.from({ length: 20_000 }, () => ({ ...one, payer: "0xa", payTo: "0xb", totalMs: 2_000 }));
  await insertRecords(db, [...many, { ...one, payer: "0xd", payTo: "0xe", totalMs: 10_000 }]);
  await rollUpAll(db, environmentOf, running);
  // It is paid back: some of its payments are moved at once, and the figures are refreshed meanwhile.
  await insertRecords(db, [{ ...one, payer: "0xb", payTo: "0xa", totalMs: 2_000 }]);
  await rollUp(db, environmentOf);
  await refreshDailyFigures(db, environmentOf, running);
  await rollUpAll(db, environmentOf, running);
  await refreshDailyFigures(db, environmentOf, running);
  const timesOf = async (days: number) => {
    const { total } = await overview(context(db), { env: "mainnet", network: undefined, days, withoutSelf: true });
    return [total.settled, total.p50Ms, total.p95Ms];
  };
  expect((await timesOf(30))[0]).toBe(1);
  expect(await timesOf(30)).toEqual(await timesOf(29));
});

test("figures that are kept under other names are no network's", async ({ db }) => {
  for (const network of ["self eip155:8453", "without self hedera:testnet", "30 days testnet"]) {
    const { networks, total } = await overview(context(db), { env: undefined, network, days: 30, withoutSelf: true });
    expect([network, networks, total.settled, total.volume]).toEqual([network, [], 0, 0n]);
  }
});

test("half of all durations are at or below the median, and 95 % at or below the other", async ({ db }) => {
  await db.query(
    "truncate transactions, uncounted_settlements, daily_settlements, daily_settle_spans, daily_settle_times, paying_days, daily_payers, daily_figures",
  );
  const times = Array.from({ length: 100 }, (_, n) => 1_000 + 50 * n);
  await insertRecords(
    db,
    times.map((totalMs) => ({
      network: "hedera:testnet",
      status: "settled",
      kind: "settle",
      payer: "0.0.1",
      amount: 1n,
      totalMs,
      createdAt: new Date(),
    })),
  );
  await rollUp(db, environmentOf);
  await refreshDailyFigures(db, environmentOf, running);
  const { total, daily } = await overview(context(db), {
    env: "testnet",
    network: "hedera:testnet",
    days: 2,
    withoutSelf: false,
  });
  expect(Math.abs((total.p50Ms ?? 0) / 3_450 - 1)).toBeLessThan(0.02);
  expect(Math.abs((total.p95Ms ?? 0) / 5_700 - 1)).toBeLessThan(0.02);
  expect(daily.at(-1)).toMatchObject({ settled: 100, payers: 1, p50Ms: 3_450, p95Ms: 5_700 });
});

test("a settlement that was found as late as can be told has its time, and keeps no other day from its figures", async ({
  db,
}) => {
  await db.query(
    "truncate transactions, uncounted_settlements, daily_settlements, daily_settle_spans, daily_settle_times, paying_days, daily_payers, daily_figures",
  );
  const settled = { network: "hedera:testnet", status: "settled", kind: "settle", payer: "0.0.1", amount: 1n } as const;
  await insertRecords(db, [
    { ...settled, totalMs: 2_147_483_647, createdAt: new Date() },
    { ...settled, totalMs: 1_000, createdAt: daysAgo(1) },
  ]);
  await rollUp(db, environmentOf);
  await refreshDailyFigures(db, environmentOf, running);
  const asked = { env: "testnet", network: "hedera:testnet", days: 2, withoutSelf: false } as const;
  expect((await overview(context(db), asked)).daily).toMatchObject([
    { settled: 1, payers: 1, p50Ms: 1_000, p95Ms: 1_000 },
    { settled: 1, payers: 1, p50Ms: 2_147_483_647, p95Ms: 2_147_483_647 },
  ]);
});

test("times of the usual windows are kept, and are those that adding up the spans gives", async ({ db }) => {
  await db.query(
    "truncate transactions, uncounted_settlements, daily_settlements, daily_settle_spans, daily_settle_times, paying_days, daily_payers, daily_figures",
  );
  const settled = (network: string, totalMs: number): TestRecord => ({
    ...{ network, status: "settled", kind: "settle", payer: "0.0.1", amount: 1n, totalMs },
    createdAt: new Date(),
  });
  const timesOf = async (days: number, network?: string) => {
    const { total, byNetwork } = await overview(context(db), { env: "testnet", network, days, withoutSelf: false });
    return [total, ...byNetwork].map(({ p50Ms, p95Ms }) => [p50Ms, p95Ms]);
  };
  const add = async (records: TestRecord[]) => {
    await insertRecords(db, records);
    await rollUp(db, environmentOf);
    await refreshDailyFigures(db, environmentOf, running);
  };
  await add([settled("hedera:testnet", 900), settled("hedera:testnet", 4_000), settled("eip155:84532", 90_000)]);
  expect(await timesOf(30)).toEqual(await timesOf(29));
  expect(await timesOf(365, "eip155:84532")).toEqual(await timesOf(364, "eip155:84532"));
  await add([settled("hedera:testnet", 70_000), settled("hedera:testnet", 70_000)]);
  expect(await timesOf(30)).toEqual(await timesOf(29));
  const { rows } = await db.query("select count(*)::int as kept from daily_figures where scope like '30 days %'");
  expect(rows[0].kept).toBeGreaterThan(0);
  // They are what is read, also where a network is served that has no record: without the spans nothing else could tell.
  await db.query("truncate daily_settle_spans");
  const schemes = { all: [{ network: "eip155:43113" }] } as unknown as SchemeRegistry;
  const asked = { env: "testnet", network: undefined, days: 30, withoutSelf: false } as const;
  const { networks, total } = await overview({ ...context(db), schemes }, asked);
  expect(networks).toContain("eip155:43113");
  expect(total.p50Ms).toBeGreaterThan(60_000);
});
