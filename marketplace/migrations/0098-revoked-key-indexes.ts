import type { Migration } from "../../shared/migrate.ts";

/** An account's revoked keys, the newest first; and by which key a client is let in. */
export const revokedKeyIndexes: Migration = {
  name: "0098-revoked-key-indexes",
  online: [
    "drop index concurrently if exists api_keys_revoked",
    "create index concurrently if not exists api_keys_revoked on api_keys (account_id, created_at desc, id desc) where revoked_at is not null",
    "drop index concurrently if exists oauth_clients_by_key",
    "create index concurrently if not exists oauth_clients_by_key on oauth_clients (key_id)",
  ],
};
