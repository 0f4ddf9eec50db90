import type { Migration } from "../../shared/migrate.ts";

/** The locked row of an agent's day, with what was borne moved from claims to 'spent'. Too old claims count as borne. */
const openDay = `
    create function lock_model_day(agent text, on_day date) returns model_days language plpgsql as $$
    declare
      today    model_days%rowtype;
      settled  bigint;
    begin
      select * into today from model_days where agent_id = agent and day = on_day for update;
      if today.closed then return today; end if;
      with ended as (
        delete from model_claims where agent_id = agent and day = on_day
          and (borne or claimed_at < now() - interval '15 minutes')
        returning credits
      ) select coalesce(sum(credits), 0) into settled from ended;
      if settled > 0 then
        update model_days set spent = spent + settled where agent_id = agent and day = on_day returning * into today;
      end if;
      return today;
    end $$;`;

/**
 * Claims the cost of one call for each run, in their order; the runs of one agent stand together. A run whose price will
 * pay ('covered') may be claimed on credits that the platform lends, up to 'line' for an account. Answers for each: ok, or
 * why not: budget, balance, or busy when calls under way may leave something over.
 */
const claimModels = `
    create function claim_models(
      runs text[], agent_ids text[], costs bigint[], covered boolean[],
      usual_budget bigint, block bigint, line bigint
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
    begin
      for n in 1 .. cardinality(runs) loop
        if agent_ids[n] is distinct from locked then
          locked := agent_ids[n];
          select account_id, coalesce(model_credits_per_day, usual_budget) into creator, budget
            from agents where id = locked;
          insert into model_days (agent_id, day, account_id) values (locked, on_day, creator) on conflict do nothing;
          today := lock_model_day(locked, on_day);
          select coalesce(sum(credits), 0) into open from model_claims where agent_id = locked and day = on_day;
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
            more := least(more, greatest(line, costs[n]) - debt);
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
        insert into model_claims (run_id, agent_id, day, credits) values (runs[n], locked, on_day, costs[n]);
        open := open + costs[n];
        update model_days set touched_at = now()
          where agent_id = locked and day = on_day and touched_at < now() - interval '1 minute';
        return next 'ok';
      end loop;
    end $$;`;

/**
 * Gives back what is set aside and neither spent nor claimed, what was lent first. A day that is over is closed: what its
 * calls cost leaves the credits set aside. Leaves a day alone that another copy has.
 */
const settleModelDay = `
    create function settle_model_day(agent text, on_day date, closing boolean) returns void language plpgsql as $$
    declare
      today    model_days%rowtype;
      open     bigint;
      rest     bigint;
      unlent   bigint;
      debt     bigint;
      repaid   bigint;
    begin
      perform from model_days where agent_id = agent and day = on_day and not closed for update skip locked;
      if not found then return; end if;
      today := lock_model_day(agent, on_day);
      select coalesce(sum(credits), 0) into open from model_claims where agent_id = agent and day = on_day;
      if closing and open > 0 then return; end if;
      rest := today.taken + today.lent - today.spent - open;
      unlent := least(rest, today.lent);
      perform from balances where account_id = today.account_id for update;
      select owed into debt from model_debts where account_id = today.account_id for update;
      repaid := least(unlent, coalesce(debt, 0));
      if repaid > 0 then
        insert into postings (kind, from_purse, to_purse, amount)
          values ('model_return', 'models:' || agent, 'owed:' || today.account_id, repaid);
        update model_debts set owed = owed - repaid where account_id = today.account_id;
      end if;
      if rest > repaid then
        insert into postings (kind, from_purse, to_purse, amount)
          values ('model_return', 'models:' || agent, 'spendable:' || today.account_id, rest - repaid);
        update balances set spendable = spendable + rest - repaid where account_id = today.account_id;
      end if;
      if closing and today.spent > 0 then
        insert into postings (kind, from_purse, to_purse, amount)
          values ('model_cost', 'models:' || agent, 'platform:models', today.spent);
      end if;
      update model_days set lent = lent - unlent, taken = taken - (rest - unlent), closed = closing, touched_at = now()
        where agent_id = agent and day = on_day;
    end $$;`;

