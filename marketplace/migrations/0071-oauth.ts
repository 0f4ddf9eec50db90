import type { Migration } from "../../shared/migrate.ts";

export const oauth: Migration = {
  name: "0071-oauth",
  sql: `
    -- Programs that ask for access, as they name themselves: by registering, or by a document at the address that is their id.
    create table oauth_clients (
      id text primary key check (length(id) <= 500),
      name text not null check (length(name) between 1 and 100),
      redirect_uris text[] not null check (cardinality(redirect_uris) between 1 and 10),
      created_at timestamptz not null default now(),
      expires_at timestamptz not null
    );
    create index oauth_clients_by_end on oauth_clients (expires_at);

    -- What a client asked for and no person has answered yet.
    create table oauth_requests (
      id text primary key,
      client_id text not null,
      client_name text not null,
      redirect_uri text not null,
      state text check (length(state) <= 2000),
      challenge text not null,
      expires_at timestamptz not null
    );
    create index oauth_requests_by_end on oauth_requests (expires_at);

    -- A key whose holder is a client that a person allowed: it has no text, but codes and tokens. Its slots are beside those of keys.
    alter table api_keys
      add column client text check (length(client) <= 500),
      drop constraint api_keys_slot_check,
      add constraint api_keys_slot_check check (case when client is null then slot between 1 and 5 else slot between 101 and 120 end);

    -- Codes and tokens, as digests. One that was used stays until its end, so that a second use is known.
    create table oauth_secrets (
      digest bytea primary key check (length(digest) = 32),
      kind text not null check (kind in ('code', 'access', 'refresh')),
      key_id text not null references api_keys (id),
      redirect_uri text,
      challenge text,
      used_at timestamptz,
      expires_at timestamptz not null
    );
    create index oauth_secrets_by_end on oauth_secrets (expires_at);
  `,
};
