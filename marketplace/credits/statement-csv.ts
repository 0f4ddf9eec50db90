import { csvOf } from "../../shared/csv.ts";
import { ApiError } from "../../shared/errors.ts";
import type { Queryable } from "../../shared/postgres.ts";
import { admitOrRefuse } from "../admit-or-refuse.ts";
import type { AccountId } from "../ids.ts";
import { effectOf, entryOf, statementRows } from "./statement.ts";
import type { StatementFilter } from "./statement-rows.ts";

const filesPerMinute = 10;
const rowsMax = 20_000;
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

/** The selected postings as CSV, newest first, whole: 422 when there are too many for one file. */
export async function statementCsv(db: Queryable, accountId: AccountId, filter: StatementFilter): Promise<string> {
  await admitOrRefuse(db, `statement file:${accountId}`, filesPerMinute);
  const rows = await statementRows(db, accountId, filter, { limit: rowsMax + 1 });
  if (rows.length > rowsMax) {
    throw new ApiError("invalid_value", tooManyForOneFile, { body: { field: "from" } });
  }
  return csvOf(
    heads,
    rows.map(entryOf).map((entry) => {
      const { spendable, earned } = effectOf(entry);
      const { payment, key } = entry;
      const moved = [String(spendable), String(earned), entry.from, entry.to];
      const run = [entry.agent, entry.run_id, key?.name ?? null];
      const paid = [payment?.network ?? null, payment?.transaction ?? null];
      return [entry.created_at, entry.id, entry.kind, ...moved, ...run, ...paid, entry.note];
    }),
  );
}
