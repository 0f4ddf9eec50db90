import type { Migration } from "../../shared/migrate.ts";

/** The files that a run made: what nobody pays for is removed. */
export const filesOfRuns: Migration = {
  name: "0110-files-of-runs",
  online: [
    "drop index concurrently if exists files_of_run",
    "create index concurrently if not exists files_of_run on files (run_id) where run_id is not null",
  ],
};
