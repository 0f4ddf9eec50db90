import type { Migration } from "../../shared/migrate.ts";

export const keyTools: Migration = {
  name: "0070-key-tools",
  sql: `
    -- Which tools the tool server lists for the key: one for each agent in its scope, or few that find and run them.
    alter table api_keys add column tools text not null default 'all' check (tools in ('all', 'search'));
  `,
};
