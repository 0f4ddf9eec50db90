import type { Migration } from "../../shared/migrate.ts";

export const listingWords: Migration = {
  name: "0023-listing-words",
  sql: `
    -- Every word of the live agents' names and descriptions, and how many agents have it, on each connector and on all
    -- as '*': a search looks its words up here first, asks the index for whole words only, and knows the total of one
    -- word without counting.
    create table listing_words (
      connector  text not null,
      word       text collate "C" not null,
      agents     bigint not null check (agents >= 0),
      -- Those that have it in their name.
      names      bigint not null check (names between 0 and agents),
      primary key (connector, word)
    ) with (fillfactor = 70);

    -- Where a word is in the name, newest agent first.
    create table listing_names (
      word        text collate "C" not null,
      connector   text not null,
      created_at  timestamptz not null,
      agent_id    text not null
    );
    create index listing_names_newest on listing_names (word, created_at desc, agent_id);
    create index listing_names_of_connector on listing_names (word, connector, created_at desc, agent_id);

    create function count_words() returns trigger language plpgsql as $$
    declare
      change record;
      moved text := case tg_op
        when 'INSERT' then 'select connector, search, 1 as n from came'
        when 'DELETE' then 'select connector, search, -1 as n from went'
        else 'select connector, search, 1 as n from came union all select connector, search, -1 from went'
      end;
    begin
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
    create trigger listings_words_came after insert on listings
      referencing new table as came for each statement execute function count_words();
    create trigger listings_words_went after delete on listings
      referencing old table as went for each statement execute function count_words();
    create trigger listings_words_changed after update on listings
      referencing new table as came old table as went for each statement execute function count_words();

    insert into listing_words
    select place, lexeme, count(*), count(*) filter (where 'A' = any (weights))
    from listings, unnest(search), lateral (values ('*'), (connector)) places (place) group by place, lexeme;
    insert into listing_names
    select lexeme, connector, created_at, agent_id from listings, unnest(search) where 'A' = any (weights);
  `,
};
