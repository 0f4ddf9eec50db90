import type { Migration } from "../../shared/migrate.ts";

export const listingWallets: Migration = {
  name: "0043-listing-wallets",
  sql: `
    -- What was settled for a listed resource into each of its wallets, from this version on, base units.
    create table listing_wallets (
      resource_id     bigint not null references discovery_resources (id) on delete cascade,
      network         text not null,
      pay_to          text not null,
      settled_atomic  numeric not null,
      primary key (resource_id, network, pay_to)
    );
  `,
};
