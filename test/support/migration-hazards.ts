import pg from "pg";
import type { Migration } from "../../shared/migrate.ts";

/**
 * What a migration would do to callers of a database that is in use: tables that were there and of which it reads or writes
 * rows, makes the files anew, or holds a lock while it does so. Tables of which there is never more than a page may be read and
 * written. The migration is run in a transaction that is rolled back.
 */
export async function hazardsOf(url: string, migration: Migration, small: ReadonlySet<string>): Promise<string[]> {
  if ("online" in migration) return migration.online.filter((statement) => !isOnline(statement));
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: before } = await client.query<{ oid: number; name: string; file: number | null }>(relations);
    await client.query("begin");
    await client.query(migration.sql);
    const { rows: after } = await client.query<{ oid: number; file: number | null }>(relations);
    const { rows: used } = await client.query<Used>(usage);
    const files = new Map(after.map(({ oid, file }) => [oid, file]));
    const uses = new Map(used.map((one) => [one.oid, one]));
    return before.flatMap(({ oid, name, file }) => {
      const table = name.split(" ")[0]!;
      if (small.has(table)) return [];
      const rewritten = files.has(oid) && files.get(oid) !== file ? [`${name} is written anew`] : [];
      const { reads = 0, writes = 0 } = uses.get(oid) ?? {};
      return [
        ...rewritten,
        ...(reads > 0 ? [`${name} is read through`] : []),
        ...(writes > 0 ? [`rows of ${name} are changed`] : []),
        ...(files.has(oid) ? [] : [`${name} is taken away`]),
      ];
    });
  } finally {
    await client.query("rollback").catch(() => {});
    await client.end();
  }
}

interface Used {
  readonly oid: number;
  readonly reads: number;
  readonly writes: number;
}

/** Tables and their indexes, with the file that each is in. */
const relations = `
  select c.oid::int as oid, pg_relation_filenode(c.oid)::int as file,
         coalesce(i.indrelid::regclass::text || ' (' || c.relname || ')', c.oid::regclass::text) as name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace left join pg_index i on i.indexrelid = c.oid
   where n.nspname = 'public' and c.relkind in ('r', 'i') and c.relname not like 'knex_%'`;

/** Of this transaction. */
const usage = `
  select relid::int as oid, (seq_scan + coalesce(idx_scan, 0))::int as reads, (n_tup_ins + n_tup_upd + n_tup_del)::int as writes
    from pg_stat_xact_user_tables`;

function isOnline(statement: string): boolean {
  return /^\s*(create (unique )?index concurrently if not exists|drop index concurrently if exists)\s/i.test(statement);
}
