import type { Migration } from "../../shared/migrate.ts";

export const outputDays: Migration = {
  name: "0096-output-days",
  sql: `
    -- What the outputs that an account's runs gave take, by the day (UTC) on which the runs began; those of runs that began before
    -- 'let_go_until' are let go.
    create table output_days (
      account_id    text not null references accounts,
      day           date not null,
      bytes         bigint not null check (bytes >= 0),
      let_go_until  timestamptz,
      primary key (account_id, day)
    );
    create index output_days_by_age on output_days (day);

    -- Accounts whose outputs take all that they may and are too new to be let go: they run nothing until some are old enough.
    create table full_accounts (
      account_id  text primary key references accounts
    );
  `,
};