export const modelCosts: Migration = {
  name: "0034-model-costs",
  sql: `
    -- What an agent's models may cost its creator in a day; null is the operator's default.
    alter table agents add column model_credits_per_day bigint check (model_credits_per_day between 0 and 1000000000);

    -- What an agent's models cost in a day (UTC). Credits are set aside for it in blocks, so that a run touches neither the
    -- creator's balance nor this row for long: 'taken' from the balance, 'lent' by the platform for runs whose price will
    -- pay. 'spent' are calls that were borne; open ones are claims.
    create table model_days (
      agent_id    text not null references agents,
      day         date not null,
      account_id  text not null references accounts,
      taken       bigint not null default 0 check (taken >= 0),
      lent        bigint not null default 0 check (lent >= 0),
      spent       bigint not null default 0 check (spent between 0 and taken + lent),
      closed      boolean not null default false,
      touched_at  timestamptz not null default now(),
      primary key (agent_id, day)
    ) with (fillfactor = 50);
    create index model_days_open on model_days (touched_at) where not closed;

    -- A run's call of a model: claimed before it is made, away when it cost nothing or the run's price paid for it.
    create table model_claims (
      run_id      text primary key,
      agent_id    text not null,
      day         date not null,
      credits     bigint not null check (credits >= 0),
      borne       boolean not null default false,
      claimed_at  timestamptz not null default now()
    );
    create index model_claims_of on model_claims (agent_id, day);

    -- What the platform lent and has not got back: the amount by which the purse owed:<account> is below zero.
    create table model_debts (
      account_id  text primary key references accounts,
      owed        bigint not null check (owed >= 0)
    );

    -- Purses besides: models:<agent>, what is set aside; owed:<account>; platform:models, what models have cost.
    -- Older rows satisfied a narrower rule, so they need not be read again.
    alter table postings drop constraint postings_shape;
    alter table postings add constraint postings_shape check ((case kind
      when 'grant' then run_id is null and from_purse = 'platform:issued' and to_purse like 'spendable:%'
      when 'purchase' then run_id is null and reference is not null
        and from_purse = 'platform:issued' and to_purse like 'spendable:%'
      when 'transfer' then run_id is null and from_purse like 'earned:%'
        and to_purse = 'spendable:' || substr(from_purse, length('earned:') + 1)
      when 'hold' then from_purse like 'spendable:%' and to_purse = 'held:' || run_id
      when 'capture' then from_purse = 'held:' || run_id and to_purse like 'earned:%'
      when 'fee' then from_purse = 'held:' || run_id and to_purse = 'platform:fees'
      when 'release' then from_purse = 'held:' || run_id and to_purse like 'spendable:%'
      when 'reward' then run_id is not null and from_purse like 'spendable:%' and to_purse like 'spendable:%'
      when 'model_reserve' then run_id is null and (from_purse like 'spendable:%' or from_purse like 'owed:%')
        and to_purse like 'models:%'
      when 'model_return' then run_id is null and from_purse like 'models:%'
        and (to_purse like 'spendable:%' or to_purse like 'owed:%')
      when 'model_cost' then to_purse = 'platform:models'
        and (run_id is null and from_purse like 'models:%' or from_purse = 'held:' || run_id)
      when 'repayment' then run_id is null and from_purse like 'spendable:%'
        and to_purse = 'owed:' || substr(from_purse, length('spendable:') + 1)
      else false
    end) is true) not valid;

    -- A try is the platform's: what has been tried today by an account, and by all ('*').
    create table try_days (
      subject  text not null,
      day      date not null,
      spent    bigint not null check (spent >= 0),
      primary key (subject, day)
    );

    -- On which day an agent's creator was last written to, and why.
    create table agent_letters (
      agent_id  text not null references agents,
      reason    text not null,
      day       date not null,
      primary key (agent_id, reason)
    );

    ${openDay}
    ${claimModels}
    ${settleModelDay}

    create function claim_try(account text, cost bigint, account_max bigint, all_max bigint)
      returns text language plpgsql as $$
    declare
      on_day  date := (now() at time zone 'utc')::date;
    begin
      insert into try_days values ('*', on_day, 0), (account, on_day, 0) on conflict do nothing;
      perform from try_days where day = on_day and subject in ('*', account) order by subject for update;
      if (select spent from try_days where subject = account and day = on_day) + cost > account_max then
        return 'account';
      elsif (select spent from try_days where subject = '*' and day = on_day) + cost > all_max then
        return 'all';
      end if;
      update try_days set spent = spent + cost where day = on_day and subject in ('*', account);
      return 'ok';
    end $$;
  `,
};
