import type { Migration } from "../../shared/migrate.ts";

export const ledgerProofs: Migration = {
  name: "0063-ledger-proofs",
  sql: `
    -- Creators who show every payout to everybody.
    create table ledger_proofs (
      account_id  text primary key references accounts,
      since       timestamptz not null default now()
    );

    -- Of columns that no later step of a call changes, so that these stay updates in place.
    create index paid_calls_of_product on paid_calls (product, created_at desc, payment_key);

    -- For operators, who look for calls by ids that have no index: by when they began, in a few pages' worth of index.
    create index paid_calls_begun on paid_calls using brin (created_at) with (pages_per_range = 32, autosummarize = on);
  `,
};
