import type { Migration } from "../../shared/migrate.ts";

export const listingDays: Migration = {
  name: "0020-listing-days",
  sql: `
    -- A route template's literal beginning, by which a path finds it, and what its paths look like.
    alter table discovery_resources
      add column route_prefix text generated always as (
        left(resource, length(resource) - length(bazaar->>'routeTemplate')) || substring(bazaar->>'routeTemplate' from '^([^:]*/)')
      ) stored,
      add column route_pattern text generated always as (
        '^' || replace(left(resource, length(resource) - length(bazaar->>'routeTemplate')), '.', '[.]')
            || regexp_replace(replace(bazaar->>'routeTemplate', '.', '[.]'), '[^/]*:[^/]*', '[^/]+', 'g') || '$'
      ) stored,
      -- The lowest of its ways to pay, base units.
      add column price_atomic numeric;
    create index discovery_resources_resource on discovery_resources (resource);
    create index discovery_resources_route on discovery_resources (route_prefix) where route_prefix is not null;
    create index discovery_resources_price on discovery_resources (price_atomic, key);
    update discovery_resources r
       set price_atomic = (select min((a.terms->>'amount')::numeric) from discovery_accepts a
                            where a.resource_id = r.id and a.terms->>'amount' ~ '^[0-9]{1,78}$');

    -- What was paid for a listed resource into its own wallets, by its URL or by a path of its route template.
    create table listing_days (
      resource_id  bigint not null references discovery_resources (id) on delete cascade,
      network      text not null,
      day          date not null,
      settled      bigint not null,
      failed       bigint not null,
      price_min    numeric,
      price_max    numeric,
      primary key (resource_id, network, day)
    );
    insert into listing_days
    select r.id, d.network, d.day, sum(d.settled), sum(d.failed), min(d.price_min), max(d.price_max)
      from discovery_resources r join resource_days d on d.resource_url in (r.resource, r.probe_url)
     group by 1, 2, 3;
    drop table resource_days;

    -- Each settlement wrote and deleted an entry that only rare work would have read.
    drop index uncounted_settlements_record;
  `,
};
