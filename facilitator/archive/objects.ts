import type { Queryable, Transaction } from "../../shared/postgres.ts";
import type { Place } from "./record-file.ts";

/** What one object of the archive holds: records of one network that follow on each other, from the first to the last. */
export interface ArchiveObject {
  readonly name: string;
  readonly network: string;
  readonly first: Place;
  readonly last: Place;
  readonly records: number;
  readonly bytes: number;
  readonly sha256: Buffer;
}

const micros = (column: string) => `(extract(epoch from ${column}) * 1000000)::bigint`;
const moment = (parameter: string) => `(timestamptz 'epoch' + ${parameter}::bigint * interval '1 microsecond')`;

/** Where in the record is looked, newest first: below `before`, from `since` on. */
export interface Stretch {
  readonly networks: readonly string[];
  readonly before: Place | undefined;
  readonly since: Date | undefined;
  readonly until: Date | undefined;
}

/** The newest objects that have something of it, some more than `limit` says. By one index, however many there are. */
export async function findObjects(db: Queryable, stretch: Stretch, limit: number): Promise<readonly ArchiveObject[]> {
  const { networks, before, since, until } = stretch;
  const { rows } = await db.query({
    name: "find-archive-objects",
    text: `
      select o.name, o.network, ${micros("o.first_at")} as first_micros, o.first_id, ${micros("o.last_at")} as last_micros, o.last_id,
             o.records, o.bytes, o.sha256
        from unnest($1::text[]) as asked (network) cross join lateral (
             select * from archive_objects
              where network = asked.network
                and (first_at, first_id) < (coalesce(${moment("$2")}, 'infinity'), $3::bigint)
                and first_at < coalesce($5::timestamptz, 'infinity')
              order by first_at desc, first_id desc limit $6) as o
       where o.last_at >= coalesce($4::timestamptz, '-infinity')
       order by o.last_at desc, o.last_id desc limit $6`,
    values: [networks, before?.micros ?? null, before?.id ?? 0n, since ?? null, until ?? null, limit],
  });
  return rows.map((row) => ({
    name: row.name,
    network: row.network,
    first: { micros: row.first_micros, id: row.first_id },
    last: { micros: row.last_micros, id: row.last_id },
    records: row.records,
    bytes: Number(row.bytes),
    sha256: row.sha256,
  }));
}

/** In the transaction that deletes the records. */
export async function addObject(tx: Transaction, object: ArchiveObject): Promise<void> {
  const { name, network, first, last, records, bytes, sha256 } = object;
  await tx.query({
    name: "add-archive-object",
    text: `
      insert into archive_objects (name, network, first_at, first_id, last_at, last_id, records, bytes, sha256)
      values ($1, $2, ${moment("$3")}, $4, ${moment("$5")}, $6, $7, $8, $9)`,
    values: [name, network, first.micros, first.id, last.micros, last.id, records, bytes, sha256],
  });
}
