import type { Migration } from "../../shared/migrate.ts";

export const accounts: Migration = {
  name: "0001-accounts",
  sql: `
    create table accounts (
      id          text primary key,
      handle      text not null check (handle ~ '^[a-z0-9][a-z0-9-]{1,28}[a-z0-9]$'),
      state       text not null default 'open' check (state in ('open', 'closed', 'suspended')),
      created_at  timestamptz not null default now()
    );
    create unique index accounts_handle on accounts (lower(handle));

    -- The five keys of an account are five slots, so that no race can make a sixth.
    create table api_keys (
      id                     text primary key,
      account_id             text not null references accounts,
      slot                   smallint not null check (slot between 1 and 5),
      name                   text not null check (length(name) between 1 and 100),
      digest                 bytea not null unique check (length(digest) = 32),
      start                  text not null,
      last4                  text not null,
      scope                  text not null check (scope in ('own_agents', 'chosen_agents', 'rest_only')),
      scope_agents           text[] not null default '{}',
      rate_limit_per_minute  integer not null check (rate_limit_per_minute between 1 and 100000),
      created_at             timestamptz not null default now(),
      last_used_at           timestamptz,
      revoked_at             timestamptz
    );
    create unique index api_keys_slot on api_keys (account_id, slot) where revoked_at is null;

    -- Where a creator is paid on a chain. Only a checked wallet is ever quoted.
    create table payout_wallets (
      id          text primary key,
      account_id  text not null references accounts,
      network     text not null,
      address     text not null,
      state       text not null check (state in ('unchecked', 'checked', 'retired')),
      checked_at  timestamptz,
      created_at  timestamptz not null default now(),
      check ((state = 'unchecked') = (checked_at is null) or state = 'retired')
    );
    create unique index payout_wallets_current on payout_wallets (account_id, network) where state <> 'retired';

    -- Calls of the last 60 seconds, one number a second, newest first. Unlogged: a crash forgets one minute.
    create unlogged table rate_limits (
      subject  text primary key,
      second   bigint not null,
      calls    integer[] not null
    ) with (fillfactor = 50);

    -- Admits as many of the wanted calls as still fit into the last 60 seconds and counts those alone.
    create function count_calls(
      counted text, wanted integer, allowed integer,
      out admitted integer, out used integer, out reset_seconds integer
    ) language plpgsql as $$
    declare
      stored   rate_limits%rowtype;
      elapsed  integer;
      recent   integer[];
      seen_at  bigint;
    begin
      loop
        select * into stored from rate_limits where subject = counted for update;
        exit when found;
        insert into rate_limits values (counted, 0, array_fill(0, array[60])) on conflict do nothing;
      end loop;
      seen_at := greatest(stored.second, floor(extract(epoch from clock_timestamp()))::bigint);
      elapsed := least(60, seen_at - stored.second);
      recent := array_fill(0, array[elapsed]) || stored.calls[1:60 - elapsed];
      select coalesce(sum(calls), 0) into used from unnest(recent) calls;
      admitted := greatest(0, least(wanted, allowed - used));
      used := used + admitted;
      if admitted > 0 then
        recent[1] := recent[1] + admitted;
        update rate_limits set second = seen_at, calls = recent where subject = counted;
      end if;
      select coalesce(61 - max(age), 0) into reset_seconds
        from unnest(recent) with ordinality as counted_calls(calls, age) where calls > 0;
    end $$;
  `,
};
