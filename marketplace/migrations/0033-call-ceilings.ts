import type { Migration } from "../../shared/migrate.ts";

export const callCeilings: Migration = {
  name: "0033-call-ceilings",
  sql: `
    -- What all keys of an account may call together in a minute; the operator's to change.
    alter table accounts add column calls_per_minute_max integer not null default 600
      constraint accounts_calls_per_minute_max_check check (calls_per_minute_max between 1 and 100000);

    -- Admits calls of a key within its own limit and its account's ceiling. The account's counter is held first, so that
    -- copies of the service that admit several keys of one account do not block each other for good. An account's only
    -- key is counted as the account: an account that revokes it and makes another goes on where the first one stopped.
    create function count_key_calls(
      account text, key text, is_only_key boolean, wanted integer, key_limit integer, ceiling integer,
      out admitted integer, out remaining integer, out reset_seconds integer
    ) language plpgsql as $$
    declare
      allowed    integer := least(key_limit, ceiling);
      own        record;
      together   record;
    begin
      if is_only_key then
        select * into together from count_calls(account, wanted, allowed);
        admitted := together.admitted;
        remaining := greatest(0, allowed - together.used);
        reset_seconds := together.reset_seconds;
        return;
      end if;
      insert into rate_limits values (account, 0, array_fill(0, array[60])) on conflict do nothing;
      perform from rate_limits where subject = account for update;
      select * into own from count_calls(key, wanted, allowed);
      select * into together from count_calls(account, own.admitted, ceiling);
      admitted := together.admitted;
      remaining := greatest(0, least(allowed - own.used, ceiling - together.used));
      reset_seconds := greatest(own.reset_seconds, together.reset_seconds);
    end $$;
  `,
};
