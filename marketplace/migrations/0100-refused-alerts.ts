import type { Migration } from "../../shared/migrate.ts";

export const refusedAlerts: Migration = {
  name: "0100-refused-alerts",
  sql: `
    -- When the holder's mailbox did not take an alert: it is tried again after those of all others.
    alter table credit_alerts add column refused_at timestamptz;
  `,
};
