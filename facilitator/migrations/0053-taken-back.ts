import type { Migration } from "../../shared/migrate.ts";

export const takenBack: Migration = {
  name: "0053-taken-back",
  sql: `
    -- When a settled payment was last seen without a transaction on its chain, which had taken it back.
    alter table payments add column taken_back_at timestamptz;
    -- Records of settlements that failed at last, whose totals still count them as settled.
    create table taken_back_settlements (
      transaction_id  bigint primary key
    );
  `,
};
