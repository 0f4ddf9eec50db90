import type { Migration } from "../../shared/migrate.ts";

export const refusedCalls: Migration = {
  name: "0091-refused-calls",
  sql: `
    -- Calls of a key that its limit, scope or cap refused, by the minute and what was asked for: an agent, or a method and path.
    create table refused_calls (
      key_id  text not null references api_keys,
      minute  timestamptz not null,
      reason  text not null check (length(reason) <= 20),
      asked   text not null check (length(asked) <= 200),
      calls   bigint not null check (calls > 0),
      primary key (key_id, minute, reason, asked)
    );
  `,
};
