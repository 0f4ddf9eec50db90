import type { Migration } from "../../shared/migrate.ts";

export const paidCallVersions: Migration = {
  name: "0025-paid-call-versions",
  sql: `
    -- A paid call that succeeded is the record of its run; of the agent's version, too.
    alter table paid_calls add column agent_version integer;
  `,
};
