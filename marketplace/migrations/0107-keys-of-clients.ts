import type { Migration } from "../../shared/migrate.ts";

/** The keys of clients that people allow, which are looked through for those that can get no token any more. */
export const keysOfClients: Migration = {
  name: "0107-keys-of-clients",
  online: [
    "drop index concurrently if exists api_keys_of_clients",
    "create index concurrently if not exists api_keys_of_clients on api_keys (id) where client is not null and revoked_at is null",
  ],
};
