import type { QueryResult, QueryResultRow } from "pg";
import { type Database, inTransaction } from "../../shared/postgres.ts";
import type { Statement } from "./listing-statements.ts";

/**
 * Asks for the first of what has several things, by the indexes of what has which. The planner takes conditions for independent of
 * each other, and a table for quickly read where it wants some of many rows: of two that exclude each other it would read all of it.
 * `alsoOrdered`: by an index that has an order, too.
 */
export function askIndexes<Row extends QueryResultRow>(
  db: Database,
  { text, values }: Pick<Statement, "text" | "values">,
  { alsoOrdered = false } = {},
): Promise<QueryResult<Row>> {
  const unwanted = ["enable_seqscan", ...(alsoOrdered ? [] : ["enable_indexscan", "enable_indexonlyscan"])];
  const settings = unwanted.map((name) => `set_config('${name}', 'off', true)`);
  return inTransaction(db, async (tx) => {
    await tx.query(`select ${settings.join(", ")}, set_config('work_mem', '${workMemory}', true)`);
    return tx.query<Row>(text, values);
  });
}

/** What the places of a million rows take without being made coarse. */
const workMemory = "16MB";
