import type { Log } from "../../shared/log.ts";
import type { Environment } from "../../shared/networks.ts";
import { type Database, inTransaction, type Transaction } from "../../shared/postgres.ts";
import type { Bucket } from "../../shared/s3.ts";
import { keepArchivedSelfPayments } from "../settlements/self-payment-moves.ts";
import { endLease, keepLease, type Lease, takeDay } from "./leases.ts";
import { type ArchiveObject, addObject } from "./objects.ts";
import { type ArchivedRecord, archivedColumns, digestOf, type Place, packRecords, placeOf } from "./record-file.ts";

/** Longer than putting an object and reading it back can take. */
const leaseSeconds = 300;

/**
 * Moves settlements that ended long ago out of the public record into a bucket: a network's day at a time, some thousand records an
 * object. An object is put, read back and compared before its records are deleted, in one transaction with the row that says where they
 * are; so each record is in exactly one of the two, whenever a copy dies. Until stopped, or nothing is left.
 */
export async function archiveRecords(needs: ArchiverNeeds, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted && (await isAllCounted(needs))) {
    const lease = await takeDay({ ...needs, leaseSeconds }, needs.afterDays);
    if (!lease) return;
    await archiveDay(needs, lease, stopping);
    await endLease(needs.db, needs.holder, lease);
  }
}

export interface ArchiverNeeds {
  readonly db: Database;
  readonly bucket: Bucket;
  readonly log: Log;
  /** This copy. */
  readonly holder: string;
  readonly afterDays: number;
  readonly recordsMax: number;
  readonly environmentOf: (network: string) => Environment;
}

/** Whether all totals are counted: they are added up from records, so records leave only after that. */
async function isAllCounted({ db, afterDays }: ArchiverNeeds): Promise<boolean> {
  const { rows } = await db.query(
    `select exists (select from unlinked_records) or exists (select from self_payment_moves)
         or exists (select from uncounted_settlements where day <= (now() at time zone 'utc')::date - $1::int) as waits`,
    [afterDays],
  );
  return !rows[0].waits;
}

async function archiveDay(needs: ArchiverNeeds, lease: Lease, stopping: AbortSignal): Promise<void> {
  let after: Place | undefined;
  while (!stopping.aborted) {
    const records = await oldestRecords(needs, lease, after);
    if (records.length === 0) return;
    const object = await putObject(needs, lease, records);
    if (!(await inTransaction(needs.db, (tx) => replaceRecords(tx, needs, { lease, object, records })))) return;
    needs.log.info({ object: object.name, records: object.records, bytes: object.bytes }, "records were archived");
    after = object.last;
  }
}

/** From a place on, so that what was deleted before is not passed again. */
async function oldestRecords(
  { db, recordsMax }: ArchiverNeeds,
  { network, day }: Lease,
  after: Place | undefined,
): Promise<readonly ArchivedRecord[]> {
  const { rows } = await db.query<ArchivedRecord>({
    name: "records-to-archive",
    text: `
      select ${archivedColumns}
        from unnest(array['settled', 'failed']) as asked (status) cross join lateral (
             select * from transactions
              where network = $1 and status = asked.status and created_at < ($2::timestamp + interval '1 day') at time zone 'utc'
                and (created_at, id) > (coalesce(timestamptz 'epoch' + $3::bigint * interval '1 microsecond', $2::timestamp at time zone 'utc'), $4::bigint)
              order by created_at, id limit $5) as t
       order by t.created_at, t.id limit $5`,
    values: [network, day, after?.micros ?? null, after?.id ?? -1n, recordsMax],
  });
  return rows;
}

/** Named by its content: putting it again, after a crash or a lost answer, changes nothing. */
async function putObject(
  { bucket }: ArchiverNeeds,
  { network, day }: Lease,
  records: readonly ArchivedRecord[],
): Promise<ArchiveObject> {
  const bytes = await packRecords(records);
  const sha256 = digestOf(bytes);
  const [first, last] = [records[0]!, records.at(-1)!];
  const folder = `${network.replaceAll(/[^\w.-]/g, "-")}/${day}`;
  const name = `${folder}/${first.id}-${last.id}-${sha256.toString("hex").slice(0, 16)}.ndjson.gz`;
  await bucket.put(name, bytes);
  const kept = await bucket.read(name, bytes.length);
  if (!kept || !digestOf(kept).equals(sha256)) throw new Error(`${name} reads otherwise than it was put`);
  const places = { first: placeOf(first), last: placeOf(last) };
  return { name, network, ...places, records: records.length, bytes: bytes.length, sha256 };
}

/** False when another copy has the day, or payments are moved again: it goes on later. Throws when not all of the records are there: then none is deleted. */
async function replaceRecords(
  tx: Transaction,
  { holder, environmentOf }: ArchiverNeeds,
  { lease, object, records }: { lease: Lease; object: ArchiveObject; records: readonly ArchivedRecord[] },
): Promise<boolean> {
  if (!(await keepLease(tx, { holder, leaseSeconds }, lease))) return false;
  const ids = records.map(({ id }) => id);
  if (!(await keepArchivedSelfPayments(tx, ids, environmentOf(lease.network)))) return false;
  await addObject(tx, object);
  const { rowCount } = await tx.query({
    name: "delete-archived-records",
    text: "delete from transactions where id = any($1::bigint[])",
    values: [ids],
  });
  if (rowCount !== records.length) throw new Error(`${object.name} holds records that are gone`);
  await tx.query({
    name: "delete-archived-paying-days",
    text: "delete from paying_days where payer = any($1) and day = $2 and network = $3",
    values: [[...new Set(records.map(({ payer }) => payer))], lease.day, lease.network],
  });
  return true;
}
