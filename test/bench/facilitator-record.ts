import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KeptTotals } from "../../facilitator/discovery/kept-totals.ts";
import { listingQuery, listResources } from "../../facilitator/discovery/listing.ts";
import { searchQuery, searchResources } from "../../facilitator/discovery/search.ts";
import { readQuery } from "../../facilitator/http/query.ts";
import { migrations } from "../../facilitator/migrations/all.ts";
import { overview } from "../../facilitator/overview.ts";
import { payment, paymentQuery } from "../../facilitator/payments.ts";
import { refreshDailyFigures } from "../../facilitator/settlements/daily-figures.ts";
import { rollUp } from "../../facilitator/settlements/rollup.ts";
import { stats, statsQuery } from "../../facilitator/stats.ts";
import { transactions, transactionsQuery } from "../../facilitator/transactions.ts";
import { startPostgres } from "../../infra/dev/postgres.ts";
import { migrate } from "../../shared/migrate.ts";
import { environmentOf } from "../../shared/networks.ts";
import { connect, type Database } from "../../shared/postgres.ts";
import { recordNeeds } from "../support/records.ts";
import { measurePages, printPages } from "./record-pages.ts";

const calls = 41;
const listings = 20_000;

/**
 * The public record's queries over a growing record: the median time of each, and how many pages it touches, which
 * no noise of the machine can hide; then each page over HTTP. Records lie on 365 days and two networks, with a payer for every hundred.
 * `--large` goes on to ten million.
 */
