import type { PoolClient, QueryResult } from "pg";
import { type Database, inTransaction, type Queryable } from "./postgres.ts";

/** Which database a server has, and how far it is in the log. */
export interface State {
  readonly database: string;
  readonly startedAt: string;
  readonly isStandby: boolean;
  readonly position: bigint;
}

const state = `
  select (select system_identifier from pg_control_system()) || ' ' || current_database() as database,
         pg_postmaster_start_time()::text as "startedAt", pg_is_in_recovery() as "isStandby",
         pg_wal_lsn_diff(case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end, '0/0')
           as position`;

export async function stateOf(db: Queryable): Promise<State> {
  const { rows } = await db.query<State>({ name: "position in the log", text: state });
  return rows[0]!;
}

/** The replica took longer to read than it may. */
export class ReadTimeoutError extends Error {
  override readonly name = "ReadTimeoutError";
}

/**
 * The replica, whose every transaction goes to a server that `check` accepts: many may stand behind its address, and a pooler may give
 * each transaction another. So each begins with that server's state, and a statement alone has one, too. The server ends what takes
 * longer than `forMs`; it is told in the transaction, since a pooler passes no settings on.
 */
export function checkedReplica(replica: Database, forMs: number, check: (state: State) => void): Database {
  const beginning = `begin isolation level repeatable read, read only; set local statement_timeout = ${forMs}; ${state}`;
  const begin = async (client: PoolClient) => {
    const [, , { rows }] = (await client.query(beginning)) as unknown as [unknown, unknown, QueryResult<State>];
    check(rows[0]!);
  };
  const connect = async () => {
    const client = await replica.connect();
    const ask = client.query.bind(client) as unknown as (...statement: readonly unknown[]) => Promise<QueryResult>;
    const query = (...statement: readonly unknown[]) =>
      statement[0] === "begin" ? begin(client) : ask(...statement).catch(rethrowTimeout);
    return Object.assign(Object.create(client), { query });
  };
  const checked: Database = Object.assign(Object.create(replica), {
    connect,
    query: (...statement: Parameters<Database["query"]>) =>
      inTransaction(checked, (tx) => tx.query(...statement) as never),
  });
  return checked;
}

function rethrowTimeout(error: Error & { code?: string }): never {
  if (error.code === "57014" || error.message.startsWith("Query read timeout")) {
    throw new ReadTimeoutError(error.message, { cause: error });
  }
  throw error;
}
