import { z } from "zod";
import type { Environment } from "../shared/networks.ts";
import type { Database } from "../shared/postgres.ts";
import type { Reads } from "../shared/reads.ts";
import { ArchiveAwayError, type RecordArchive } from "./archive/record-archive.ts";
import { isBefore } from "./archive/record-file.ts";
import type { Config } from "./config.ts";
import type { Explorers } from "./explorer.ts";
import { encodeOpaque, moment, oneOf, opaque, type Read, text, whole } from "./http/query.ts";
import { asFiltered, inPlaceAndTime } from "./list-statement.ts";
import { amongUnfinished, hasNotEnded, unfinishedStates } from "./payment-states.ts";
import { endedRows, type Found, placeOfRow, valuesOf } from "./record-rows.ts";
import { type Row, recordOf, recordShape, unfinishedColumns } from "./record-shape.ts";
import type { SchemeRegistry } from "./schemes/registry.ts";
import { refusalTextMax } from "./settlements/refusals.ts";
import { environments, type RecordScope, recordScope, statuses, unfinishedStatuses } from "./settlements/scope.ts";

/** The longest URL that can be asked for; few recorded ones are longer, namely where characters are percent-encoded. */
export const resourceLengthMax = 2_048;

export const transactionsQuery = {
  env: oneOf(environments, "Which networks to list; by default mainnet if this daemon serves one."),
  network: text(100, "CAIP-2 id of one network, instead of all of the environment."),
  status: oneOf(
    [...statuses, ...(Object.keys(unfinishedStatuses) as UnfinishedStatus[])],
    "Only records of this status; `in_progress` and `unknown` list payments that have not ended, which no other list shows.",
  ),
  payer: text(100, "Only payments of this account."),
  pay_to: text(100, "Only payments into this account."),
  resource: text(
    resourceLengthMax,
    `Only payments for this URL, without its query. Refusals keep the first ${refusalTextMax} characters of it.`,
  ),
  since: moment("Only what was recorded from then on."),
  until: moment("Only what was recorded before; of a day, up to its end.", { until: true }),
  self: oneOf(["hide"], "Leaves out settled and failed payments of accounts that only ever paid themselves."),
  limit: whole({ min: 1, max: 100, fallback: 25, description: "Records a page." }),
  cursor: opaque(readPlace, "`cursor` of the page before."),
};

export const transactionsShape = z
  .object({
    env: z.enum(environments),
    transactions: z.array(recordShape),
    cursor: z
      .string()
      .nullable()
      .describe(
        "Where the next page begins; null on the last. With several filters, and of records that are archived, a page before may have few " +
          "records or none.",
      ),
    notice: z
      .string()
      .nullable()
      .describe(
        "Why a page ends before it is full, where the records that it would go on with are archived; else null.",
      ),
  })
  .meta({ id: "Transactions" });
export type Transactions = z.infer<typeof transactionsShape>;

export interface TransactionsNeeds {
  readonly db: Database;
  readonly archive: RecordArchive;
  readonly schemes: SchemeRegistry;
  readonly config: Explorers & Pick<Config, "environmentOf">;
}

/**
 * GET /transactions: the public record, newest first. A page begins after the last record of the page before, by
 * (created_at, id), so nothing is seen twice or missed however many share a moment or are added meanwhile. A page looks at so many
 * records at most: where few of them fit it may have fewer than asked for, or none, and a cursor all the same. What left the database
 * is read from the archive.
 */
export async function transactions(
  context: TransactionsNeeds,
  query: Read<typeof transactionsQuery>,
): Promise<Transactions> {
  const scope = await recordScope(context.db, context, query);
  const { status } = query;
  const found = isUnfinished(status)
    ? { rows: await unfinishedRows(context.db, scope, query, unfinishedStatuses[status]) }
    : await endedRows(context, scope, query, status === undefined ? statuses : [status]);
  return pageOf(found, { env: scope.env, limit: query.limit, config: context.config });
}

