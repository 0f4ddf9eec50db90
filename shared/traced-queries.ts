import type pg from "pg";
import { inSpan } from "./tracing.ts";

/** Makes each statement a span, named for what the statement is called or does; its text and values stay here. */
export function traceQueries(pool: pg.Pool): void {
  traceQueriesOf(pool);
  pool.on("connect", traceQueriesOf);
}

function traceQueriesOf(connection: pg.Pool | pg.PoolClient): void {
  const query = connection.query.bind(connection) as (...args: unknown[]) => unknown;
  const traced = (...args: unknown[]) => {
    // The pool's own way to a connection, within the span of the caller that asked the pool.
    if (typeof args.at(-1) === "function") return query(...args);
    const attributes = { "db.system.name": "postgresql" };
    return inSpan(`sql ${nameOf(args[0])}`, attributes, async () => query(...args));
  };
  Object.assign(connection, { query: traced });
}

function nameOf(statement: unknown): string {
  const { name, text } =
    typeof statement === "string" ? { name: undefined, text: statement } : (statement as Statement);
  return name ?? (/[a-z]+/i.exec(text)?.[0].toLowerCase() || "statement");
}

interface Statement {
  readonly name?: string;
  readonly text: string;
}
