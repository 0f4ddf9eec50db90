import type { Migration } from "../../shared/migrate.ts";

/**
 * claim_models as 0093 has it, and besides: a budget that was lowered holds at once for what is set aside already, of which calls were
 * claimed until it was used up. And a creator's own run sets aside no more than it needs: its price is still to be held.
 */
const claimModels = `
    create or replace function claim_models(
      runs text[], agent_ids text[], costs bigint[], covered boolean[],
      usual_budget bigint, block bigint, line bigint, lent_max bigint,
      buyers text[], addresses text[], failures_max integer
    ) returns setof text language plpgsql as $$
    declare
      today    model_days%rowtype;
      on_day   date := (now() at time zone 'utc')::date;
      creator  text;
      budget   bigint;
      open     bigint;
      have     bigint;
      debt     bigint;
      need     bigint;
      more     bigint;
      back     bigint;
      locked   text;
      lending  bigint := hashtext('models lent today');
      lends    boolean := false;
      owing    bigint;
      failed   integer;
      begun    integer;
    begin
      -- Lenders take turns, and wait before they have locked anything.
      if exists (
        select from unnest(agent_ids, covered) asked (agent, pays) join agents a on a.id = asked.agent
          join balances b on b.account_id = a.account_id left join model_debts o on o.account_id = a.account_id
        where pays and b.spendable - coalesce(o.owed, 0) < (select sum(cost) from unnest(costs) cost)
      ) then
        perform pg_advisory_xact_lock(lending);
        lends := true;
      end if;
      if (select count(distinct agent) > 1 from unnest(agent_ids) agent) then
        insert into model_days (agent_id, day, account_id)
          select id, on_day, account_id from agents where id = any(agent_ids) order by id on conflict do nothing;
        perform from model_days where agent_id = any(agent_ids) and day = on_day order by agent_id for update;
        -- Of these agents some may need more than is set aside: their creators.
        perform from balances where account_id in (
          select d.account_id
            from (select agent, sum(cost) as cost from unnest(agent_ids, costs) each (agent, cost) group by agent) asked
            join model_days d on d.agent_id = asked.agent and d.day = on_day
           where asked.cost > d.taken - d.spent - (
             select coalesce(sum(credits), 0) from model_claims where agent_id = asked.agent and day = on_day)
        ) order by account_id for update;
      end if;
      for n in 1 .. cardinality(runs) loop
        if agent_ids[n] is distinct from locked then
          locked := agent_ids[n];
          select account_id, coalesce(model_credits_per_day, usual_budget) into creator, budget
            from agents where id = locked;
          insert into model_days (agent_id, day, account_id) values (locked, on_day, creator) on conflict do nothing;
          today := lock_model_day(locked, on_day);
          select coalesce(sum(credits), 0) into open from model_claims where agent_id = locked and day = on_day;
        end if;
        if failures_max > 0 and buyers[n] is not null then
          select coalesce(max(failures), 0) into failed from model_failures
            where agent_id = locked and caller in (buyers[n], addresses[n]) and since > now() - interval '1 hour';
          select count(*) into begun from model_claims
            where agent_id = locked and day = on_day and not borne and (buyer = buyers[n] or address = addresses[n]);
          if failed >= failures_max then
            return next 'failures';
            continue;
          elsif failed + begun / 8 >= failures_max then
            return next 'crowd';
            continue;
          end if;
        end if;
        if today.spent + open + costs[n] > budget then
          return next case when today.spent + costs[n] > budget then 'budget' else 'busy' end;
          continue;
        end if;
        need := costs[n] - (today.taken - today.spent - open);
        if covered[n] then need := need - today.lent; end if;
        if need > 0 then
          if today.taken + today.lent + need > budget then
            return next case when today.spent + costs[n] > budget then 'budget' else 'busy' end;
            continue;
          end if;
          more := least(greatest(need, block), budget - today.taken - today.lent);
          select spendable into have from balances where account_id = creator for update;
          select owed into debt from model_debts where account_id = creator for update;
          debt := coalesce(debt, 0);
          back := least(have, debt);
          if back > 0 then
            insert into postings (kind, from_purse, to_purse, amount)
              values ('repayment', 'spendable:' || creator, 'owed:' || creator, back);
            update balances set spendable = spendable - back where account_id = creator;
            update model_debts set owed = owed - back where account_id = creator;
            have := have - back;
            debt := debt - back;
          end if;
          if have >= need then
            -- Not all there is: the creator's other agents live on it too, and so do runs of their own.
            more := case when buyers[n] = creator then need else least(more, greatest(need, have / 4)) end;
            insert into postings (kind, from_purse, to_purse, amount)
              values ('model_reserve', 'spendable:' || creator, 'models:' || locked, more);
            update balances set spendable = spendable - more where account_id = creator;
            today.taken := today.taken + more;
          elsif covered[n] and debt + need <= greatest(line, costs[n]) then
            lends := lends or pg_try_advisory_xact_lock(lending);
            select coalesce(sum(lent), 0) into owing from model_days where day = on_day and lent > 0;
            if not lends or owing + need > lent_max then
              return next case when lends then 'balance' else 'busy' end;
              continue;
            end if;
            -- Not all there is: other creators need it too.
            more := least(more, greatest(line, costs[n]) - debt, greatest(need, (lent_max - owing) / 4));
            insert into postings (kind, from_purse, to_purse, amount)
              values ('model_reserve', 'owed:' || creator, 'models:' || locked, more);
            insert into model_debts (account_id, owed) values (creator, more)
              on conflict (account_id) do update set owed = model_debts.owed + excluded.owed;
            today.lent := today.lent + more;
          else
            return next case when open > 0 then 'busy' else 'balance' end;
            continue;
          end if;
          update model_days set taken = today.taken, lent = today.lent where agent_id = locked and day = on_day;
        end if;
        insert into model_claims (run_id, agent_id, day, credits, buyer, address)
          values (runs[n], locked, on_day, costs[n], buyers[n], addresses[n]);
        open := open + costs[n];
        update model_days set touched_at = now()
          where agent_id = locked and day = on_day and touched_at < now() - interval '1 minute';
        return next 'ok';
      end loop;
    end $$;
`;

export const loweredBudgets: Migration = {
  name: "0109-lowered-budgets",
  sql: claimModels,
};
