import type { Migration } from "../../shared/migrate.ts";

export const listingCounts: Migration = {
  name: "0009-listing-counts",
  sql: `
    -- A creator can have many agents too: what is counted are each creator's agents, and all of them as '*'.
    drop table listing_counts;
    create table listing_counts (
      creator    text not null,
      connector  text not null,
      agents     bigint not null check (agents >= 0),
      primary key (creator, connector)
    );
    insert into listing_counts
    select creator, connector, count(*) from listings, lateral (values ('*'), (lower(handle))) whose (creator)
    group by creator, connector;

    create or replace function count_listings() returns trigger language plpgsql as $$
    declare
      change record;
      moved text := case tg_op
        when 'INSERT' then 'select handle, connector, 1 as n from came'
        when 'DELETE' then 'select handle, connector, -1 as n from went'
        else 'select handle, connector, 1 as n from came union all select handle, connector, -1 from went'
      end;
    begin
      -- In one order, so that two publications never wait for each other.
      for change in execute
        'select creator, connector, sum(n) as agents from (' || moved || ') moved,
           lateral (values (''*''), (lower(handle))) whose (creator)
         group by creator, connector having sum(n) <> 0 order by creator, connector'
      loop
        insert into listing_counts values (change.creator, change.connector, 0) on conflict do nothing;
        update listing_counts set agents = agents + change.agents
        where creator = change.creator and connector = change.connector;
      end loop;
      return null;
    end $$;
  `,
};
