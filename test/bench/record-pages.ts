import { parseEther } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { startEvmChain } from "../../infra/local-evm/chain.ts";
import type { Database } from "../../shared/postgres.ts";
import { spawnFacilitator } from "../support/facilitator.ts";

const calls = 61;
const wantedMs = 50;

/** How long a page took from request to last byte, and what it made the database read row by row. */
export interface MeasuredPage {
  readonly what: string;
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** Tables of which it read more rows without an index than a page could show. */
  readonly scanned: string;
}

/** Every page of the record, as a browser asks for it, over HTTP. What is wanted of each: p95 within 50 ms. */
export async function measurePages(db: Database, databaseUrl: string): Promise<readonly MeasuredPage[]> {
  return withFacilitator(databaseUrl, async (url) => {
    const rows: MeasuredPage[] = [];
    for (const path of await pathsOf(db)) rows.push(await measure(db, url, path));
    return rows;
  });
}

/** A daemon on a record, with a chain of its own. */
export async function withFacilitator<T>(databaseUrl: string, work: (url: string) => Promise<T>): Promise<T> {
  const chain = await startEvmChain();
  const signer = generatePrivateKey();
  await chain.fund(privateKeyToAddress(signer), { wei: parseEther("1") });
  const facilitator = await spawnFacilitator({
    FACILITATOR_DATABASE_URL: databaseUrl,
    EIP155_84532_RPC_URL: chain.rpcUrl,
    EIP155_84532_SIGNERS: signer,
    LIMIT_READ_PER_ADDRESS: "0",
  });
  try {
    return await work(facilitator.url);
  } finally {
    await facilitator.stop();
    await chain.stop();
  }
}

/** An account, a resource and a payment that are there, and the busiest of each. */
export async function foundIn(db: Database): Promise<Readonly<Record<FoundName, string>>> {
  const { rows } = await db.query(`
    select (select account from accounts order by paid desc limit 1) as payer,
           (select account from accounts order by received desc limit 1) as payee,
           (select resource_url from transactions where resource_url is not null and network = 'eip155:8453' and status = 'settled' order by created_at desc limit 1) as url,
           (select id from discovery_resources order by key limit 1) as resource,
           (select transaction_id from payments order by id desc limit 1) as transaction,
           (select (extract(epoch from created_at) * 1000000)::bigint || '.' || id from transactions
             where network = 'eip155:8453' and status = 'settled' order by created_at limit 1 offset 200) as place`);
  return rows[0];
}

type FoundName = "payer" | "payee" | "url" | "resource" | "transaction" | "place";

async function pathsOf(db: Database): Promise<readonly string[]> {
  const { payer, payee, url, resource, transaction, place } = await foundIn(db);
  const in365 = "?env=mainnet&days=365";
  return [
    "/?env=mainnet",
    `/${in365}`,
    `/${in365}&self=hide`,
    `/${in365}&network=hedera:mainnet`,
    "/payees?env=mainnet",
    "/payees?env=mainnet&sort=volume",
    "/payees?env=mainnet&sort=payers",
    "/payees?env=mainnet&self=hide",
    "/transactions?env=mainnet",
    "/transactions?env=mainnet&limit=100",
    "/transactions?env=mainnet&status=failed&network=hedera:mainnet",
    "/transactions?env=mainnet&status=unknown",
    "/transactions?env=mainnet&self=hide",
    "/transactions?env=mainnet&until=2026-03-01",
    `/transactions?env=mainnet&payer=${payer}`,
    `/transactions?env=mainnet&pay_to=${payee}&status=failed`,
    `/transactions?env=mainnet&pay_to=${payee}&payer=0x00`,
    `/transactions?env=mainnet&resource=${encodeURIComponent(url)}`,
    // Filters that exclude each other: little or nothing fits of much that is looked through.
    `/transactions?env=testnet&pay_to=${payee}`,
    `/transactions?env=mainnet&pay_to=${payee}&network=eip155:1`,
    `/transactions?env=mainnet&pay_to=${payee}&resource=https://none.example.com/`,
    `/transactions?env=mainnet&payer=${payer}&pay_to=0x00&until=2026-06-01`,
    `/transactions?env=mainnet&resource=${encodeURIComponent(url)}&network=hedera:testnet`,
    "/transactions?env=mainnet&network=hedera:mainnet&status=rejected&since=2020-01-01&until=2020-01-02",
    "/transactions?env=mainnet&self=hide&status=settled&until=2026-03-01",
    `/transactions?env=mainnet&cursor=${Buffer.from(place).toString("base64url")}`,
    `/payers/${payer}?env=mainnet`,
    `/payees/${payee}?env=mainnet`,
    `/tx/${transaction}`,
    "/resources?env=mainnet",
    "/resources?env=mainnet&q=weather",
    "/resources?env=mainnet&sort=price&price=0.1",
    "/resources?env=mainnet&from=2000",
    `/resources/${resource}?env=mainnet`,
    "/status?env=testnet",
    "/health?env=testnet",
    "/docs?env=testnet",
  ];
}

async function measure(db: Database, url: string, path: string): Promise<MeasuredPage> {
  const ask = async () => {
    const answer = await fetch(url + path, { headers: { accept: "text/html" } });
    await answer.text();
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
  };
  for (let warm = 0; warm < 7; warm += 1) await ask();
  const before = await rowsScanned(db);
  const times: number[] = [];
  for (let call = 0; call < calls; call += 1) {
    const startedAt = performance.now();
    await ask();
    times.push(performance.now() - startedAt);
  }
  const after = await rowsScanned(db);
  const scanned = [...after].flatMap(([table, rows]) => {
    const perCall = Math.round((rows - (before.get(table) ?? 0)) / calls);
    return perCall > rowsAPageMax ? [`${table} ${perCall}`] : [];
  });
  times.sort((one, other) => one - other);
  const at = (share: number) => times[Math.ceil(share * calls) - 1] ?? 0;
  return { what: path, p50Ms: at(0.5), p95Ms: at(0.95), scanned: scanned.join(", ") };
}

/** The small tables of days are read whole on purpose. */
const rowsAPageMax = 5_000;

async function rowsScanned(db: Database): Promise<ReadonlyMap<string, number>> {
  // Each connection of the daemon tells what it read a second after at the latest.
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  await db.query("select pg_stat_clear_snapshot()");
  const { rows } = await db.query("select relname, seq_tup_read::float8 as rows from pg_stat_user_tables");
  return new Map(rows.map(({ relname, rows: read }) => [relname, read]));
}

export function printPages(pages: readonly MeasuredPage[]): void {
  const width = Math.max(...pages.map(({ what }) => what.length));
  const lines = pages.map(({ what, p50Ms, p95Ms, scanned }) => {
    const verdict = p95Ms <= wantedMs ? "" : "  too slow";
    return `${what.padEnd(width)}  p50 ${p50Ms.toFixed(1)} ms  p95 ${p95Ms.toFixed(1)} ms${verdict}${scanned && `  scans ${scanned}`}`;
  });
  process.stdout.write(`\nIts pages, over HTTP; wanted p95 ≤ ${wantedMs} ms\n${lines.join("\n")}\n`);
}
