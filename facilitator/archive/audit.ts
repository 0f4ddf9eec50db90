import { type Database, inTransaction, type Transaction } from "../../shared/postgres.ts";
import type { Bucket } from "../../shared/s3.ts";
import { recordedNetworks } from "../settlements/scope.ts";
import { type ArchiveObject, findObjects } from "./objects.ts";
import { readObject } from "./record-archive.ts";
import { type ArchivedRecord, isBefore, type Place, placeOf } from "./record-file.ts";

const objectsMax = 1_000_000;

export interface AuditReport {
  readonly objects: number;
  readonly archived: number;
  readonly stored: number;
  /** What is wrong; empty when everything agrees. */
  readonly findings: readonly string[];
}

/**
 * Reads the whole record, in the database and in the archive: each object is as it was put and follows the one before, each settled
 * record has its payment, and together they are as many a day as the daily totals say.
 */
export async function auditRecord(db: Database, bucket: Bucket | undefined): Promise<AuditReport> {
  const { expected, stored, objects } = await inTransaction(db, async (tx) => {
    await tx.query("set transaction isolation level repeatable read, read only");
    const networks = await recordedNetworks(tx);
    const objects: ArchiveObject[] = [];
    for (const network of networks) objects.push(...(await objectsOf(tx, network)));
    return { expected: await countsOf(tx, totals, networks), stored: await countsOf(tx, records, networks), objects };
  });
  const findings: string[] = [];
  const counts = new Map(stored);
  let archived = 0;
  let before: ArchiveObject | undefined;
  for (const object of objects) {
    if (before?.network === object.network && !isBefore(before.last, object.first)) {
      findings.push(`${object.name} begins before the end of ${before.name}`);
    }
    before = object;
    const found = await readObject(bucket, object).catch((error: Error) => {
      findings.push(error.message);
      return [];
    });
    findings.push(...disorderIn(object, found), ...(await withoutPayment(db, object, found)));
    for (const { network, created_at: at, status } of found) {
      const key = `${network} ${at.slice(0, 10)} ${status}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    archived += found.length;
  }
  for (const key of new Set([...expected.keys(), ...counts.keys()])) {
    const [total, found] = [expected.get(key) ?? 0, counts.get(key) ?? 0];
    if (total !== found) findings.push(`${key}: ${found} records, and ${total} were counted`);
  }
  return { objects: objects.length, archived, stored: sumOf(stored), findings };
}

/** By network, day and status. */
type Counts = ReadonlyMap<string, number>;

/** As they will be when what waits is counted. */
const totals = `
  select network, day::text, status, sum(settlements) as count
    from (select network, day, status, settlements from daily_settlements
           union all select network, day, status, 1 from uncounted_settlements
           union all select t.network, (t.created_at at time zone 'utc')::date, change.status, change.sign
             from taken_back_settlements b join transactions t on t.id = b.transaction_id
                  cross join (values ('settled', -1), ('failed', 1)) as change (status, sign)) as counted
   where network = any($1) and status in ('settled', 'failed') group by 1, 2, 3`;
const records = `
  select network, (created_at at time zone 'utc')::date::text as day, status, count(*) as count
    from transactions
   where network = any($1) and status in ('settled', 'failed') and kind = 'settle' group by 1, 2, 3`;

async function countsOf(tx: Transaction, statement: string, networks: readonly string[]): Promise<Counts> {
  const { rows } = await tx.query(statement, [networks]);
  return new Map(rows.map(({ network, day, status, count }) => [`${network} ${day} ${status}`, Number(count)]));
}

/** The oldest first. */
async function objectsOf(tx: Transaction, network: string): Promise<readonly ArchiveObject[]> {
  const all = { networks: [network], before: undefined, since: undefined, until: undefined };
  return (await findObjects(tx, all, objectsMax)).toReversed();
}

function disorderIn({ name, network, first, last }: ArchiveObject, found: readonly ArchivedRecord[]): string[] {
  const places = found.map(placeOf);
  const same = (one: Place | undefined, other: Place) => one?.micros === other.micros && one.id === other.id;
  const isInOrder = places.every((place, at) => at === 0 || isBefore(places[at - 1]!, place));
  const isOwn = found.every((record) => record.network === network);
  if (found.length === 0 || (isInOrder && isOwn && same(places[0], first) && same(places.at(-1), last))) return [];
  return [`${name} holds other records than it is listed with`];
}

async function withoutPayment(
  db: Database,
  { name }: ArchiveObject,
  found: readonly ArchivedRecord[],
): Promise<string[]> {
  const settled = found.filter(({ status, tx_id: transaction }) => status === "settled" && transaction !== null);
  const { rows } = await db.query({
    name: "records-without-payment",
    text: `
      select r.transaction_id from unnest($1::text[], $2::text[]) as r (network, transaction_id)
       where not exists (select from payments p
                          where p.transaction_id = r.transaction_id and p.network = r.network and p.state = 'settled')`,
    values: [settled.map(({ network }) => network), settled.map(({ tx_id: transaction }) => transaction)],
  });
  return rows.map(({ transaction_id: transaction }) => `${name}: no settled payment is known with ${transaction}`);
}

function sumOf(counts: Counts): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}
