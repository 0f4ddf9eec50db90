import type { Migration } from "../../shared/migrate.ts";

export const runRequests: Migration = {
  name: "0007-run-requests",
  sql: `
    -- A request that names itself runs once: the run it started is found again by the name, with what it answered.
    alter table runs
      add column idempotency_key text check (length(idempotency_key) between 1 and 255),
      add column request_digest bytea check (length(request_digest) = 32),
      add column credits_remaining bigint,
      add check ((idempotency_key is null) = (request_digest is null));
    create unique index runs_once on runs (account_id, idempotency_key) where idempotency_key is not null;

    -- What a capped key has spent or set aside on a day (UTC); what is given back is taken off again.
    alter table api_keys add column max_credits_per_day bigint check (max_credits_per_day between 0 and 1000000000);
    create table key_days (
      key_id  text not null references api_keys,
      day     date not null,
      spent   bigint not null,
      cap     bigint not null,
      primary key (key_id, day),
      constraint key_days_cap check (spent between 0 and cap)
    );
    create index key_days_by_age on key_days (day);
  `,
};
