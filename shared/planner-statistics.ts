import type { Database } from "./postgres.ts";

/** How often a service analyzes its grown tables. */
export const analyzeEveryMs = 5_000;

/**
 * Runs ANALYZE on the tables of which half is new since the last time. PostgreSQL plans by the statistics of the last
 * ANALYZE and keeps its plans. Autovacuum analyzes only once a minute; until then a table that was empty is planned as
 * an empty one, and is read from end to end however many rows have come.
 */
export async function analyzeGrownTables(db: Database): Promise<void> {
  const { rows } = await db.query<{ name: string }>(
    `select format('%I.%I', schemaname, relname) as name from pg_stat_user_tables
      where n_mod_since_analyze > 500 and n_mod_since_analyze > n_live_tup / 2`,
  );
  for (const { name } of rows) await db.query(`analyze (skip_locked) ${name}`);
}
