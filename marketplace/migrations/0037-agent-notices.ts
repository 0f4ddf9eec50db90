import type { Migration } from "../../shared/migrate.ts";

export const agentNotices: Migration = {
  name: "0037-agent-notices",
  sql: `
    -- What a creator should know of what went wrong with an agent: one row a kind, however often it happened.
    create table agent_notices (
      agent_id text not null references agents (id),
      kind text not null,
      version integer not null,
      times integer not null default 1,
      first_at timestamptz not null default now(),
      last_at timestamptz not null default now(),
      primary key (agent_id, kind)
    );
  `,
};
