import { type Database, inTransaction, type Queryable } from "../shared/postgres.ts";
import { keptDaysMin } from "./archive/config.ts";
import { type ArchiveObject, findObjects } from "./archive/objects.ts";
import { type ArchiveAwayError, type RecordArchive, readMax } from "./archive/record-archive.ts";
import { type ArchivedRecord, isBefore, type Place, placeOf } from "./archive/record-file.ts";
import { listStatement } from "./list-statement.ts";
import type { Row } from "./record-shape.ts";
import { spellingsOf } from "./settlements/accounts.ts";
import type { RecordScope } from "./settlements/scope.ts";

/** Which rows, and how many. */
export interface Asked {
  readonly network: string | undefined;
  readonly payer: string | undefined;
  readonly pay_to: string | undefined;
  readonly resource: string | undefined;
  readonly self: string | undefined;
  readonly since: Date | undefined;
  readonly until: Date | undefined;
  readonly cursor: { readonly createdMicros: bigint; readonly id: bigint } | undefined;
  readonly limit: number;
}

export interface Found {
  readonly rows: readonly Row[];
  /** Where looking ended before the record did. */
  readonly edge?: Place | undefined;
  /** Why it ended there. */
  readonly notice?: string | undefined;
}

interface Needs {
  readonly db: Database;
  readonly archive: RecordArchive;
}

/** What both statements call $1 to $10. */
export function valuesOf(scope: RecordScope, query: Asked, states: readonly string[]): unknown[] {
  const before = beginningOf(query);
  return [
    scope.networks,
    states,
    before?.micros ?? null,
    before?.id ?? 0n,
    query.limit + 1,
    query.payer === undefined ? null : spellingsOf(query.payer),
    query.pay_to === undefined ? null : spellingsOf(query.pay_to),
    query.resource ?? null,
    scope.env,
    query.since ?? null,
  ];
}

/** What a page comes before: the cursor's place or the end of the time that is asked for, whichever is older. */
function beginningOf({ cursor, until }: Asked): Place | undefined {
  const place = cursor && { micros: cursor.createdMicros, id: cursor.id };
  const end = until && { micros: BigInt(until.getTime()) * 1_000n, id: 0n };
  return place && end ? (isBefore(place, end) ? place : end) : (place ?? end);
}

/**
 * A page of what has ended, and a row more where there is one: in one snapshot, in which each record is in the database or the archive.
 * Throws ArchiveAwayError where all of it is in an archive that cannot be read.
 */
export async function endedRows(
  needs: Needs,
  scope: RecordScope,
  query: Asked,
  statuses: readonly string[],
): Promise<Found> {
  const { found, objects } = await inTransaction(needs.db, async (tx) => {
    await tx.query("set transaction isolation level repeatable read, read only");
    const found = await storedRows(tx, scope, query, statuses);
    return { found, objects: await objectsFor(tx, scope, { query, statuses, found }) };
  });
  return objects.length === 0 ? found : withArchive(needs, scope, { query, statuses, found, objects });
}

async function storedRows(
  db: Queryable,
  scope: RecordScope,
  query: Asked,
  statuses: readonly string[],
): Promise<Found> {
  const { rows } = await db.query<Row & { edge_micros?: bigint | null; edge_id?: bigint | null }>({
    ...listStatement(query),
    values: valuesOf(scope, query, statuses),
  });
  const { edge_micros: micros = null, edge_id: id = null } = rows[0] ?? {};
  // Where nothing that was looked at fits, the edge comes alone.
  return {
    rows: rows.filter((row) => row.id !== null),
    edge: micros === null || id === null ? undefined : { micros, id },
  };
}

interface Page {
  readonly query: Asked;
  readonly statuses: readonly string[];
  readonly found: Found;
}

