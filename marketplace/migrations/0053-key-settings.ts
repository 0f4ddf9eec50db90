import type { Migration } from "../../shared/migrate.ts";

export const keySettings: Migration = {
  name: "0053-key-settings",
  sql: `
    alter table api_keys
      -- All that runs asked with the key may cost in a calendar month (UTC).
      add column max_credits_per_month bigint check (max_credits_per_month between 0 and 1000000000),
      -- The network that it was used from, without the last part of the address, and the program, as it names itself.
      add column last_used_from text check (length(last_used_from) <= 60),
      add column last_used_by text check (length(last_used_by) <= 60),
      -- What is counted of the day on which caps were set, or lifted, begins in the middle of it.
      add column caps_changed_at timestamptz;
  `,
};
