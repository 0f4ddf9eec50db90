import type { Migration } from "../../shared/migrate.ts";

export const reservations: Migration = {
  name: "0030-reservations",
  sql: `
    -- What calls that are about to be paid, or run, will take of what can run out. One that is not extended lapses. What is
    -- measured on a ledger stays taken until the effect is closed, and then until the ledger's figures show it.
    create table reservations (
      -- The key that the effect will have.
      holder      text not null,
      pool        text not null,
      amount      numeric(40) not null check (amount > 0),
      on_ledger   boolean not null,
      until       timestamptz not null,
      spent_at    timestamptz,
      primary key (holder, pool)
    );
    create index reservations_of_pool on reservations (pool);
    create index reservations_lapsed on reservations (until);

    -- Reserves all the claims for the holder, or none: then it answers the first that there is no room for, and whether
    -- that is used up or only taken by others who may yet give it back. Pools are locked in order until the transaction
    -- ends, and every look at them is taken after that, so that two never both see the same room.
    create function reserve(holder_ text, lease_ms integer, claims json)
      returns table (kind text, used_up boolean) language plpgsql volatile as $$
    declare
      claim record;
      room numeric;
      used numeric;
      taken numeric;
    begin
      for claim in
        select * from json_to_recordset(claims)
          as c (kind text, pool text, agent text, asset text, subject text, amount numeric, room numeric, measured_at timestamptz)
        order by c.pool
      loop
        perform pg_advisory_xact_lock(hashtextextended(claim.pool, 0));
        room := claim.room;
        used := 0;
        if claim.kind = 'day' then
          select coalesce(sum(e.amount), 0) into used from effects e
          where e.agent_id = claim.agent and e.asset = claim.asset and e.key <> holder_ and e.state <> 'void'
            and e.created_at > now() - interval '24 hours';
        elsif claim.kind = 'budget' then
          select coalesce(sum(r.amount), 0) into used from rewards r
          where r.agent_id = claim.agent and r.asset = claim.asset and r.effect_key <> holder_ and r.state <> 'void';
        elsif claim.kind = 'post' then
          select count(*) into used from rewards r
          where r.agent_id = claim.agent and r.post_id = claim.subject and r.effect_key <> holder_ and r.state <> 'void';
        elsif claim.kind = 'author' then
          select count(*) into used from rewards r
          where r.agent_id = claim.agent and r.author_id = claim.subject and r.effect_key <> holder_ and r.state <> 'void';
        elsif claim.kind = 'credits' then
          select b.spendable into room from balances b where b.account_id = claim.subject;
        end if;
        select coalesce(sum(r.amount), 0) into taken from reservations r
        where r.pool = claim.pool and r.holder <> holder_ and case
          when r.spent_at is not null
            then r.spent_at > claim.measured_at and r.spent_at > clock_timestamp() - interval '30 seconds'
          else r.until > clock_timestamp()
            or (r.on_ledger and exists (select from effects e where e.key = r.holder and e.state = 'open'))
        end;
        if used + taken + claim.amount > coalesce(room, 0) then
          return query select claim.kind, used + claim.amount > coalesce(room, 0);
          return;
        end if;
      end loop;
      insert into reservations as old (holder, pool, amount, on_ledger, until)
      select holder_, c.pool, c.amount, c.kind = 'ledger', clock_timestamp() + lease_ms * interval '1 ms'
      from json_to_recordset(claims) as c (kind text, pool text, amount numeric)
      on conflict (holder, pool) do update set amount = excluded.amount, until = excluded.until, spent_at = null;
    end $$;
  `,
};
