import type { Migration } from "../../shared/migrate.ts";

export const settleTimes: Migration = {
  name: "0006-settle-times",
  sql: `
    -- The median's second step is answered from the index alone: its rows lie all over the table.
    alter table daily_settle_times
      drop constraint daily_settle_times_pkey,
      add primary key (network, span, total_ms, day) include (settlements);
  `,
};
