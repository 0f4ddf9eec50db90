import type { Database } from "./postgres.ts";
import { startRounds } from "./rounds.ts";

/**
 * Has PostgreSQL count the tables of which half is new since it counted them. It plans by what it last counted and keeps
 * its plans; by itself it counts once a minute, and until then reads a table that was empty before from end to end,
 * however many rows have come.
 */
export function startCountingGrown(db: Database, failed: (error: unknown) => void): { stop(): Promise<void> } {
  return startRounds(() => countGrown(db), everyMs, failed);
}

const everyMs = 5_000;

async function countGrown(db: Database): Promise<void> {
  const { rows } = await db.query<{ name: string }>(
    `select format('%I.%I', schemaname, relname) as name from pg_stat_user_tables
      where n_mod_since_analyze > 500 and n_mod_since_analyze > n_live_tup / 2`,
  );
  for (const { name } of rows) await db.query(`analyze (skip_locked) ${name}`);
}
