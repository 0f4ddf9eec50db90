import type { Migration } from "../../shared/migrate.ts";

/** Listings are found by the address that was paid for; an address may be longer than a btree takes. */
export const listingsByAddress: Migration = {
  name: "0048-listings-by-address",
  online: [
    "drop index concurrently if exists discovery_resources_address",
    "create index concurrently if not exists discovery_resources_address on discovery_resources using hash (probe_url)",
  ],
};
