import type { Migration } from "../../shared/migrate.ts";

export const credits: Migration = {
  name: "0003-credits",
  sql: `
    -- The one row that decides whether an account can pay. It equals the sum of its spendable postings.
    create table balances (
      account_id  text primary key references accounts,
      spendable   bigint not null default 0 check (spendable between 0 and 9007199254740991)
    ) with (fillfactor = 70);

    -- Every movement of credits: one amount leaves one purse and enters another, so nothing is made or lost.
    -- Purses: spendable:<account>, held:<run>, earned:<account>, platform:issued, platform:fees.
    create table postings (
      id          bigint generated always as identity primary key,
      kind        text not null check (kind in ('grant', 'hold', 'capture', 'fee', 'release')),
      from_purse  text not null,
      to_purse    text not null,
      amount      bigint not null check (amount > 0),
      run_id      text,
      reference   text unique,
      note        text,
      created_at  timestamptz not null default now(),
      check (from_purse <> to_purse),
      check ((run_id is null) = (kind = 'grant'))
    );
    create unique index postings_once on postings (run_id, kind) where run_id is not null;
    -- A hold ends once: captured or released, never both.
    create unique index postings_resolution on postings (run_id) where kind in ('capture', 'release');
    create index postings_earned on postings (to_purse, created_at) where to_purse like 'earned:%';
    create index postings_spent on postings (from_purse, created_at) where from_purse like 'earned:%';

    -- The sum of a purse's postings before a moment, so that reading a busy creator's earnings stays cheap.
    create table purse_totals (
      purse    text primary key,
      total    bigint not null,
      through  timestamptz not null
    );

    create function refuse_change() returns trigger language plpgsql as $$
    begin
      raise exception '% is append-only', tg_table_name;
    end $$;
    create trigger postings_append_only before update or delete or truncate on postings
      for each statement execute function refuse_change();
  `,
};
