import type { Migration } from "../../shared/migrate.ts";

export const searchedSettlements: Migration = {
  name: "0025-searched-settlements",
  sql: `
    -- Up to where the chain was searched for settlements that each fee payer sent: all until there are on record. After a failover
    -- this goes back together with them.
    create table searched_settlements (
      network         text not null,
      fee_payer       text not null,
      -- A block's number, or nanoseconds of consensus.
      searched_until  bigint not null,
      next_nonce      bigint,
      -- Settlements that were not on record.
      found_again     bigint not null default 0,
      last_found_at   timestamptz,
      primary key (network, fee_payer)
    ) with (fillfactor = 50);
  `,
};
