import type { Migration } from "../../shared/migrate.ts";

export const agentsAsTools: Migration = {
  name: "0021-agents-as-tools",
  sql: `
    -- A page of an account's own tools is one walk along it, among however many agents of others.
    create index agents_as_tools on agents (account_id, tool_name) where state = 'live';
  `,
};
