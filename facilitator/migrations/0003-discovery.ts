import type { Migration } from "../../shared/migrate.ts";

export const discovery: Migration = {
  name: "0003-discovery",
  sql: `
    -- Resources that were paid for through this facilitator and asked to be listed.
    create table discovery_resources (
      id               bigint generated always as identity primary key,
      key              text not null unique,
      resource         text not null,
      type             text not null check (type in ('http', 'mcp')),
      x402_version     smallint not null,
      description      text,
      mime_type        text,
      service_name     text,
      tags             text[] not null,
      icon_url         text,
      bazaar           json not null,
      words            tsvector not null,
      last_settled_at  timestamptz not null
    );
    create index discovery_resources_recent on discovery_resources (last_settled_at desc, key);
    create index discovery_resources_words on discovery_resources using gin (words);

    -- The ways to pay for a resource.
    create table discovery_accepts (
      resource_id      bigint not null references discovery_resources on delete cascade,
      scheme           text not null,
      network          text not null,
      asset            text not null,
      pay_to           text not null,
      terms            json not null,
      -- Of what the payer claimed: while it stays the same, a payment only refreshes the listing.
      announcement_digest     bytea not null,
      checked_at       timestamptz not null,
      primary key (resource_id, scheme, network, asset, pay_to)
    );
    create index discovery_accepts_wallet on discovery_accepts (pay_to);
    create index discovery_accepts_announced on discovery_accepts (announcement_digest);

    -- How many catalog operations a wallet has used in the minute that began at \`minute\`.
    create table discovery_budgets (
      pay_to  text primary key,
      minute  timestamptz not null,
      used    integer not null
    );
  `,
};
