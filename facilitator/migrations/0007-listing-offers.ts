import type { Migration } from "../../shared/migrate.ts";

export const listingOffers: Migration = {
  name: "0007-listing-offers",
  sql: `
    -- What a payment wants listed, from its claim until its end. Text, not json: nothing in it may keep a payment from ending.
    alter table payments add column offer text, add column offer_digest bytea;

    -- Offers of payments that have settled, put here in the statement that settles them, until they are listed or
    -- refused. Payments of one resource that wait together are listed together.
    create table discovery_offers (
      digest       bytea primary key,
      offer        text not null,
      attempts     smallint not null default 0,
      offered_at   timestamptz not null default now(),
      -- A daemon that takes an offer leaves it to the others for so long: the lease is also the pause between attempts.
      lease_until  timestamptz not null default now()
    );
    create index discovery_offers_due on discovery_offers (lease_until);
  `,
};