/** The newest of the public record, for a page that shows other things, too: none, while they are in an archive that cannot be read. */
export async function newestTransactions(
  context: TransactionsNeeds,
  query: Read<typeof transactionsQuery>,
): Promise<Newest> {
  try {
    const { transactions: rows, cursor, notice } = await transactions(context, query);
    return { rows, hasMore: cursor !== null || notice !== null };
  } catch (error) {
    if (!(error instanceof ArchiveAwayError)) throw error;
    return { rows: [], hasMore: true };
  }
}

export interface Newest {
  readonly rows: Transactions["transactions"];
  /** There are older ones, or may be. */
  readonly hasMore: boolean;
}

/** The public record with unfinished payments among the ended ones, each at the time it was made. */
export async function allTransactions(
  context: TransactionsNeeds,
  query: Read<typeof transactionsQuery>,
): Promise<Transactions> {
  const scope = await recordScope(context.db, context, query);
  const [ended, unfinished] = await Promise.all([
    endedRows(context, scope, query, statuses),
    unfinishedRows(context.db, scope, query, unfinishedStates),
  ]);
  const { edge } = ended;
  const reached = unfinished.filter((row) => !edge || !isBefore(placeOfRow(row), edge));
  const rows = [...ended.rows, ...reached].toSorted((one, other) =>
    isBefore(placeOfRow(one), placeOfRow(other)) ? 1 : -1,
  );
  return pageOf({ ...ended, rows }, { env: scope.env, limit: query.limit, config: context.config });
}

interface Page {
  readonly env: Environment;
  readonly limit: number;
  readonly config: Explorers;
}

/** One page of the rows. The next page begins after its last row where there are more rows, else where the search stopped. */
function pageOf({ rows, edge, notice }: Found, { env, limit, config }: Page): Transactions {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const end = last && rows.length > limit ? placeOfRow(last) : edge;
  return {
    env,
    transactions: shown.map((row) => recordOf(config, row)),
    cursor: end ? encodeOpaque(`${end.micros}.${end.id}`) : null,
    notice: notice ?? null,
  };
}

/**
 * An account's own payments, and what is new since a moment, are read where they are at once: a replica may have them a moment later,
 * and a caller who goes on from there would miss them.
 */
export function readList<T>(
  { reads }: { readonly reads: Reads },
  { payer, pay_to: payTo, resource, since, status }: Asked,
  work: (db: Database) => Promise<T>,
): Promise<T> {
  const isOwn = [payer, payTo, resource, since].some((filter) => filter !== undefined);
  return isOwn || isUnfinished(status) ? work(reads.primary) : reads.run(work);
}

type Asked = Read<typeof transactionsQuery>;
type UnfinishedStatus = keyof typeof unfinishedStatuses;

function isUnfinished(status: Asked["status"]): status is UnfinishedStatus {
  return status !== undefined && status in unfinishedStatuses;
}

/** Found among what the reconciler looks after, which is no more than is under way. */
async function unfinishedRows(
  db: Database,
  scope: RecordScope,
  query: Asked,
  states: readonly string[],
): Promise<readonly Row[]> {
  const { rows } = await db.query<Row>({
    name: "list-unfinished",
    text: `
      select id, ${unfinishedColumns},
             (extract(epoch from created_at) * 1000000)::bigint as created_micros
        from payments t
       where ${amongUnfinished} and ${hasNotEnded} and state = any($2)
         and network = any($1) and ${inPlaceAndTime} and ${asFiltered}
         and ($9::text is not null)
       order by created_at desc, id desc limit $5`,
    values: valuesOf(scope, query, states),
  });
  return rows;
}

/** Microseconds, as PostgreSQL keeps them: a JavaScript date would blur neighbours into one. */
function readPlace(decoded: string): { createdMicros: bigint; id: bigint } | undefined {
  const [, createdMicros, id] = /^(\d{1,16})\.(\d{1,18})$/.exec(decoded) ?? [];
  return createdMicros && id ? { createdMicros: BigInt(createdMicros), id: BigInt(id) } : undefined;
}