/** Archive objects that hold records newer than the end of the page in the database. */
async function objectsFor(
  tx: Queryable,
  { networks }: RecordScope,
  { query, statuses, found: { rows, edge } }: Page,
): Promise<readonly ArchiveObject[]> {
  const { since, until, cursor, limit } = query;
  const border = Date.now() - keptDaysMin * dayMs;
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  const end = last ? placeOfRow(last) : edge;
  const isKept = (end && end.micros >= BigInt(border) * 1_000n) || (since && since.getTime() >= border);
  if (isKept || !statuses.some((status) => status !== "rejected")) return [];
  const before = cursor && { micros: cursor.createdMicros, id: cursor.id };
  const objects = await findObjects(tx, { networks, before, since, until }, readMax(networks.length) + 1);
  return objects.filter((object) => !end || isBefore(end, object.last));
}

async function withArchive(
  { db, archive }: Needs,
  scope: RecordScope,
  { query, statuses, found, objects }: Page & { readonly objects: readonly ArchiveObject[] },
): Promise<Found> {
  if (!archive.isOpen) return { ...found, notice: "Older records are in an archive that this service cannot read." };
  const pick = (records: readonly ArchivedRecord[]) => pickRecords(db, scope, { query, statuses, records });
  const max = readMax(scope.networks.length);
  const looked = await archive.look(objects, { max, wanted: query.limit + 1, pick });
  const edge = newest(found.edge, looked.edge);
  const rows = [...found.rows, ...looked.records.map(rowOf)]
    .filter((row) => !edge || !isBefore(placeOfRow(row), edge))
    .toSorted((one, other) => (isBefore(placeOfRow(one), placeOfRow(other)) ? 1 : -1))
    .slice(0, query.limit + 1);
  if (rows.length > query.limit || !looked.edge) return { rows, edge };
  if (looked.away && rows.length === 0) throw looked.away;
  return { rows, edge, notice: noticeOf(looked.away, looked.edge, max) };
}

function noticeOf(away: ArchiveAwayError | undefined, { micros }: Place, max: number): string {
  const until = new Date(Number(micros / 1_000n)).toISOString();
  const why = away
    ? "Records of that time are in an archive that cannot be read at the moment"
    : `Records of that time are in an archive, of which a page reads ${max} objects at most`;
  return `${why}: this one looked back to ${until}. The next page goes on from there.`;
}

interface Archived {
  readonly query: Asked;
  readonly statuses: readonly string[];
  readonly records: readonly ArchivedRecord[];
}

async function pickRecords(
  db: Database,
  scope: RecordScope,
  { query, statuses, records }: Archived,
): Promise<readonly ArchivedRecord[]> {
  const { cursor, since, until, payer, pay_to: payTo, resource, self } = query;
  const [payers, payees] = [payer, payTo].map((account) => (account === undefined ? undefined : spellingsOf(account)));
  const fitting = records.filter((record) => {
    const place = placeOf(record);
    if (cursor && !isBefore(place, { micros: cursor.createdMicros, id: cursor.id })) return false;
    if (since && place.micros < BigInt(since.getTime()) * 1_000n) return false;
    if (until && place.micros >= BigInt(until.getTime()) * 1_000n) return false;
    if (!statuses.includes(record.status)) return false;
    if (payers && !payers.includes(record.payer ?? "")) return false;
    if (payees && !payees.includes(record.pay_to ?? "")) return false;
    return resource === undefined || record.resource_url === resource;
  });
  if (self === undefined || fitting.length === 0) return fitting;
  const { rows } = await db.query({
    name: "self-payers-among",
    text: "select account from accounts where env = $1 and account = any($2) and is_self_payer",
    values: [scope.env, [...new Set(fitting.map((record) => record.payer))]],
  });
  const hidden = new Set(rows.map(({ account }) => account));
  return fitting.filter((record) => !hidden.has(record.payer));
}

function rowOf(record: ArchivedRecord): Row {
  const { micros, id } = placeOf(record);
  return {
    ...record,
    id,
    amount_atomic: record.amount_atomic === null ? null : BigInt(record.amount_atomic),
    created_at: new Date(Number(micros / 1_000n)),
    created_micros: micros,
  };
}

/** By which a row is ordered, and a page begins after it. */
export function placeOfRow({ created_micros: micros, id }: Row): Place {
  return { micros, id };
}

function newest(one: Place | undefined, other: Place | undefined): Place | undefined {
  if (!one || !other) return one ?? other;
  return isBefore(one, other) ? other : one;
}

const dayMs = 86_400_000;
