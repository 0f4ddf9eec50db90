import { csvOf, csvRows } from "../../shared/csv.ts";
import { ApiError } from "../../shared/errors.ts";
import type { Database } from "../../shared/postgres.ts";
import { admitOrRefuse } from "../admit-or-refuse.ts";
import type { AccountId } from "../ids.ts";
import type { Place } from "../query.ts";
import { effectOf, entryOf, statementRows } from "./statement.ts";
import type { StatementFilter, StatementRow } from "./statement-rows.ts";
import { requireLookedThrough } from "./statement-totals.ts";
import { inReadingTurn } from "./statement-turns.ts";

const filesPerMinute = 10;
const rowsMax = 20_000;
/** Read at a time, and made into text: between two of them others have the connection and the processor. */
const rowsPerRead = 1_000;
export const tooManyForOneFile = `"from" and "to" must name days with at most ${rowsMax.toLocaleString("en")} postings.`;

const heads = [
  "utc",
  "posting",
  "kind",
  "credits",
  "earned_credits",
  "from",
  "to",
  "agent",
  "run_id",
  "key",
  "network",
  "transaction",
  "note",
];

/** A file with one posting. */
export const exampleStatement = csvOf(heads, [
  [
    "2026-11-14T09:30:00.000Z",
    "pst_4711",
    "grant",
    "500",
    "0",
    "issued",
    "spendable",
    null,
    null,
    null,
    null,
    null,
    "sorry",
  ],
]);

/** The selected postings as CSV, newest first, whole: 422 when there are too many for one file, or to be looked through for it. */
export async function statementCsv(db: Database, accountId: AccountId, filter: StatementFilter): Promise<string> {
  await admitOrRefuse(db, `statement file:${accountId}`, filesPerMinute);
  return inReadingTurn(accountId, async () => {
    await requireLookedThrough(db, accountId, filter);
    const texts = [csvRows([heads])];
    let cursor: Place | undefined;
    for (let read = 0; ; ) {
      const rows = await statementRows(db, accountId, filter, { limit: rowsPerRead, cursor });
      read += rows.length;
      if (read > rowsMax) throw new ApiError("invalid_value", tooManyForOneFile, { body: { field: "from" } });
      texts.push(csvRows(rows.map(cellsOf)));
      if (rows.length < rowsPerRead) return texts.join("");
      cursor = rows.at(-1);
    }
  });
}

function cellsOf(row: StatementRow): Array<string | null> {
  const entry = entryOf(row);
  const { spendable, earned } = effectOf(entry);
  const { payment, key } = entry;
  const moved = [String(spendable), String(earned), entry.from, entry.to];
  const run = [entry.agent, entry.run_id, key?.name ?? null];
  const paid = [payment?.network ?? null, payment?.transaction ?? null];
  return [entry.created_at, entry.id, entry.kind, ...moved, ...run, ...paid, entry.note];
}
