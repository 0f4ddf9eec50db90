import type { Migration } from "../../shared/migrate.ts";

/** What the limits of 0072 are counted by. */
export const oauthLimitIndexes: Migration = {
  name: "0073-oauth-limit-indexes",
  online: [
    "drop index concurrently if exists oauth_clients_by_origin",
    "create index concurrently if not exists oauth_clients_by_origin on oauth_clients (registered_from, created_at)",
    "drop index concurrently if exists oauth_clients_by_age",
    "create index concurrently if not exists oauth_clients_by_age on oauth_clients (created_at)",
    "drop index concurrently if exists oauth_requests_by_origin",
    "create index concurrently if not exists oauth_requests_by_origin on oauth_requests (asked_from)",
    "drop index concurrently if exists oauth_secrets_by_key",
    "create index concurrently if not exists oauth_secrets_by_key on oauth_secrets (key_id, kind, issued_at)",
  ],
};
