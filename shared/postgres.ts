import pg from "pg";
import { traceQueries } from "./traced-queries.ts";
import { isTracing } from "./tracing.ts";

export type Database = pg.Pool;
export type Transaction = pg.PoolClient;
/** What a statement needs: the pool, or the transaction it is part of. */
export type Queryable = Pick<pg.Pool, "query">;

/**
 * Whether statements are prepared under names, once a connection, or anew each time: a pooler that gives every transaction
 * another connection must know of the names (PgBouncer does from 1.21 on, with max_prepared_statements above 0).
 */
export type Statements = "named" | "unnamed";

/** Opens a pool. `bigint` and `numeric` columns come back as bigint (numeric must hold whole numbers), on this pool only. */
export function connect(url: string, options: PoolOptions): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: options.poolMax,
    application_name: options.applicationName,
    connectionTimeoutMillis: options.givesUpAfterMs ?? 10_000,
    idleTimeoutMillis: 30_000,
    // A machine that vanishes closes no connection. When it was a copy of ours, its open transaction and the locks of that end by this;
    idle_in_transaction_session_timeout: 10_000,
    // other copies that wait for those locks stop waiting by this;
    lock_timeout: 10_000,
    // and when it was the database, its answer is no longer waited for by this.
    query_timeout: options.givesUpAfterMs ?? 60_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: { getTypeParser: parserFor as pg.CustomTypesConfig["getTypeParser"] },
  });
  // A connection that ends must not take the process down, neither an idle one nor one between two statements of a
  // transaction: its user learns of it by the next statement, and the pool opens a new one.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  if (options.statements === "unnamed") pool.on("connect", forgetNames);
  if (isTracing()) traceQueries(pool);
  return pool;
}

export interface PoolOptions {
  readonly poolMax: number;
  readonly applicationName: string;
  readonly statements?: Statements;
  /** A statement that waits longer for a connection or an answer is given up: its caller asks elsewhere. */
  readonly givesUpAfterMs?: number;
}

function forgetNames(client: pg.PoolClient): void {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  const unnamed = (first: unknown, ...rest: unknown[]) => {
    if (typeof first !== "object" || first === null || !("name" in first)) return query(first, ...rest);
    const { name: _, ...statement } = first;
    return query(statement, ...rest);
  };
  Object.assign(client, { query: unnamed });
}

/** Runs `work` in one READ COMMITTED transaction; retries it whole on a deadlock or serialization failure. */
export async function inTransaction<T>(
  db: Database,
  work: (tx: Transaction) => Promise<T>,
  attemptsMax = 5,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const tx = await db.connect();
    let broken: Error | undefined;
    try {
      await tx.query("begin");
      const result = await work(tx);
      await tx.query("commit");
      return result;
    } catch (error) {
      await tx.query("rollback").catch((failure: Error) => {
        broken = failure;
      });
      if (attempt >= attemptsMax || !isTransient(error)) throw error;
    } finally {
      tx.release(broken);
    }
  }
}

/** Sends one statement, and sends it again when it was the one to give way in a deadlock: nothing of it was done. */
export async function queryAgain(db: Database, statement: pg.QueryConfig, attemptsMax = 5): Promise<pg.QueryResult> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await db.query(statement);
    } catch (error) {
      if (attempt >= attemptsMax || !isTransient(error)) throw error;
    }
  }
}

export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  const { code, constraint: violated } = error as { code?: string; constraint?: string };
  return code === "23505" && (constraint === undefined || violated === constraint);
}

/** The statement failed for what it was told to store or read, and would fail again. */
export function isDataError(error: unknown): boolean {
  return ["22", "23", "54"].includes(((error as { code?: string }).code ?? "").slice(0, 2));
}

/** The database answered that it did nothing of a statement: for its data, or because of a lock. */
export function wasRolledBack(error: unknown): boolean {
  return isDataError(error) || isTransient(error) || (error as { code?: string }).code === "55P03";
}

/** PostgreSQL stopping, starting, full or unreachable, or a connection that ended: the request may be repeated. */
export function isDatabaseAway(error: unknown): boolean {
  const { code = "", message = "" } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code !== "string" || typeof message !== "string") return false;
  return awayCodes.has(code) || /^(08|53)/.test(code) || awayMessages.test(message);
}

/** Stopped, crashed, starting; made a replica; waited for a lock too long; no such address, or no server there. */
const awayCodes: ReadonlySet<string> = new Set([
  ...["57P01", "57P02", "57P03", "57P05", "25006", "25P03", "55P03"],
  ...["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH", "ENOTFOUND", "EAI_AGAIN"],
]);
/** The driver's own errors, which have no codes. */
const awayMessages =
  /^(Query read timeout|Connection terminated|timeout exceeded when trying to connect|Client (has encountered a connection error|was closed) and is not queryable)/;

/** The statement gave way to another, in a deadlock for instance. Nothing of the statement was done; what was done before it may be. */
export function isTransient(error: unknown): boolean {
  return ["40001", "40P01"].includes((error as { code?: string }).code ?? "");
}

const int8 = 20;
const numeric = 1700;

function parserFor(oid: number, format?: "text" | "binary"): unknown {
  if (oid === int8 || oid === numeric) return BigInt;
  return pg.types.getTypeParser(oid, format as "text");
}
