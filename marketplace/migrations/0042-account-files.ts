import type { Migration } from "../../shared/migrate.ts";

export const accountFiles: Migration = {
  name: "0042-account-files",
  sql: `
    -- What the files of each account hold together, for the limit on it.
    create table account_files (
      account_id text primary key references accounts,
      bytes bigint not null check (bytes >= 0)
    );
    insert into account_files (account_id, bytes) select account_id, sum(bytes) from files group by account_id;
  `,
};
