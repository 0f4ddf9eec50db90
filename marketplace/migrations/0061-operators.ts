import type { Migration } from "../../shared/migrate.ts";

export const operators: Migration = {
  name: "0061-operators",
  sql: `
    -- Accounts that the operator named from the command line. The secret of their authenticator (RFC 6238) is sealed.
    create table operators (
      account_id      text primary key references accounts,
      totp_secret     text not null,
      -- The time step of the last code that was taken: each is taken once.
      last_step       bigint not null default 0,
      attempts        integer not null default 0 check (attempts >= 0),
      attempts_since  timestamptz not null default now(),
      named_at        timestamptz not null default now()
    );

    -- Sessions whose person showed a code a moment ago. They end with the session.
    create table operator_confirmations (
      session_id  text primary key references sign_in_sessions on delete cascade,
      account_id  text not null references operators on delete cascade,
      until       timestamptz not null
    );
    create index operator_confirmations_of_account on operator_confirmations (account_id);

    -- Credits that operators granted in a day (UTC), all of them together.
    create table operator_grant_days (
      day      date primary key,
      granted  bigint not null check (granted >= 0)
    );
  `,
};
