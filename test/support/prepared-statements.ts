import { type Database, inTransaction, type Transaction } from "../../shared/postgres.ts";

export interface Prepared {
  readonly name: string;
  readonly statement: string;
  readonly parameter_types: string;
  readonly result_types: string;
}

/** What any connection of the pool has prepared: each is taken at once, so that none is left out. */
export async function preparedOf(db: Database): Promise<readonly Prepared[]> {
  const connections = await Promise.all(Array.from({ length: db.options.max }, () => db.connect()));
  try {
    const known = await Promise.all(
      connections.map((connection) =>
        connection.query<Prepared>(
          "select name, statement, array_to_string(parameter_types, ', ') as parameter_types, result_types::text from pg_prepared_statements where not from_sql",
        ),
      ),
    );
    return [...new Map(known.flatMap(({ rows }) => rows).map((row) => [row.statement, row])).values()];
  } finally {
    for (const connection of connections) connection.release();
  }
}

/** To every table, as a newer version may; answers how many there are. */
export async function addColumns(db: Database): Promise<number> {
  const { rows } = await db.query("select tablename from pg_tables where schemaname = 'public'");
  for (const { tablename } of rows) await db.query(`alter table "${tablename}" add column added_later text`);
  return rows.length;
}

/** What PostgreSQL would refuse on a connection that has prepared it: "cached plan must not change result type". */
export async function changedOf(tx: Transaction, prepared: readonly Prepared[]): Promise<readonly string[]> {
  const changed: string[] = [];
  for (const { name, statement, parameter_types, result_types } of prepared) {
    await tx.query(`prepare again ${parameter_types && `(${parameter_types})`} as ${statement}`);
    const { rows } = await tx.query("select result_types::text from pg_prepared_statements where name = 'again'");
    await tx.query("deallocate again");
    if (rows[0].result_types !== result_types) changed.push(name);
  }
  return changed;
}

/** Every named statement that `db` is asked from now on: its connections come and go, and with them what they have prepared. */
export function watchNamed(db: Database): ReadonlySet<string> {
  const texts = new Set<string>();
  const watched = new WeakSet<object>();
  db.on("acquire", (connection) => {
    if (watched.has(connection)) return;
    watched.add(connection);
    const query = connection.query.bind(connection) as (...args: unknown[]) => unknown;
    const noting = (first: unknown, ...rest: unknown[]) => {
      if (typeof first === "object" && first !== null && "name" in first && "text" in first)
        texts.add(String(first.text));
      return query(first, ...rest);
    };
    Object.assign(connection, { query: noting });
  });
  return texts;
}

/** As PostgreSQL would prepare them now. */
export async function prepare(db: Database, texts: ReadonlySet<string>): Promise<readonly Prepared[]> {
  return inTransaction(db, async (tx) => {
    const prepared: Prepared[] = [];
    for (const text of texts) {
      await tx.query(`prepare watched as ${text}`);
      const { rows } = await tx.query<Prepared>(
        "select $1 as name, $1 as statement, array_to_string(parameter_types, ', ') as parameter_types, result_types::text from pg_prepared_statements where name = 'watched'",
        [text],
      );
      await tx.query("deallocate watched");
      prepared.push(rows[0] as Prepared);
    }
    return prepared;
  });
}
