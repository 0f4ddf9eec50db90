import type { Migration } from "../../shared/migrate.ts";

/** The keys that people allowed a client: it stays registered as long as there is one. */
export const keysByClient: Migration = {
  name: "0114-keys-by-client",
  online: [
    "drop index concurrently if exists api_keys_by_client",
    "create index concurrently if not exists api_keys_by_client on api_keys (client) where client is not null and revoked_at is null",
  ],
};
