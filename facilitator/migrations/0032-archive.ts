import type { Migration } from "../../shared/migrate.ts";

export const archive: Migration = {
  name: "0032-archive",
  sql: `
    -- What has left the public record for the archive: a row an object, which came in the transaction that deleted its records. Of a
    -- network no two overlap, in the order of the record: by moment, and of one moment by id.
    create table archive_objects (
      name         text primary key,
      network      text not null,
      first_at     timestamptz not null,
      first_id     bigint not null,
      last_at      timestamptz not null,
      last_id      bigint not null,
      records      integer not null,
      bytes        bigint not null,
      sha256       bytea not null,
      archived_at  timestamptz not null default now()
    );
    create index archive_objects_in_order on archive_objects (network, first_at desc, first_id desc);
    create index archive_objects_by_end on archive_objects (last_at);

    -- Which copy archives a network's day.
    create table archive_leases (
      network      text not null,
      day          date not null,
      holder       uuid not null,
      lease_until  timestamptz not null,
      primary key (network, day)
    );
  `,
};
