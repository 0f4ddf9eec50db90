import type { Database } from "./postgres.ts";

/** How often a service analyzes its grown tables. */
export const analyzeEveryMs = 5_000;

/**
 * Runs ANALYZE on the tables that have grown by half since the last time. PostgreSQL plans by the statistics of the last
 * ANALYZE and keeps its plans. Autovacuum analyzes only once a minute; until then a table that was empty is planned as
 * an empty one, and is read from end to end however many rows have come. Rows that change in place are left to autovacuum:
 * a table whose few rows change all the time would be analyzed every time.
 */
export async function analyzeGrownTables(db: Database): Promise<void> {
  const { rows } = await db.query<{ name: string }>(
    `select format('%I.%I', s.schemaname, s.relname) as name
       from pg_stat_user_tables s join pg_class c on c.oid = s.relid
      where s.n_mod_since_analyze > 500 and s.n_live_tup > 1.5 * greatest(c.reltuples, 0)`,
  );
  for (const { name } of rows) await db.query(`analyze (skip_locked) ${name}`);
}
