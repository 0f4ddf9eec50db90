import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { seedAgents, startAgentBackends } from "../drills/agents.ts";
import { tableOf } from "../drills/report.ts";
import { callsTo } from "../support/facilitator.ts";
import { Service } from "../support/service.ts";
import { hasValkey, Valkey } from "../support/valkey.ts";
import { LoggedByTable } from "./logged-by-table.ts";
import { evmPayment } from "./soak/payments.ts";
import { startWorld, type World } from "./soak/world.ts";

const payments = 400;
const reads = 400;

/** After this long without a statement a backend has reported what it counted (PGSTAT_IDLE_INTERVAL is ten seconds). */
const reportedMs = 11_000;
const idleMs = 30_000;

/**
 * What a payment and a read of the catalogue write: bytes of log, commits, rows changed, share of updates in place, bytes that stay.
 * What the services write without any call is measured first and taken off.
 */
export async function benchBytes(): Promise<void> {
  const world = await startWorld({ blocksEverySecond: false });
  const backends = await startAgentBackends();
  const stops: Array<() => Promise<unknown>> = [() => world.stop(), () => backends.stop()];
  try {
    const facilitator = await Service.start("facilitator", world.variables);
    stops.push(() => facilitator.kill());
    const databaseUrl = await world.createDatabase("marketplace");
    const variables = backends.variables(world, databaseUrl, facilitator.url);
    const marketplace = await Service.start("marketplace", variables);
    stops.push(() => marketplace.kill());
    const { key } = await seedAgents(variables, backends.slowUrl);
    const server = await connect(world.databaseUrl, stops);
    const market = await connect(databaseUrl, stops);
    const rows = [
      ...(await paymentsOf(server, world, facilitator.url)),
      ...(await readsOf(server, market, [facilitator, marketplace], key)),
    ];
    if (hasValkey) {
      const valkey = await Valkey.start();
      stops.push(() => valkey.kill());
      await marketplace.kill();
      const counting = await Service.start("marketplace", { ...variables, REDIS_URL: valkey.url });
      stops.push(() => counting.kill());
      rows.push(await agentsOf(market, counting, key, "the same, counted in a Valkey"));
    }
    const header = ["call", "log bytes", "log records", "commits", "rows changed", "updates in place"];
    process.stdout.write(
      `\nWhat a call writes\n${tableOf(header, rows)}\nstays of a payment: ${await storedOf(server)}\n${"wanted: ≤ 5,000 bytes of records, ≥ 80 % in place, 0 rows changed by a read\n"}`,
    );
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
}

async function connect(connectionString: string, stops: Array<() => Promise<unknown>>): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  stops.push(() => client.end());
  return client;
}

async function paymentsOf(server: pg.Client, world: World, url: string): Promise<string[][]> {
  const { verify, settle } = callsTo(url);
  const pay = async () => {
    const { body } = await evmPayment(world.buyers[0]!, world.terms);
    await verify(body);
    let { body: answer } = await settle(body);
    // On a machine that does more than this, a block can take longer than a caller waits.
    while (answer.errorReason === "settlement_pending") ({ body: answer } = await settle(body));
    if (answer.success !== true) throw new Error(JSON.stringify(answer));
  };
  await repeat(40, pay);
  // Vacuum comes when it comes: it is a row of its own.
  await set(server, "autovacuum", "off");
  await server.query("checkpoint");
  const withPages = await measure(server, () => repeat(payments, pay));
  await set(server, "full_page_writes", "off");
  const logged = new LoggedByTable(server);
  const recordsAlone = await measure(server, () => logged.while(() => repeat(payments, pay)));
  const vacuum = await measure(server, () => server.query("vacuum"));
  await logged.print(payments);
  return [
    rowOf("verify and settle, EVM", withPages, payments),
    rowOf("the same without page images", recordsAlone, payments),
    rowOf("vacuum after it", vacuum, 2 * payments),
  ];
}

