import { expect } from "vitest";
import { readQuery } from "../../facilitator/http/query.ts";
import { lookedAtMax } from "../../facilitator/list-statement.ts";
import { accountRecord, counterparties } from "../../facilitator/settlements/accounts.ts";
import { rollUp } from "../../facilitator/settlements/rollup.ts";
import { allTransactions, transactions, transactionsQuery } from "../../facilitator/transactions.ts";
import { environmentOf } from "../../shared/networks.ts";
import type { Database } from "../../shared/postgres.ts";
import { recordTest } from "../support/fixtures.ts";
import { insertRecords, recordNeeds, type TestRecord } from "../support/records.ts";

const alice = "0x857b06519E91e3A54538791bDbb0E22373e36b66";
const bob = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C";
const carol = "0.0.1003";
const shop = "https://shop.example.com/maps";

const test = recordTest();
test.beforeAll(async ({ db }) => {
  const common = { kind: "settle", amount: 10n, totalMs: 2_000, createdAt: new Date() } as const;
  const evm = { ...common, network: "eip155:8453" } as const;
  const records: TestRecord[] = [
    { ...evm, status: "settled", payer: alice, payTo: bob, resourceUrl: shop },
    { ...evm, status: "settled", payer: alice, payTo: bob, resourceUrl: shop },
    { ...evm, status: "failed", payer: alice, payTo: bob, resourceUrl: shop, errorReason: "transaction_failed" },
    { ...evm, status: "rejected", payer: alice, payTo: bob, errorReason: "invalid_amount" },
    { ...evm, status: "settled", payer: bob, payTo: alice },
    { ...common, network: "hedera:mainnet", status: "settled", payer: carol, payTo: "0.0.9", resourceUrl: shop },
  ];
  const old = new Date("2020-01-02T23:59:58Z");
  records.push({ ...evm, status: "settled", payer: bob, payTo: "0.0.77", createdAt: old });
  await insertRecords(db, records);
  await rollUp(db, environmentOf);
});

const list = async (db: Database, query: Record<string, string>) => {
  const context = recordNeeds(db, environmentOf);
  return (await transactions(context, readQuery(transactionsQuery, { env: "mainnet", ...query }))).transactions;
};

test.for<[Record<string, string>, number]>([
  [{ payer: alice }, 4],
  [{ payer: alice.toLowerCase() }, 4],
  [{ payer: alice, status: "failed" }, 1],
  [{ payer: alice, network: "hedera:mainnet" }, 0],
  [{ pay_to: alice }, 1],
  [{ pay_to: bob, payer: alice, status: "settled" }, 2],
  [{ resource: shop }, 4],
  [{ resource: shop, payer: carol }, 1],
  [{ resource: "https://shop.example.com/none" }, 0],
  [{ self: "hide" }, 4],
  [{ self: "hide", payer: alice }, 1],
  [{ payer: "' or true --" }, 0],
  [{ since: "2020-01-01", until: "2020-01-02" }, 1],
  [{ since: "2020-01-02T23:59:59Z", until: "2020-01-03" }, 0],
  [{ until: "2020-01-02" }, 1],
  [{ until: "2020-01-02T23:59:58Z" }, 0],
  [{ since: "2020-01-02T23:59:58Z", until: "2020-01-02T23:59:58.001Z", payer: bob }, 1],
])("%o lists %i records", async ([query, expected], { db }) => {
  expect(await list(db, query)).toHaveLength(expected);
});

test("an account's record adds up what it paid and received, however its address is written", async ({ db }) => {
  expect(await accountRecord(db, "mainnet", alice.toLowerCase())).toMatchObject({
    account: alice,
    paid: 2,
    paidVolume: 20n,
    payees: 1,
    received: 1,
    payers: 1,
    isSelfPayer: true,
  });
  expect(await accountRecord(db, "mainnet", carol)).toMatchObject({ paid: 1, received: 0, isSelfPayer: false });
  expect(await accountRecord(db, "testnet", alice)).toBeUndefined();
  expect(await counterparties(db, { env: "mainnet", account: bob, side: "payers" })).toEqual([
    { account: alice, settlements: 2, volume: 20n },
  ]);
  expect(await counterparties(db, { env: "mainnet", account: carol, side: "payees" })).toEqual([
    { account: "0.0.9", settlements: 1, volume: 10n },
  ]);
});

