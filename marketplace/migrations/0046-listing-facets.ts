import type { Migration } from "../../shared/migrate.ts";

export const listingFacets: Migration = {
  name: "0046-listing-facets",
  sql: `
    -- What an agent is for, in its creator's words, and whether its buyer needs an account.
    alter table agent_versions
      add column category text not null default 'other',
      add column tags text[] not null default '{}',
      add column needs_account boolean not null default false;
    update agent_versions set needs_account = true where connector = 'x-reward-credits';

    -- What lists are narrowed by, with the listing itself. Facets are all of it that is either there or not, for one index.
    alter table listings
      add column category text not null default 'other',
      add column tags text[] not null default '{}',
      add column networks text[] not null default '{}',
      add column per_call boolean not null default false,
      add column facets text[] not null default '{}';

    -- A live agent as it is listed now; its creator's handle is found by words too, behind everything else.
    create function listing_of(agent text)
      returns table (agent_id text, handle text, slug text, name text, description text, connector text, price_credits bigint,
        search tsvector, created_at timestamptz, category text, tags text[], networks text[], per_call boolean, facets text[])
      language sql stable as $$
      select a.id, a.handle, a.slug, v.name, v.description, v.connector, v.price_credits,
        v.search || setweight(to_tsvector('simple', translate(a.handle, '-', ' ')), 'D'), a.created_at,
        v.category, v.tags, w.networks, w.per_call,
        array['category:' || v.category] || array(select 'tag:' || tag from unnest(v.tags) tag)
          || array(select 'network:' || network from unnest(w.networks) network)
          || case when v.price_credits = 0 then array['free'] else '{}' end
          || case when w.per_call then array['per_call'] else '{}' end
      from agents a
      join agent_versions v on v.agent_id = a.id and v.version = a.live_version,
      lateral (
        select paid.networks, not v.needs_account and (v.price_credits = 0 or paid.networks <> '{}') as per_call
        from (
          select coalesce(array_agg(p.network order by p.network), '{}') as networks from payout_wallets p
          where p.account_id = a.account_id and p.state = 'checked' and v.price_credits > 0 and not v.needs_account
        ) paid
      ) w
      where a.id = agent and a.state = 'live'
    $$;

    create or replace function list_agent() returns trigger language plpgsql as $$
    begin
      if new.state <> 'live' then
        delete from listings where agent_id = new.id;
        return null;
      end if;
      -- The one that comes second, this or a change of the creator's wallets, sees what the first one wrote.
      perform pg_advisory_xact_lock(hashtext('listings of ' || new.account_id));
      insert into listings (agent_id, handle, slug, name, description, connector, price_credits, search, created_at,
                            category, tags, networks, per_call, facets)
      select agent_id, handle, slug, name, description, connector, price_credits, search, created_at,
             category, tags, networks, per_call, facets
      from listing_of(new.id)
      on conflict (agent_id) do update set handle = excluded.handle, slug = excluded.slug, name = excluded.name,
        description = excluded.description, connector = excluded.connector, price_credits = excluded.price_credits,
        search = excluded.search, category = excluded.category, tags = excluded.tags, networks = excluded.networks,
        per_call = excluded.per_call, facets = excluded.facets;
      return null;
    end $$;

    create function list_networks() returns trigger language plpgsql as $$
    declare
      account text := case tg_op when 'DELETE' then old.account_id else new.account_id end;
    begin
      perform pg_advisory_xact_lock(hashtext('listings of ' || account));
      update listings l set networks = now_listed.networks, per_call = now_listed.per_call, facets = now_listed.facets
      from agents a, lateral listing_of(a.id) now_listed
      where a.account_id = account and a.state = 'live' and l.agent_id = a.id
        and (l.networks, l.per_call) is distinct from (now_listed.networks, now_listed.per_call);
      return null;
    end $$;
    create trigger payout_wallets_added after insert on payout_wallets
      for each row when (new.state = 'checked') execute function list_networks();
    create trigger payout_wallets_changed after update of state, network on payout_wallets
      for each row when ((old.state = 'checked') <> (new.state = 'checked')) execute function list_networks();
    create trigger payout_wallets_gone after delete on payout_wallets
      for each row when (old.state = 'checked') execute function list_networks();

    -- How many agents have each facet.
    create table listing_facets (
      facet   text collate "C" primary key,
      agents  bigint not null check (agents >= 0)
    ) with (fillfactor = 70);

    create function count_facets() returns trigger language plpgsql as $$
    declare
      change record;
      moved text := case tg_op
        when 'INSERT' then 'select facets, 1 as n from came'
        when 'DELETE' then 'select facets, -1 as n from went'
        else 'select facets, 1 as n from came union all select facets, -1 from went'
      end;
    begin
      -- In one order, so that two publications never wait for each other.
      for change in execute
        'select facet, sum(n) as agents from (' || moved || ') moved, unnest(facets) facet
         group by facet having sum(n) <> 0 order by facet collate "C"'
      loop
        insert into listing_facets values (change.facet, 0) on conflict do nothing;
        update listing_facets set agents = agents + change.agents where facet = change.facet;
      end loop;
      return null;
    end $$;

    -- Words change only with what is said; all else about a listing changes without touching them.
    create or replace function count_words() returns trigger language plpgsql as $$
    declare
      change record;
      moved text := case tg_op
        when 'INSERT' then 'select connector, search, 1 as n from came'
        when 'DELETE' then 'select connector, search, -1 as n from went'
        else 'select connector, search, 1 as n from came union all select connector, search, -1 from went'
      end;
    begin
      if tg_op = 'UPDATE' then
        perform from came join went using (agent_id)
          where (came.connector, came.search) is distinct from (went.connector, went.search) limit 1;
        if not found then return null; end if;
      end if;
      if tg_op <> 'INSERT' then
        delete from listing_names using went, unnest(went.search) said
        where listing_names.word = said.lexeme and listing_names.created_at = went.created_at
          and listing_names.agent_id = went.agent_id;
      end if;
      if tg_op <> 'DELETE' then
        insert into listing_names
        select said.lexeme, came.connector, came.created_at, came.agent_id from came, unnest(came.search) said
        where 'A' = any (said.weights);
      end if;
      -- In one order, so that two publications never wait for each other.
      for change in execute
        'select place, lexeme, sum(n) as agents, sum(n) filter (where ''A'' = any (weights)) as names
         from (' || moved || ') moved, unnest(search), lateral (values (''*''), (connector)) places (place)
         group by place, lexeme having sum(n) <> 0 or sum(n) filter (where ''A'' = any (weights)) <> 0
         order by lexeme collate "C", place'
      loop
        insert into listing_words values (change.place, change.lexeme, 0, 0) on conflict do nothing;
        update listing_words set agents = agents + change.agents, names = names + coalesce(change.names, 0)
        where connector = change.place and word = change.lexeme;
      end loop;
      return null;
    end $$;

    -- What is listed already, and its words, which are the handles' too from now on.
    alter table listings disable trigger user;
    update listings l set category = n.category, tags = n.tags, networks = n.networks, per_call = n.per_call,
      facets = n.facets, search = n.search
    from agents a, lateral listing_of(a.id) n where a.id = l.agent_id;
    alter table listings enable trigger user;
    insert into listing_facets select facet, count(*) from listings, unnest(facets) facet group by facet;
    delete from listing_words;
    insert into listing_words
    select place, lexeme, count(*), count(*) filter (where 'A' = any (weights))
    from listings, unnest(search), lateral (values ('*'), (connector)) places (place) group by place, lexeme;

    create trigger listings_facets_came after insert on listings
      referencing new table as came for each statement execute function count_facets();
    create trigger listings_facets_went after delete on listings
      referencing old table as went for each statement execute function count_facets();
    create trigger listings_facets_changed after update on listings
      referencing new table as came old table as went for each statement execute function count_facets();

    -- A list that is narrowed is looked through within the index that has its order.
    create index listings_facets on listings using gin (facets);
    create index listings_cheapest on listings (price_credits, created_at desc, agent_id) include (connector, facets);
    drop index listings_newest;
    create index listings_newest on listings (created_at desc, agent_id) include (connector, price_credits, facets);
  `,
};
