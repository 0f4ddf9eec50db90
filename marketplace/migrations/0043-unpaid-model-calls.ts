import type { Migration } from "../../shared/migrate.ts";

/**
 * claim_models as 0034 has it, and besides: what is lent on a day, over all accounts, stays within 'lent_max'; and a buyer
 * (an account, or the payer and the address) whose runs of an agent have failed at its creator's cost 'failures_max' times in
 * an hour begins no more. Runs under way may yet fail, so eight of them count as one failure. The function of 0034 stays for
 * copies of the version before.
 */
const claimModels = `
    create function claim_models(
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
            -- Not all there is: the creator's other agents live on it too.
            more := least(more, greatest(need, have / 4));
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
    end $$;`;

export const unpaidModelCalls: Migration = {
  name: "0043-unpaid-model-calls",
  sql: `
    -- Runs that their buyer does not pay for and whose model the agent's creator bears, since the first of an hour.
    create table model_failures (
      agent_id  text not null,
      caller    text not null,
      failures  integer not null check (failures > 0),
      since     timestamptz not null,
      primary key (agent_id, caller)
    );
    create index model_failures_ended on model_failures (since);

    alter table model_claims add column buyer text;
    alter table model_claims add column address text;

    create index model_days_lent on model_days (day) include (lent) where lent > 0;

    ${claimModels}
  `,
};
