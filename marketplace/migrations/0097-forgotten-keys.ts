import type { Migration } from "../../shared/migrate.ts";

export const forgottenKeys: Migration = {
  name: "0097-forgotten-keys",
  sql: `
    -- A revoked key goes once no run has it. To see that for each key, this reference would read all runs: no index has their keys alone.
    alter table runs drop constraint runs_key_id_fkey;
  `,
};
