import type { Migration } from "../../shared/migrate.ts";

export const reports: Migration = {
  name: "0052-reports",
  sql: `
    -- What visitors told the operator of agents. Who told it is not kept, but for the e-mail address they gave.
    create table reports (
      id text primary key,
      agent_id text not null references agents (id),
      version integer not null,
      reason text not null,
      text text not null check (length(text) <= 2000),
      email text check (length(email) <= 254),
      created_at timestamptz not null default now(),
      resolved_at timestamptz,
      note text check (length(note) <= 2000),
      check (note is null or resolved_at is not null)
    );
    create index reports_open on reports (created_at desc, id) where resolved_at is null;
    create index reports_newest on reports (created_at desc, id);
    create index reports_of_agent on reports (agent_id);

    -- How many came in a day (UTC): of an address, on an agent, of all. Kept for two days.
    create table report_days (
      subject text not null,
      day date not null,
      reports integer not null,
      primary key (subject, day)
    );
  `,
};
