import type { Migration } from "../../shared/migrate.ts";

export const listings: Migration = {
  name: "0008-listings",
  sql: `
    -- The live agents as the catalog shows them, and nothing else, so that a page is one walk along one index.
    create table listings (
      agent_id       text primary key references agents,
      handle         text not null,
      slug           text not null,
      name           text not null,
      description    text not null,
      connector      text not null,
      price_credits  bigint not null,
      search         tsvector not null,
      created_at     timestamptz not null
    );
    create index listings_newest on listings (created_at desc, agent_id);
    create index listings_of_connector on listings (connector, created_at desc, agent_id);
    create index listings_of_creator on listings (lower(handle), created_at desc, agent_id);
    create index listings_search on listings using gin (search);
    drop index agent_versions_search;
    drop index agents_listed;

    -- Counting a million rows takes long, so they are counted as they come and go.
    create table listing_counts (
      connector  text primary key,
      agents     bigint not null check (agents >= 0)
    );

    create function list_agent() returns trigger language plpgsql as $$
    begin
      if new.state <> 'live' then
        delete from listings where agent_id = new.id;
        return null;
      end if;
      insert into listings (agent_id, handle, slug, name, description, connector, price_credits, search, created_at)
      select new.id, new.handle, new.slug, v.name, v.description, v.connector, v.price_credits, v.search, new.created_at
      from agent_versions v where v.agent_id = new.id and v.version = new.live_version
      on conflict (agent_id) do update set handle = excluded.handle, slug = excluded.slug, name = excluded.name,
        description = excluded.description, connector = excluded.connector, price_credits = excluded.price_credits,
        search = excluded.search;
      return null;
    end $$;
    create trigger agents_listed after insert or update of state, live_version, handle, slug on agents
      for each row execute function list_agent();

    create function count_listings() returns trigger language plpgsql as $$
    declare
      change record;
    begin
      -- In one order, so that two publications never wait for each other.
      if tg_op = 'INSERT' then
        insert into listing_counts as counts select connector, count(*) from came group by connector order by connector
        on conflict (connector) do update set agents = counts.agents + excluded.agents;
      elsif tg_op = 'DELETE' then
        for change in select connector, count(*) as agents from went group by connector order by connector loop
          update listing_counts set agents = agents - change.agents where connector = change.connector;
        end loop;
      else
        for change in
          select connector, sum(agents) as agents from (
            select connector, 1 as agents from came union all select connector, -1 from went
          ) moved group by connector having sum(agents) <> 0 order by connector
        loop
          insert into listing_counts as counts values (change.connector, 0) on conflict do nothing;
          update listing_counts set agents = agents + change.agents where connector = change.connector;
        end loop;
      end if;
      return null;
    end $$;
    create trigger listings_came after insert on listings
      referencing new table as came for each statement execute function count_listings();
    create trigger listings_went after delete on listings
      referencing old table as went for each statement execute function count_listings();
    create trigger listings_changed after update on listings
      referencing new table as came old table as went for each statement execute function count_listings();

    insert into listings (agent_id, handle, slug, name, description, connector, price_credits, search, created_at)
    select a.id, a.handle, a.slug, v.name, v.description, v.connector, v.price_credits, v.search, a.created_at
    from agents a join agent_versions v on v.agent_id = a.id and v.version = a.live_version
    where a.state = 'live';
  `,
};
