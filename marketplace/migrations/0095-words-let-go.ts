import type { Migration } from "../../shared/migrate.ts";

export const wordsLetGo: Migration = {
  name: "0095-words-let-go",
  sql: `
    -- As 0023 has it, but a word that no agent has any more goes, with the shapes by which it was found. One statement counts a word and
    -- locks its row, so that none goes between two.
    create or replace function count_words() returns trigger language plpgsql as $$
    declare
      change record;
      is_left boolean;
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
        'select place, lexeme, sum(n) as agents, coalesce(sum(n) filter (where ''A'' = any (weights)), 0) as names
         from (' || moved || ') moved, unnest(search), lateral (values (''*''), (connector)) places (place)
         group by place, lexeme having sum(n) <> 0 or sum(n) filter (where ''A'' = any (weights)) <> 0
         order by lexeme collate "C", place'
      loop
        -- The row that is proposed must be one that may be, also where there is one already.
        insert into listing_words as known
          values (change.place, change.lexeme, greatest(change.agents, change.names, 0), greatest(change.names, 0))
          on conflict (connector, word) do update
            set agents = known.agents + change.agents, names = known.names + change.names
          returning known.agents > 0 into is_left;
        if not is_left then
          delete from listing_words where connector = change.place and word = change.lexeme;
          if change.place = '*' then
            delete from listing_typos using typo_shapes(change.lexeme) of_word (shape)
            where listing_typos.shape = of_word.shape and listing_typos.word = change.lexeme;
          end if;
        end if;
      end loop;
      return null;
    end $$;
  `,
};
