import type { Migration } from "../../shared/migrate.ts";

export const creditAlerts: Migration = {
  name: "0055-credit-alerts",
  sql: `
    -- What an account's holder asked to be told by e-mail. Only accounts that asked have a row.
    create table credit_alerts (
      account_id text primary key references accounts (id),
      balance_below bigint check (balance_below between 1 and 1000000000),
      cap_percent integer check (cap_percent between 1 and 100),
      -- Whether the balance is known to be below: told once for each time it falls.
      is_below boolean not null default false,
      told_at timestamptz,
      check (balance_below is not null or cap_percent is not null)
    );

    -- For which days, and months (UTC) by their first day, it was told of a key that much of its cap was spent. Kept for 40 days.
    create table cap_alerts (
      key_id text not null references api_keys (id),
      per text not null check (per in ('day', 'month')),
      day date not null,
      primary key (key_id, per, day)
    );
    create index cap_alerts_by_age on cap_alerts (day);
  `,
};
