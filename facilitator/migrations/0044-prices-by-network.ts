import type { Migration } from "../../shared/migrate.ts";

/** Of the resources on some networks the cheapest or dearest come first. */
export const pricesByNetwork: Migration = {
  name: "0044-prices-by-network",
  online: [
    "drop index concurrently if exists discovery_accepts_price",
    "create index concurrently if not exists discovery_accepts_price on discovery_accepts (network, ((terms->>'amount')::numeric), resource_id)",
  ],
};