test("an account with thousands of payers is told the ten that paid it most often, and no others are read for it", async ({
  db,
}) => {
  const lower = bob.toLowerCase();
  for (const [payTo, payers] of [[bob, 3_000] as const, [lower, 40] as const]) {
    await db.query(
      `insert into paid_pairs select 'testnet', 'of ' || $1 || n, $1, 1 + n % 7, n from generate_series(1, $2::int) n`,
      [payTo, payers],
    );
  }
  // Two that stand out of the ties, one under each spelling.
  await db.query(
    "update paid_pairs set settlements = 70 + volume_atomic where volume_atomic = 5 + (pay_to = $1)::int and env = 'testnet'",
    [lower],
  );
  await db.query("vacuum analyze paid_pairs");
  const ask = { env: "testnet", account: lower, side: "payers" } as const;
  const told = await counterparties(db, ask);
  expect(told.map(({ settlements }) => settlements)).toEqual([76, 75, 7, 7, 7, 7, 7, 7, 7, 7]);
  expect(told.slice(0, 2).map(({ account }) => account)).toEqual([`of ${lower}6`, `of ${bob}5`]);
  expect(new Set(told.map(({ account }) => account)).size).toBe(10);
  for (const { account, settlements, volume } of told.slice(2)) {
    expect(account).toBe(`of ${account.includes(lower) ? lower : bob}${volume}`);
    expect(settlements).toBe(1 + (Number(volume) % 7));
  }
  expect(await pairsRead(db, ask)).toBeLessThanOrEqual(20);
});

/** Rows of pairs that PostgreSQL reads to say an account's counterparties. */
async function pairsRead(db: Database, ask: Parameters<typeof counterparties>[1]): Promise<number> {
  const plans: Plan[] = [];
  const query = async ({ text, values }: { text: string; values: unknown[] }) => {
    const { rows } = await db.query(`explain (analyze, format json) ${text}`, values);
    plans.push(rows[0]["QUERY PLAN"][0].Plan);
    return { rows: [] };
  };
  await counterparties({ query } as unknown as Database, ask);
  return plans.reduce((rows, plan) => rows + rowsIn(plan), 0);
}

interface Plan {
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly Plan[];
}

function rowsIn(plan: Plan): number {
  const { "Actual Rows": kept, "Actual Loops": loops, "Rows Removed by Filter": others = 0, Plans = [] } = plan;
  const own = plan["Relation Name"] === "paid_pairs" ? (kept + others) * loops : 0;
  return Plans.reduce((rows, inner) => rows + rowsIn(inner), own);
}

test.for(["2026-02-30", "2026-11-20 10:00", "yesterday", "2026-13-01", "2026-11-20T25:00:00Z", "99999-01-01"])(
  "since=%s is refused by name",
  async (since, { db }) => {
    await expect(list(db, { since })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining("since must be"),
    });
  },
);

test("payments that have not ended are listed only where they are asked for, page by page", async ({ db }) => {
  const add = (n: number, state: string, retryable = false) =>
    db.query(
      `insert into payments (network, payment_key, state, claim_token, scheme, payer, pay_to, asset, amount_atomic, transaction_id,
                             retryable, expires_at, lease_until, created_at)
       values ('hedera:mainnet', $1, $2, gen_random_uuid(), 'exact', $3, '0.0.9', '0.0.1', 7, $4, $5, now(), now(),
               now() - $6::int * interval '1 minute')`,
      [`key${n}`, state, carol, state === "claimed" ? null : `0.0.5@${n}.000000001`, retryable, n],
    );
  for (const [n, state] of ["unknown", "claimed", "broadcast", "broadcast", "settled"].entries()) await add(n, state);
  // The holder of its claim is gone, and no other copy sends it.
  await add(9, "claimed", true);
  const statesOf = async (query: Record<string, string>) => (await list(db, query)).map(({ status }) => status);
  expect(await statesOf({ status: "in_progress" })).toEqual(["claimed", "broadcast", "broadcast"]);
  expect(await statesOf({ status: "unknown" })).toEqual(["unknown"]);
  expect(await statesOf({ status: "unknown", payer: alice })).toEqual([]);
  expect(await statesOf({ status: "in_progress", network: "eip155:8453" })).toEqual([]);
  expect(await statesOf({ payer: carol })).toEqual(["settled"]);
  const context = recordNeeds(db, environmentOf);
  const page = (cursor: Record<string, string>) =>
    transactions(
      context,
      readQuery(transactionsQuery, { env: "mainnet", status: "in_progress", limit: "2", ...cursor }),
    );
  const first = await page({});
  const second = await page({ cursor: first.cursor ?? "" });
  expect([first.transactions.length, second.transactions.length, second.cursor]).toEqual([2, 1, null]);
  expect(second.transactions[0]).toMatchObject({ tx_id: "0.0.5@3.000000001", total_ms: expect.any(Number) });
});

