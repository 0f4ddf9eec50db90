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
import { type LocalPostgres, startPostgres } from "../../infra/dev/postgres.ts";
import { migrate } from "../../shared/migrate.ts";
import { environmentOf } from "../../shared/networks.ts";
import { connect, type Database } from "../../shared/postgres.ts";
import { recordNeeds } from "../support/records.ts";
import { fillRecord } from "./record-fill.ts";
import { measurePages, printPages } from "./record-pages.ts";

const calls = 41;
const listings = 20_000;
const proved = 50_000;
/** Ten million records are one statement. */
const statementMs = 3_600_000;

/**
 * The public record's queries over a growing record: the median time of each, and how many pages it touches, which
 * no noise of the machine can hide; then each page over HTTP. `--large` goes on to ten million; `--data=<directory>` keeps the
 * databases there for the next time.
 */
export async function benchFacilitatorRecord(): Promise<void> {
  const sizes = [10_000, 1_000_000, ...(process.argv.includes("--large") ? [10_000_000] : [])];
  const kept = process.argv.find((word) => word.startsWith("--data="))?.slice("--data=".length);
  const directory = kept ?? (await mkdtemp(join(tmpdir(), "bench-")));
  const postgres = await startPostgres({ directory: join(directory, "postgres"), durable: false });
  try {
    if (!kept) await proveFill(postgres);
    const columns: Measured[][] = [];
    for (const size of sizes) {
      const url = await filled(postgres, size);
      columns.push(await withDatabase(url, (db) => measureAll(db)));
      printPages(await withDatabase(url, (db) => measurePages(db, url)));
    }
    print(sizes, columns);
  } finally {
    await postgres.stop();
    if (!kept) await rm(directory, { recursive: true, force: true });
  }
}

/** One connection, so that the pages counted between two questions are those of the question. */
export async function withDatabase<T>(url: string, work: (db: Database) => Promise<T>): Promise<T> {
  const db = connect(url, { poolMax: 1, applicationName: "bench", givesUpAfterMs: statementMs });
  return work(db).finally(() => db.end());
}

/** The URL of a database with so many records, which is made where there is none. */
export async function filled(postgres: LocalPostgres, size: number): Promise<string> {
  const name = `record_${size}`;
  const isFilled = await withDatabase(postgres.urlOf("postgres"), async (db) => {
    const { rows } = await db.query(
      "select shobj_description(oid, 'pg_database') as is from pg_database where datname = $1",
      [name],
    );
    if (rows[0] && rows[0].is !== "filled") await db.query(`drop database ${name}`);
    return rows[0]?.is === "filled";
  });
  const url = await postgres.createDatabase(name);
  const startedAt = performance.now();
  await migrate(url, migrations);
  if (isFilled) return url;
  await withDatabase(url, async (db) => {
    await prepare(db);
    await fillRecord(db, size);
    await refreshDailyFigures(db, environmentOf, new AbortController().signal);
    await db.query("vacuum analyze");
    await db.query(`comment on database ${name} is 'filled'`);
  });
  process.stdout.write(`${size} records after ${seconds(performance.now() - startedAt)}\n`);
  return url;
}

/** Fills two databases, one by the daemon's own jobs: all that is added up must be the same. */
async function proveFill(postgres: LocalPostgres): Promise<void> {
  const tables = [
    "accounts",
    "paid_pairs",
    "daily_settlements",
    "daily_settle_times",
    "daily_settle_spans",
    "daily_figures",
  ];
  tables.push("payer_days", "payers_by_last_day", "daily_reasons", "listing_days", "listing_wallets");
  const digests: string[] = [];
  const until = new Date();
  for (const addedUp of [false, true]) {
    const url = await postgres.createDatabase(`proved_${addedUp ? "at_once" : "by_jobs"}`);
    await migrate(url, migrations);
    await withDatabase(url, async (db) => {
      await prepare(db);
      await fillRecord(db, proved, { addedUp, until });
      if (!addedUp) await addUpByJob(db);
      // Days that a payer's last payment moved on from stay, with no payer in them.
      await db.query("delete from payers_by_last_day where payers = 0");
      await refreshDailyFigures(db, environmentOf, new AbortController().signal);
      // How often self-payments changed is no figure, and depends on the order in which they came.
      await db.query("update daily_figures set self_counted = 0");
      for (const table of tables) digests.push(await digestOf(db, table));
    });
  }
  const differing = tables.filter((_, at) => digests[at] !== digests[at + tables.length]);
  if (differing.length > 0)
    throw new Error(`filled at once differs from what the jobs add up: ${differing.join(", ")}`);
}

/** Of all rows, in one order; two empty tables would prove nothing. */
async function digestOf(db: Database, table: string): Promise<string> {
  const { rows } = await db.query(
    `select count(*), md5(string_agg(t::text, e'\\n' order by t::text collate "C")) from ${table} t`,
  );
  if (rows[0].count === "0") throw new Error(`nothing was added up in ${table}`);
  return rows[0].md5;
}

async function addUpByJob(db: Database): Promise<void> {
  const startedAt = performance.now();
  let counted = 0;
  for (let taken = await rollUp(db, environmentOf); taken > 0; taken = await rollUp(db, environmentOf))
    counted += taken;
  const perSecond = counted / ((performance.now() - startedAt) / 1_000);
  process.stdout.write(`${counted} settlements added up by the job, ${Math.round(perSecond)} a second\n`);
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
     select r.id, 'exact', 'eip155:8453', '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913', wallet,
            json_build_object('scheme', 'exact', 'network', 'eip155:8453', 'amount', (1000 + r.id * 7)::text,
                              'asset', '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
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
  await addUpByJob(db);
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
