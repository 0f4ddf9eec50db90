import { test as base, expect } from "vitest";
import { listAgents } from "../../marketplace/agents/list.ts";
import { listQuery } from "../../marketplace/agents/list-query.ts";
import { connect, type Database } from "../../shared/postgres.ts";
import { seedCatalog } from "../bench/marketplace/seed-catalog.ts";
import { freshDatabase } from "../support/postgres.ts";

const agents = 20_000;

// biome-ignore lint/correctness/noEmptyPattern: Vitest reads from the pattern which other fixtures this one takes
const test = base.extend("db", { scope: "file" }, async ({}, { onCleanup }) => {
  const url = await freshDatabase("marketplace");
  // One connection, which tells what it read.
  const db = connect(url, { poolMax: 1, applicationName: "large catalog" });
  onCleanup(() => db.end());
  await seedCatalog(db, url, agents);
  await db.query(withCommonWords);
  await db.query("vacuum analyze listings");
  return db;
});

/** One agent in fifty is for security, all of these on one connector; almost all have two words, every other one in its name. */
const withCommonWords = `
  update listings set
    category = case when for_security then 'security' else category end,
    connector = case when for_security then 'http-api' else connector end,
    facets = case when for_security then array_replace(facets, 'category:' || category, 'category:security') else facets end,
    search = search || (case when number % 2 = 0 then 'agent:1A' else 'agent:20B' end || ' data:21B')::tsvector
  from (select agent_id, substr(agent_id, 5)::integer as number, substr(agent_id, 5)::integer % 50 = 0 as for_security
        from listings where agent_id ~ '^agt_[0-9]+$') numbered
  where numbered.agent_id = listings.agent_id`;

async function list(db: Database, asked: object) {
  const before = await rowsRead(db);
  const page = await listAgents({ db, publicUrl: "https://market.example" }, listQuery.parse(asked));
  return { ...page, read: (await rowsRead(db)) - before };
}

/** Rows of the table that were read, not those that an index alone told. */
async function rowsRead(db: Database): Promise<number> {
  await db.query("select pg_stat_force_next_flush()");
  const { rows } = await db.query(
    "select (seq_tup_read + coalesce(idx_tup_fetch, 0))::integer as read from pg_stat_user_tables where relname = 'listings'",
  );
  return rows[0].read;
}

test.for([
  { connector: "llm", category: "security" },
  { connector: "llm", category: "security", sort: "most_run" },
  { connector: "llm,mcp-tool", category: "security", sort: "cheapest" },
  { connector: "llm", category: "security", per_call: "true", network: "eip155:8453,hedera:mainnet" },
])("of filters that exclude each other no agent is read: %j", async (asked, { db }) => {
  const { agents: listed, total, total_exact, cursor, read } = await list(db, asked);
  expect({ listed, total, total_exact, cursor }).toEqual({ listed: [], total: 0, total_exact: true, cursor: null });
  expect(read).toBeLessThan(50);
});

test.for([
  { connector: "http-api", category: "security" },
  { category: "security", max_price: "5" },
  { category: "security", min_price: "30", sort: "most_run" },
  { network: "eip155:8453,hedera:mainnet", category: "security", sort: "cheapest" },
  { tag: "tag-7", per_call: "true" },
  { creator: "maker-51", category: "security" },
  { q: "agent data", category: "security" },
])("few of many are found, counted and read to their end: %j", async (asked, { db }) => {
  const wanted = await matching(db, asked);
  expect(wanted.length).toBeGreaterThan(0);
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await list(db, {
      ...asked,
      ...(cursor && { cursor }),
      limit: "50",
      ...(asked.q && { sort: "newest" }),
    });
    expect([page.total, page.total_exact]).toEqual([wanted.length, true]);
    found.push(...page.agents.map(({ agent }) => agent));
    cursor = page.cursor ?? undefined;
  } while (cursor !== undefined);
  expect(found.toSorted()).toEqual(wanted);
});

/** What is wanted of every agent, looked at one by one. */
async function matching(db: Database, asked: Record<string, string>): Promise<string[]> {
  const { rows } = await db.query(
    `select handle || '/' || slug as agent from listings
     where ($1::text is null or connector = $1) and ($2::text is null or category = $2)
       and ($3::bigint is null or price_credits <= $3) and ($4::bigint is null or price_credits >= $4)
       and ($5::text[] is null or networks && $5) and ($6::text is null or $6 = any(tags))
       and ($7::boolean is null or per_call) and ($8::text is null or handle = $8)`,
    [
      ...[asked.connector, asked.category, asked.max_price, asked.min_price, asked.network?.split(",")],
      ...[asked.tag, asked.per_call, asked.creator],
    ],
  );
  return rows.map(({ agent }) => agent).toSorted();
}

test("of words that almost all agents have, those with the most in their name come first, of not all of them", async ({
  db,
}) => {
  const { agents: listed, total, total_exact } = await list(db, { q: "agent data", limit: "20" });
  expect([total, total_exact]).toEqual([2_500, false]);
  expect(listed.map(({ agent }) => Number(agent.split("-").at(-1)) % 2)).toEqual(Array(20).fill(0));
});

test.for([
  { q: "data", total: agents, exact: true },
  { q: "agent data", total: 2_500, exact: false },
  { q: "agent data", connector: "llm", total: 2_500, exact: false },
])("of words that almost all agents have the index of words is not read to its end: %j", async (asked, { db }) => {
  const { total: wanted, exact, ...query } = asked;
  const read = async () => {
    await db.query("select pg_stat_force_next_flush()");
    const { rows } = await db.query(
      "select sum(idx_tup_read)::integer as read from pg_stat_user_indexes i join pg_indexes d on d.indexname = i.indexrelname where i.relname = 'listings' and d.indexdef like '%USING gin (search%'",
    );
    return rows[0].read as number;
  };
  const before = await read();
  const { agents: listed, total, total_exact } = await list(db, { ...query, limit: "20" });
  expect([listed.length, total, total_exact]).toEqual([20, wanted, exact]);
  expect((await read()) - before).toBeLessThan(agents / 2);
});
