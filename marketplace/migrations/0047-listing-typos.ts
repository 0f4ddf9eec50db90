import type { Migration } from "../../shared/migrate.ts";

export const listingTypos: Migration = {
  name: "0047-listing-typos",
  sql: `
    -- A word and its stem, each whole and with one letter left out: two words that share one of these are a typo apart.
    create function typo_shapes(word text) returns setof text language sql immutable strict rows 20 as $$
      select distinct shape from (
        select word as base where word ~ '^[^0-9]{4,24}$'
        union
        select stem from unnest(tsvector_to_array(to_tsvector('english', word))) stem where stem ~ '^[^0-9]{4,24}$'
      ) bases, lateral (
        select base as shape
        union all
        select substr(base, 1, n - 1) || substr(base, n + 1) from generate_series(1, length(base)) n
      ) shapes
    $$;

    -- By which shapes each word that an agent has, or had, is found.
    create table listing_typos (
      shape  text collate "C" not null,
      word   text collate "C" not null,
      primary key (shape, word)
    );

    create function keep_typo_shapes() returns trigger language plpgsql as $$
    begin
      insert into listing_typos select typo_shapes(new.word), new.word on conflict do nothing;
      return null;
    end $$;
    create trigger listing_words_new after insert on listing_words
      for each row when (new.connector = '*') execute function keep_typo_shapes();

    insert into listing_typos select shape, word from listing_words, lateral typo_shapes(word) shape
    where connector = '*' on conflict do nothing;
  `,
};
