import type { Migration } from "../../shared/migrate.ts";

export const homeTries: Migration = {
  name: "0045-home-tries",
  sql: `
    -- Runs of the first page's agent in a day (UTC) that the operator pays for: of one network address (an IPv6 /64 counts as
    -- one), and of all ('*').
    create table home_tries (
      client   text not null,
      day      date not null,
      tries    integer not null check (tries >= 0),
      credits  bigint not null check (credits >= 0),
      primary key (client, day)
    );

    -- Counts one more; false when that were too many. The row of all is always taken first, so that two never wait for each other.
    create function claim_home_try(asking text, price bigint, client_max integer, credits_max bigint)
      returns boolean language plpgsql as $$
    declare
      today  date := (now() at time zone 'utc')::date;
      spent  bigint;
    begin
      insert into home_tries values ('*', today, 0, 0), (asking, today, 0, 0) on conflict do nothing;
      select credits into spent from home_tries where client = '*' and day = today for update;
      if spent + price > credits_max then return false; end if;
      update home_tries set tries = tries + 1, credits = credits + price
       where client = asking and day = today and tries < client_max;
      if not found then return false; end if;
      update home_tries set tries = tries + 1, credits = credits + price where client = '*' and day = today;
      return true;
    end $$;

    -- One that was counted cost nothing.
    create function return_home_try(asking text, counted_on date, price bigint) returns void language plpgsql as $$
    begin
      update home_tries set tries = tries - 1, credits = credits - price
       where client = '*' and day = counted_on and tries > 0 and credits >= price;
      update home_tries set tries = tries - 1, credits = credits - price
       where client = asking and day = counted_on and tries > 0 and credits >= price;
    end $$;
  `,
};
