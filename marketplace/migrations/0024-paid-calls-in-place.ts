import type { Migration } from "../../shared/migrate.ts";

export const paidCallsInPlace: Migration = {
  name: "0024-paid-calls-in-place",
  sql: `
    -- A call's row changes three times within a second. No index is on what changes, so that it changes in place; the
    -- proof of a call that goes on by itself is dropped when there is nothing left to go on with.
    alter table paid_calls set (fillfactor = 50);
    drop index paid_calls_to_go_on;
    update paid_calls set proof = null where output is not null and transaction_id is not null;
    create index paid_calls_to_go_on on paid_calls (created_at) where proof is not null;

    -- Runs that no account pays are looked for by none.
    drop index runs_of_account;
    create index runs_of_account on runs (account_id, created_at desc, id) where account_id is not null;
  `,
};
