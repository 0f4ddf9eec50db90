import type { Migration } from "../../shared/migrate.ts";

export const sharedFiles: Migration = {
  name: "0104-shared-files",
  sql: `
    -- Another run than run_id's made the same: the file is not removed with what that one gave.
    alter table files add column shared boolean not null default false;
  `,
};
