import type { Migration } from "../../shared/migrate.ts";

/** Files whose owners had their bytes deleted, and when each was made last. */
export const deletedFiles: Migration = {
  name: "0111-deleted-files",
  sql: `
    alter table files add column deleted_at timestamptz;
    -- Null where it was not made again since this is kept.
    alter table files add column made_again_at timestamptz;
  `,
};
