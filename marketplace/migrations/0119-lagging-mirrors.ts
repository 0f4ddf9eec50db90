import type { Migration } from "../../shared/migrate.ts";

export const laggingMirrors: Migration = {
  name: "0119-lagging-mirrors",
  sql: `
    -- As 0044 has it, except that what was spent is counted until the mirror shows it, however far behind that is: not for 30 seconds
    -- alone. Rows of ended runs are deleted after an hour.
    create or replace function reserve(holder_ text, lease_ms integer, claims json)
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
        elsif claim.kind = 'fees' then
          select coalesce(sum(e.fee), 0) into used from effects e
          where e.fee > 0 and e.network = claim.asset and e.created_at > now() - interval '24 hours';
        elsif claim.kind = 'fees_of' then
          select coalesce(sum(e.fee), 0) into used from effects e join agents a on a.id = e.agent_id
          where e.fee > 0 and e.network = claim.asset and e.created_at > now() - interval '24 hours' and a.account_id = claim.subject;
        elsif claim.kind = 'credits' then
          select b.spendable into room from balances b where b.account_id = claim.subject;
        end if;
        select coalesce(sum(r.amount), 0) into taken from reservations r
        where r.pool = claim.pool and r.holder <> holder_ and case
          when r.spent_at is not null then r.spent_at > claim.measured_at
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
