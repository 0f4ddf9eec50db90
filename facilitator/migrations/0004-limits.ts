import type { Migration } from "../../shared/migrate.ts";

export const limits: Migration = {
  name: "0004-limits",
  sql: `
    -- Calls in the current minute, by caller, payer or payee, over all daemons. Losing them in a crash costs nothing.
    create unlogged table call_counts (
      bucket      text primary key,
      window_end  timestamptz not null,
      calls       integer not null
    );
    create index call_counts_over on call_counts (window_end);

    -- What each fee payer has spent on fees on a day (UTC), by the falling of its balance.
    create table fee_spending (
      network       text not null,
      fee_payer     text not null,
      day           date not null,
      spent         numeric(78, 0) not null default 0,
      last_balance  numeric(78, 0) not null,
      primary key (network, fee_payer, day)
    );

    -- Settlements that cost a fee and moved nothing: a payer with several of them is let cool down.
    create index payments_failed_lately on payments (network, payer, finished_at)
      where state = 'failed' and transaction_id is not null;
  `,
};
