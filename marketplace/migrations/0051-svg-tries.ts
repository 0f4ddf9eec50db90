import type { Migration } from "../../shared/migrate.ts";

export const svgTries: Migration = {
  name: "0051-svg-tries",
  sql: `
    -- Pictures traced for nothing in a day (UTC): of one network address (an IPv6 /64 counts as one), and of all ('*').
    create table svg_tries (
      client  text not null,
      day     date not null,
      tries   integer not null check (tries >= 0),
      primary key (client, day)
    );

    -- Counts one more; false when that were too many. The row of all is always taken first, so that two never wait for each other.
    create function claim_svg_try(asking text, client_max integer, all_max integer) returns boolean language plpgsql as $$
    declare
      today  date := (now() at time zone 'utc')::date;
      taken  integer;
    begin
      insert into svg_tries values ('*', today, 0), (asking, today, 0) on conflict do nothing;
      select tries into taken from svg_tries where client = '*' and day = today for update;
      if taken >= all_max then return false; end if;
      update svg_tries set tries = tries + 1 where client = asking and day = today and tries < client_max;
      if not found then return false; end if;
      update svg_tries set tries = tries + 1 where client = '*' and day = today;
      return true;
    end $$;

    -- One that was counted came to nothing.
    create function return_svg_try(asking text, counted_on date) returns void language plpgsql as $$
    begin
      update svg_tries set tries = tries - 1 where client = '*' and day = counted_on and tries > 0;
      update svg_tries set tries = tries - 1 where client = asking and day = counted_on and tries > 0;
    end $$;
  `,
};