test("payments that have not ended and those that have are paged in one order, each seen once, however many of either there are", async ({
  db,
}) => {
  const [network, each, at] = ["eip155:137", 70, Date.now()];
  // Two of one kind, then two of the other, so that pages end after either.
  const moment = (n: number, other: number) => new Date(at - (4 * Math.floor(n / 2) + (n % 2) + other) * 1_000);
  const record = {
    network,
    kind: "settle",
    status: "settled",
    payer: bob,
    amount: 1n,
    totalMs: 5,
    payTo: carol,
  } as const;
  await insertRecords(
    db,
    Array.from({ length: each }, (_, n) => ({ ...record, createdAt: moment(n, 0) })),
  );
  await db.query(
    `insert into payments (network, payment_key, state, claim_token, scheme, payer, pay_to, asset, amount_atomic, transaction_id,
                           expires_at, lease_until, created_at)
     select $1, 'open' || moment, 'unknown', gen_random_uuid(), 'exact', $2, $3, '0x1', 7, 'open' || moment, now(), now(), moment
       from unnest($4::timestamptz[]) as m (moment)`,
    [network, bob, carol, Array.from({ length: each }, (_, n) => moment(n, 2))],
  );
  const seen: string[] = [];
  let [pages, cursor]: [number, string | null] = [0, ""];
  for (; cursor !== null && pages < 20; pages += 1) {
    const asked = readQuery(transactionsQuery, { env: "mainnet", network, limit: "25", cursor });
    const page = await allTransactions(recordNeeds(db, environmentOf), asked);
    expect(page.transactions.length).toBeLessThanOrEqual(25);
    seen.push(...page.transactions.map(({ created_at: one, status }) => `${one} ${status}`));
    cursor = page.cursor;
  }
  expect([seen.length, new Set(seen).size, pages]).toEqual([2 * each, 2 * each, 6]);
  expect(seen).toEqual(seen.toSorted().toReversed());
  expect(seen.filter((one) => one.endsWith("unknown"))).toHaveLength(each);
});

test("a page looks at so many records at most: what fits is found further on, once and in order", async ({ db }) => {
  const many = lookedAtMax * 2 + 50;
  const at = Date.now() - 86_400_000;
  const record = { network: "eip155:10", kind: "settle", amount: 1n, totalMs: 5, payTo: bob } as const;
  await insertRecords(
    db,
    Array.from({ length: many }, (_, n) => ({
      ...record,
      status: n % 7 === 3 ? "failed" : "settled",
      // Of these few fit.
      payer: n % 700 === 5 ? "0.0.777" : "0.0.778",
      createdAt: new Date(at - Math.floor(n / 2)),
    })),
  );
  const context = recordNeeds(db, environmentOf);
  const seen: string[] = [];
  let pages = 0;
  for (let cursor: string | null = ""; cursor !== null && pages < 50; pages += 1) {
    const asked = readQuery(transactionsQuery, {
      env: "mainnet",
      pay_to: bob,
      network: "eip155:10",
      cursor,
      limit: "100",
    });
    const page = await transactions(context, asked);
    seen.push(...page.transactions.map(({ created_at: moment, payer }) => `${moment} ${payer}`));
    cursor = page.cursor;
  }
  expect(seen).toHaveLength(many);
  const moments = seen.map((one) => one.slice(0, 24));
  expect(moments).toEqual(moments.toSorted().toReversed());
  const few: string[] = [];
  pages = 0;
  for (let cursor: string | null = ""; cursor !== null && pages < 50; pages += 1) {
    // By payee, as nothing narrows it further: the payer's own index would find them at once.
    const asked = readQuery(transactionsQuery, { env: "mainnet", pay_to: bob, resource: shop, cursor });
    const page = await transactions(context, asked);
    few.push(...page.transactions.map(({ resource_url: url }) => String(url)));
    cursor = page.cursor;
  }
  expect(few.filter((url) => url === shop)).toHaveLength(3);
  expect(few).toHaveLength(3);
  expect(pages).toBeGreaterThan(1);
});
