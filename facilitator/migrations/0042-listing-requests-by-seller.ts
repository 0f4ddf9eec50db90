import type { Migration } from "../../shared/migrate.ts";

/** How many of its offers wait is asked while a payment ends. */
export const listingRequestsBySeller: Migration = {
  name: "0042-listing-requests-by-seller",
  online: [
    "drop index concurrently if exists discovery_offers_seller",
    "create index concurrently if not exists discovery_offers_seller on discovery_offers (seller)",
  ],
};