async function readsOf(
  server: pg.Client,
  market: pg.Client,
  [facilitator, marketplace]: readonly [Service, Service],
  key: string,
) {
  const listings = await measure(server, () => repeat(reads, () => read(`${facilitator.url}/discovery/resources`)));
  return [
    rowOf("a page of /discovery/resources", listings, reads),
    await agentsOf(market, marketplace, key, "a page of /api/v1/agents with a key"),
  ];
}

async function agentsOf(market: pg.Client, { url }: Service, key: string, name: string): Promise<string[]> {
  const page = () => read(`${url}/api/v1/agents`, { authorization: `Bearer ${key}` });
  return rowOf(name, await measure(market, () => repeat(reads, page)), reads);
}

async function read(url: string, headers: Record<string, string> = {}): Promise<void> {
  const answer = await fetch(url, { headers });
  await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
}

function rowOf(what: string, { bytes, records, commits, changed, inPlace }: Written, times: number): string[] {
  const each = [
    (bytes / times).toFixed(0),
    (records / times).toFixed(1),
    (commits / times).toFixed(2),
    (changed / times).toFixed(2),
  ];
  return [what, ...each, inPlace];
}

async function set(server: pg.Client, name: string, value: string): Promise<void> {
  await server.query(`alter system set ${name} = ${value}`);
  await server.query("select pg_reload_conf()");
  while ((await server.query(`show ${name}`)).rows[0][name] !== value) await pause(50);
}

interface Written {
  readonly bytes: number;
  readonly records: number;
  readonly commits: number;
  readonly changed: number;
  readonly inPlace: string;
}

async function repeat(times: number, work: () => Promise<void>): Promise<void> {
  for (let done = 0; done < times; done += 8) {
    await Promise.all(Array.from({ length: Math.min(8, times - done) }, work));
  }
}

/**
 * Of the database that `client` is connected to; the log is the whole server's, by its position and not by what backends report. What is done
 * for a call after its answer counts, too.
 */
async function measure(client: pg.Client, work: () => Promise<unknown>): Promise<Written> {
  await pause(reportedMs);
  const idle = await difference(client, () => pause(idleMs));
  const busy = await difference(client, work);
  const net = (name: keyof Counted) => Math.max(0, busy[name] - (idle[name] * busy.ms) / idle.ms);
  return {
    bytes: net("bytes"),
    records: net("records"),
    commits: net("commits"),
    changed: net("changed"),
    inPlace: net("updated") < 1 ? "–" : `${Math.round((100 * net("hot")) / net("updated"))} %`,
  };
}

type Counted = Record<"ms" | "bytes" | "records" | "commits" | "changed" | "updated" | "hot", number>;

async function difference(client: pg.Client, work: () => Promise<unknown>): Promise<Counted> {
  const before = await counts(client);
  await work();
  await pause(reportedMs);
  const after = await counts(client);
  return Object.fromEntries(
    Object.entries(after).map(([name, value]) => [name, value - before[name as keyof Counted]]),
  ) as Counted;
}

async function counts(client: pg.Client): Promise<Counted> {
  await client.query("select pg_stat_clear_snapshot()");
  const { rows } = await client.query(`
    select extract(epoch from clock_timestamp())::float8 * 1000 as ms, (pg_current_wal_insert_lsn() - '0/0')::float8 as bytes,
           w.wal_records::float8 as records, d.xact_commit::float8 as commits,
           (d.tup_inserted + d.tup_updated + d.tup_deleted)::float8 as changed,
           (select sum(n_tup_upd)::float8 from pg_stat_user_tables) as updated,
           (select sum(n_tup_hot_upd)::float8 from pg_stat_user_tables) as hot
      from pg_stat_wal w, pg_stat_database d where d.datname = current_database()`);
  return rows[0];
}

async function storedOf(client: pg.Client): Promise<string> {
  await client.query("vacuum payments, transactions");
  const { rows } = await client.query(`
    select name, (pg_total_relation_size(name::regclass) / greatest(n, 1))::int as bytes
      from (values ('payments', (select count(*) from payments)), ('transactions', (select count(*) from transactions))) as t (name, n)`);
  return rows.map(({ name, bytes }) => `${name} ${bytes} B with its indexes`).join(", ");
}
