import type { Migration } from "../../shared/migrate.ts";

export const runShares: Migration = {
  name: "0060-run-shares",
  sql: `
    -- Runs that their account shows to every visitor with the link. Revoking deletes the row, and so does the end of the run's days.
    create table run_shares (
      token       text primary key check (length(token) = 22),
      run_id      text not null unique references runs on delete cascade,
      account_id  text not null references accounts,
      with_input  boolean not null,
      created_at  timestamptz not null default now()
    );

    -- Of a report on a shared run: which one.
    alter table reports add column run_id text;
  `,
};
