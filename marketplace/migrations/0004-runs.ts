import type { Migration } from "../../shared/migrate.ts";

export const runs: Migration = {
  name: "0004-runs",
  sql: `
    -- A run that is running has a lease its copy of the service keeps extending; when the lease lapses, the copy died.
    create table runs (
      id             text primary key,
      rail           text not null check (rail in ('credits', 'per_call')),
      account_id     text references accounts,
      key_id         text references api_keys,
      agent_id       text not null references agents,
      agent_version  integer not null,
      price_credits  bigint not null check (price_credits >= 0),
      state          text not null check (state in ('running', 'succeeded', 'failed', 'lost')),
      output         json,
      receipt        json,
      error          text,
      lease_until    timestamptz,
      created_at     timestamptz not null default now(),
      finished_at    timestamptz,
      check ((rail = 'credits') = (account_id is not null)),
      check ((state = 'running') = (finished_at is null)),
      check ((state = 'running') = (lease_until is not null))
    ) with (fillfactor = 70);
    create index runs_leased on runs (lease_until) where state = 'running';
    create index runs_held on runs (account_id) include (price_credits) where state = 'running';
    create index runs_of_account on runs (account_id, created_at desc, id);
    create index runs_finished on runs (finished_at) where state <> 'running';
  `,
};
