import type { Migration } from "../../shared/migrate.ts";

export const agentDrafts: Migration = {
  name: "0057-agent-drafts",
  sql: `
    -- What creators write of an agent before it is a version: kept as it stands, whole or not. A revision is given once
    -- and to one draft, so that a page that shows an older state cannot take it for its own.
    create sequence agent_draft_revisions;

    create table agent_drafts (
      account_id text not null references accounts (id),
      slug text not null check (slug ~ '^[a-z0-9][a-z0-9-]{1,46}[a-z0-9]$'),
      revision bigint not null default nextval('agent_draft_revisions'),
      definition jsonb not null,
      -- By name; null takes away the secret that the newest version has.
      sealed_secrets jsonb not null default '{}',
      tried_revision bigint,
      tried_well boolean,
      saved_at timestamptz not null default now(),
      primary key (account_id, slug),
      check ((tried_revision is null) = (tried_well is null))
    );
  `,
};