export async function benchFacilitatorRecord(): Promise<void> {
  const sizes = [10_000, 1_000_000, ...(process.argv.includes("--large") ? [10_000_000] : [])];
  const directory = await mkdtemp(join(tmpdir(), "bench-"));
  const postgres = await startPostgres({ directory: join(directory, "postgres"), durable: false });
  const url = await postgres.createDatabase("facilitator");
  await migrate(url, migrations);
  // One connection, so that the pages counted between two questions are those of the question.
  const db = connect(url, { poolMax: 1, applicationName: "bench" });
  try {
    await prepare(db);
    const columns: Measured[][] = [];
    let held = 0;
    for (const size of sizes) {
      const startedAt = performance.now();
      await grow(db, held, size);
      const counted = await countAll(db);
      process.stdout.write(
        `${size} records after ${seconds(performance.now() - startedAt)}; ${Math.round(counted)} settlements a second added up\n`,
      );
      columns.push(await measureAll(db));
      printPages(await measurePages(db, url));
      held = size;
    }
    print(sizes, columns);
  } finally {
    await db.end();
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

interface Measured {
  readonly what: string;
  readonly p50Ms: number;
  readonly pages: number;
}

async function prepare(db: Database): Promise<void> {
  for (const table of ["transactions", "payments", "uncounted_settlements"]) {
    await db.query(`alter table ${table} set unlogged`);
  }
  await db.query(
    `insert into discovery_resources (key, resource, type, x402_version, description, service_name, tags, bazaar, words, last_settled_at)
     select 'https://shop.example.com/' || n, 'https://shop.example.com/' || n, 'http', 2, words, 'Service ' || n, '{}',
            '{"info":{"input":{"type":"http"}},"schema":{}}', to_tsvector('english', words), now() - n * interval '1 minute'
       from generate_series(1, $1) n, lateral (select (array['weather','chess','translation','maps'])[1 + n % 4] || ' number ' || n as words) w`,
    [listings],
  );
  await db.query(
    `insert into discovery_accepts
     select r.id, 'exact', 'eip155:8453', '0xusdc', wallet,
            json_build_object('scheme', 'exact', 'network', 'eip155:8453', 'amount', (1000 + r.id * 7)::text, 'asset', '0xusdc',
                              'payTo', wallet, 'maxTimeoutSeconds', 60), '', now()
       from discovery_resources r cross join lateral (
              values ('0xpayee' || r.id % 400), ('0x' || lpad(to_hex(r.id % 5000), 40, '0'))) as wallets (wallet)`,
  );
  await db.query("update discovery_resources set price_atomic = 1000 + id * 7");
  await db.query(
    `insert into payments (network, payment_key, state, claim_token, scheme, payer, pay_to, asset, amount_atomic, transaction_id,
                           expires_at, lease_until)
     select 'hedera:mainnet', 'open' || n, 'unknown', gen_random_uuid(), 'exact', '0.0.7', '0.0.9', '0xusdc', 1000,
            '0.0.5@' || n || '.000000001', now(), 'infinity' from generate_series(1, 500) n`,
  );
}

/** From `held` to `size` records; one in ten a refusal of /verify, one in twenty a failure. */
async function grow(db: Database, held: number, size: number): Promise<void> {
  for (let from = held; from < size; from += 100_000) {
    const to = Math.min(size, from + 100_000);
    await db.query(
      `insert into transactions (network, status, kind, payer, pay_to, asset, amount_atomic, resource_url, tx_id, total_ms, created_at)
       select case when n % 3 = 0 then 'hedera:mainnet' else 'eip155:8453' end,
              case when n % 10 = 0 then 'rejected' when n % 20 = 1 then 'failed' else 'settled' end,
              case when n % 10 = 0 then 'verify' else 'settle' end,
              '0x' || lpad(to_hex(hashint8(n) & ($3 / 100 - 1 | 127)), 40, '0'), '0x' || lpad(to_hex(n % 5000), 40, '0'), '0xusdc',
              1000 + n % 1000000, 'https://shop.example.com/' || n % 5000, '0x' || lpad(to_hex(n), 64, '0'),
              (300 + 3000 * -ln(1 - (hashint8(n) & 65535) / 65536.0))::int,
              now() - ((hashint8(n + 1) & 2147483647) % 31500000) * interval '1 second'
         from generate_series($1::bigint, $2::bigint) n`,
      [from + 1, to, 2 ** Math.ceil(Math.log2(size))],
    );
    await db.query(
      `insert into payments (network, payment_key, state, claim_token, scheme, payer, pay_to, asset, amount_atomic,
                             transaction_id, expires_at, lease_until, finished_at)
       select 'eip155:8453', 'key' || n, 'settled', '00000000-0000-0000-0000-000000000000', 'exact', '0xpayer', '0xpayee',
              '0xusdc', 1000, '0x' || lpad(to_hex(n), 64, '0'), now(), now(), now()
         from generate_series($1::bigint, $2::bigint) n`,
      [from + 1, to],
    );
  }
}

/** Settlements a second. */
async function countAll(db: Database): Promise<number> {
  const startedAt = performance.now();
  let counted = 0;
  for (let taken = await rollUp(db, environmentOf); taken > 0; taken = await rollUp(db, environmentOf))
    counted += taken;
  const perSecond = counted / ((performance.now() - startedAt) / 1_000);
  await refreshDailyFigures(db, environmentOf, new AbortController().signal);
  // What the payments above hold is no part of the record, and jobs of the daemon would read it.
  await db.query("truncate payment_holds, payers_in_flight");
  await db.query("vacuum analyze");
  return perSecond;
}

async function measureAll(db: Database): Promise<Measured[]> {
  const context = recordNeeds(db, environmentOf);
  const statsOf = (query: object) => stats(context, readQuery(statsQuery, { env: "mainnet", ...query }));
  const overviewOf = (days: number, withoutSelf = false) =>
    overview(context, { env: "mainnet", network: undefined, days, withoutSelf });
  const list = (query: object) => transactions(context, readQuery(transactionsQuery, { env: "mainnet", ...query }));
  const place = await db.query(
    "select (extract(epoch from created_at) * 1000000)::bigint || '.' || id as place from transactions where network = 'eip155:8453' and status = 'settled' order by created_at limit 1 offset 200",
  );
  const cursor = Buffer.from(place.rows[0].place).toString("base64url");
  const queries: Record<string, () => Promise<unknown>> = {
    "/stats": () => statsOf({}),
    "/stats?days=365": () => statsOf({ days: "365" }),
    "/stats?days=365&network=…": () => statsOf({ days: "365", network: "hedera:mainnet" }),
    "overview, 30 days": () => overviewOf(30),
    "overview, 365 days": () => overviewOf(365),
    "overview, 365 days without self-payments": () => overviewOf(365, true),
    "/transactions": () => list({}),
    "/transactions?limit=100&status=failed": () => list({ limit: "100", status: "failed" }),
    "/transactions?cursor=(the far end)": () => list({ cursor }),
    "/payments/{transaction}": () => payment(context, `0x${"0".repeat(60)}1234`, readQuery(paymentQuery, {})),
    [`/discovery/resources (${listings} listed)`]: () =>
      listResources({ db, totals: new KeptTotals() }, readQuery(listingQuery, {})),
    "/discovery/resources?payTo=…": () =>
      listResources({ db, totals: new KeptTotals() }, readQuery(listingQuery, { payTo: "0xpayee7" })),
    "/discovery/search?query=…": () =>
      searchResources(context, readQuery(searchQuery, { query: "the weather, number 17" })),
  };
  const rows: Measured[] = [];
  for (const [what, query] of Object.entries(queries)) rows.push(await measure(db, what, query));
  const uncounted = 20_000;
  await db.query(
    `insert into transactions (network, status, kind, payer, amount_atomic, total_ms)
     select 'eip155:8453', 'settled', 'settle', '0x' || n % 5000, 1000, n % 5000 from generate_series(1, $1::int) n`,
    [uncounted],
  );
  rows.push(await measure(db, `/stats?days=365, ${uncounted} not yet added up`, () => statsOf({ days: "365" })));
  await countAll(db);
  return rows;
}

async function measure(db: Database, what: string, query: () => Promise<unknown>): Promise<Measured> {
  for (let warm = 0; warm < 7; warm += 1) await query();
  const before = await pagesTouched(db);
  const times: number[] = [];
  for (let call = 0; call < calls; call += 1) {
    const startedAt = performance.now();
    await query();
    times.push(performance.now() - startedAt);
  }
  const pages = Math.round(((await pagesTouched(db)) - before) / calls);
  times.sort((a, b) => a - b);
  return { what, p50Ms: times[Math.floor(calls / 2)] ?? 0, pages };
}

async function pagesTouched(db: Database): Promise<number> {
  await db.query("select pg_stat_force_next_flush()");
  const { rows } = await db.query(
    "select blks_hit + blks_read as pages from pg_stat_database where datname = current_database()",
  );
  return Number(rows[0].pages);
}

function print(sizes: readonly number[], columns: ReadonlyArray<readonly Measured[]>): void {
  const header = ["query, p50 and pages touched", ...sizes.map((size) => `${size.toLocaleString("en")} records`)];
  const rows = (columns[0] ?? []).map(({ what }, index) => [
    what,
    ...columns.map((column) => `${column[index]?.p50Ms.toFixed(1)} ms  ${column[index]?.pages} pages`),
  ]);
  const widths = header.map((name, at) => Math.max(name.length, ...rows.map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  ");
  process.stdout.write(`\nThe facilitator's public record\n${[header, ...rows].map(line).join("\n")}\n`);
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
