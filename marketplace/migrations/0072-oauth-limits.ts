import type { Migration } from "../../shared/migrate.ts";

export const oauthLimits: Migration = {
  name: "0072-oauth-limits",
  sql: `
    -- Who registered, as limits count callers, and the key that a person last allowed the client.
    alter table oauth_clients add column registered_from text, add column key_id text references api_keys (id);
    create index oauth_clients_by_origin on oauth_clients (registered_from, created_at);
    create index oauth_clients_by_age on oauth_clients (created_at);

    alter table oauth_requests add column asked_from text;
    create index oauth_requests_by_origin on oauth_requests (asked_from);

    -- How often a client renews its tokens is limited by key.
    alter table oauth_secrets add column issued_at timestamptz not null default now();
    create index oauth_secrets_by_key on oauth_secrets (key_id, kind, issued_at);
  `,
};
