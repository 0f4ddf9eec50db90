import type { Migration } from "../../shared/migrate.ts";

export const oauthLimits: Migration = {
  name: "0072-oauth-limits",
  sql: `
    -- Who registered, as limits count callers, and the key that a person last allowed the client.
    alter table oauth_clients add column registered_from text, add column key_id text references api_keys (id);

    alter table oauth_requests add column asked_from text;

    -- How often a client renews its tokens is limited by key.
    alter table oauth_secrets add column issued_at timestamptz not null default now();
  `,
};
