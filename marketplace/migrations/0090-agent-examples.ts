import type { Migration } from "../../shared/migrate.ts";

export const agentExamples: Migration = {
  name: "0090-agent-examples",
  sql: `
    -- What an agent's page shows of what it gave: copies of runs of its creator's own, which stay when the runs are deleted.
    create table agent_examples (
      agent_id     text not null references agents,
      run_id       text not null,
      version      integer not null,
      input        jsonb not null,
      output       jsonb not null,
      receipt      jsonb,
      took_ms      integer not null check (took_ms >= 0),
      ran_at       timestamptz not null,
      created_at   timestamptz not null default now(),
      primary key (agent_id, run_id)
    );
  `,
};
