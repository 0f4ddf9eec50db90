import type { Migration } from "../../shared/migrate.ts";

export const agents: Migration = {
  name: "0002-agents",
  sql: `
    -- The address an agent was given (handle, slug) and the account that owns it are kept apart on purpose: before a
    -- run the handle must still lead to that account.
    create table agents (
      id              text primary key,
      account_id      text not null references accounts,
      handle          text not null,
      slug            text not null check (slug ~ '^[a-z0-9][a-z0-9-]{1,46}[a-z0-9]$'),
      tool_name       text not null unique,
      state           text not null default 'draft' check (state in ('draft', 'live', 'unpublished', 'suspended')),
      suspended_from  text check (suspended_from in ('live', 'unpublished')),
      live_version    integer,
      created_at      timestamptz not null default now(),
      updated_at      timestamptz not null default now(),
      check (state <> 'live' or live_version is not null),
      check ((state = 'suspended') = (suspended_from is not null))
    );
    create unique index agents_address on agents (lower(handle), lower(slug));
    create index agents_listed on agents (created_at desc, id) where state = 'live';

    -- What a version says never changes; publishing is moving live_version.
    create table agent_versions (
      agent_id                    text not null references agents,
      version                     integer not null check (version > 0),
      name                        text not null,
      description                 text not null,
      connector                   text not null,
      price_credits               bigint not null check (price_credits between 0 and 1000000),
      fields                      jsonb not null,
      accepts_extra_instructions  boolean not null,
      output_kind                 text not null check (output_kind in ('text', 'image', 'json', 'receipt')),
      settings                    jsonb not null,
      sealed_secrets              jsonb not null default '{}',
      search                      tsvector not null,
      created_at                  timestamptz not null default now(),
      primary key (agent_id, version)
    );
    create index agent_versions_search on agent_versions using gin (search);
    alter table agents add foreign key (id, live_version) references agent_versions (agent_id, version);
  `,
};
