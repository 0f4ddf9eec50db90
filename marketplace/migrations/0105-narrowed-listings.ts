import type { Migration } from "../../shared/migrate.ts";

/** What lists are narrowed by, with the connector: of what no agent has all of, that is known from one index. */
export const narrowedListings: Migration = {
  name: "0105-narrowed-listings",
  online: [
    "drop index concurrently if exists listings_narrowed",
    "create index concurrently if not exists listings_narrowed on listings using gin (array_append(facets, 'connector:' || connector))",
  ],
};
