import type { Migration } from "../../shared/migrate.ts";

export const spendingAsOf: Migration = {
  name: "0016-spending-as-of",
  sql: `
    -- When the chain had last_balance: a block number or, on Hedera, nanoseconds of consensus.
    alter table fee_spending add column as_of bigint not null default 0;
  `,
};
