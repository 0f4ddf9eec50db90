import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { seedAgents, startAgentsGround } from "../drills/agents.ts";
import { tableOf } from "../drills/report.ts";
import { callsTo } from "../support/facilitator.ts";
import { Service } from "../support/service.ts";
import { evmPayment } from "./soak/payments.ts";
import { startWorld } from "./soak/world.ts";

const payments = 400;
const reads = 200;
const idleMs = 5_000;

/**
 * What a payment and a read of the catalogue write: bytes of log, commits, rows changed, share of updates in place, bytes that stay.
 * What the services write while nobody calls is measured first and taken off.
 */
export async function benchBytes(): Promise<void> {
  const world = await startWorld({ blocksEverySecond: false });
  const ground = await startAgentsGround();
  const facilitator = await Service.start("facilitator", world.variables);
  const databaseUrl = await world.createDatabase("marketplace");
  const variables = ground.variables(world, databaseUrl, facilitator.url);
  const marketplace = await Service.start("marketplace", variables);
  const { key } = await seedAgents(variables, ground.slowUrl);
  const server = new pg.Client({ connectionString: world.databaseUrl });
  await server.connect();
  const market = new pg.Client({ connectionString: databaseUrl });
  await market.connect();
  try {
    const pay = async () => {
      const payment = await evmPayment(world.buyers[0]!, world.terms);
      const { verify, settle } = callsTo(facilitator.url);
      await verify(payment.body);
      const { body } = await settle(payment.body);
      if (body.success !== true) throw new Error(JSON.stringify(body));
    };
    await repeat(40, pay);
    await server.query("checkpoint");
    const withPages = await measure(server, () => repeat(payments, pay));
    await server.query("alter system set full_page_writes = off");
    await server.query("select pg_reload_conf()");
    await pause(500);
    const recordsAlone = await measure(server, () => repeat(payments, pay));
    const read = async (url: string, headers: Record<string, string> = {}) => {
      const answer = await fetch(url, { headers });
      await answer.arrayBuffer();
      if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
    };
    const listings = await measure(server, () => repeat(reads, () => read(`${facilitator.url}/discovery/resources`)));
    const agents = await measure(market, () =>
      repeat(reads, () => read(`${marketplace.url}/api/v1/agents`, { authorization: `Bearer ${key}` })),
    );
    const stored = await storedOf(server);
    const row = (what: string, { bytes, records, commits, changed, inPlace }: Written, times: number) => [
      what,
      (bytes / times).toFixed(0),
      (records / times).toFixed(1),
      (commits / times).toFixed(2),
      (changed / times).toFixed(2),
      inPlace,
    ];
    process.stdout.write(
      `\nWhat a call writes\n${tableOf(
        ["call", "log bytes", "log records", "commits", "rows changed", "updates in place"],
        [
          row("verify and settle, EVM", withPages, payments),
          row("the same without page images", recordsAlone, payments),
          row("a page of /discovery/resources", listings, reads),
          row("a page of /api/v1/agents with a key", agents, reads),
        ],
      )}\nstays of a payment: ${stored}\nwanted: ≤ 5,000 bytes of records, ≥ 80 % in place, 0 rows changed by a read\n`,
    );
  } finally {
    await Promise.all([server.end(), market.end()]);
    await Promise.all([facilitator.stop(), marketplace.stop()]);
    await ground.stop();
    await world.stop();
  }
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

/** Of the database that `client` is connected to; the log is the whole server's. */
async function measure(client: pg.Client, work: () => Promise<void>): Promise<Written> {
  const idle = await difference(client, () => pause(idleMs));
  const startedAt = performance.now();
  const busy = await difference(client, work);
  const share = (performance.now() - startedAt - flushMs) / (idleMs + flushMs);
  const net = (name: keyof Counted) => Math.max(0, busy[name] - idle[name] * share);
  const updates = busy.updated - idle.updated * share;
  return {
    bytes: net("bytes"),
    records: net("records"),
    commits: net("commits"),
    changed: net("changed"),
    inPlace: updates < 1 ? "–" : `${Math.round((100 * net("hot")) / updates)} %`,
  };
}

type Counted = Record<"bytes" | "records" | "commits" | "changed" | "updated" | "hot", number>;

/** Backends report what they counted when they have been idle for a while. */
const flushMs = 2_000;

async function difference(client: pg.Client, work: () => Promise<unknown>): Promise<Counted> {
  const before = await counts(client);
  await work();
  await pause(flushMs);
  const after = await counts(client);
  return Object.fromEntries(
    Object.entries(after).map(([name, value]) => [name, value - before[name as keyof Counted]]),
  ) as Counted;
}

async function counts(client: pg.Client): Promise<Counted> {
  await client.query("select pg_stat_clear_snapshot()");
  const { rows } = await client.query(`
    select w.wal_bytes::float8 as bytes, w.wal_records::float8 as records, d.xact_commit::float8 as commits,
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
