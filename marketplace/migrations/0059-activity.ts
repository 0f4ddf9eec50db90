import type { Migration } from "../../shared/migrate.ts";

export const activity: Migration = {
  name: "0059-activity",
  sql: `
    -- What a run was asked, as far as its agent takes it; null where it was too long to be kept. As long as the run.
    alter table runs add column input json;

    create index runs_of_account_agent on runs (account_id, agent_id, created_at desc, id) where account_id is not null;
    create index runs_of_account_key on runs (account_id, coalesce(key_id, ''), created_at desc, id) where account_id is not null;
    create index runs_not_succeeded on runs (account_id, state, created_at desc, id)
      where account_id is not null and state in ('failed', 'lost');
    create index runs_failed_of_agent on runs (agent_id, finished_at desc) where state in ('failed', 'lost');

    -- What an account's ended runs came to, by the day (UTC) on which they began, agent and key; no key: signed in.
    create table account_days (
      account_id  text not null references accounts,
      day         date not null,
      agent_id    text not null references agents,
      key_id      text not null default '',
      runs        bigint not null check (runs > 0),
      failed      bigint not null check (failed between 0 and runs),
      credits     bigint not null check (credits >= 0),
      ms          bigint not null check (ms >= 0),
      primary key (account_id, day, agent_id, key_id)
    );
    create index account_days_by_age on account_days (day);

    -- What an agent's runs brought its creator, by the day (UTC) on which they ended and who paid: 'key', 'session', the network of
    -- a wallet, 'free', 'wallet' where the network is not known, as of runs that failed. The creator's own runs do not count.
    create table agent_days (
      agent_id  text not null references agents,
      day       date not null,
      payer     text not null,
      runs      bigint not null check (runs >= 0),
      failed    bigint not null check (failed between 0 and runs),
      -- Earned, less the platform's fee.
      credits   bigint not null check (credits >= 0),
      -- Settled, in whole units of USDC.
      units     numeric(40, 0) not null check (units >= 0),
      primary key (agent_id, day, payer)
    );
    create index agent_days_by_age on agent_days (day);

    -- Results that were kept before their payment was seen to settle: their revenue is still to be counted.
    create table unsettled_results (
      network      text not null,
      payment_key  text not null,
      agent_id     text not null references agents,
      day          date not null,
      primary key (network, payment_key)
    );
    create index unsettled_results_by_age on unsettled_results (day);

    -- What is counted already, counted here too; countDays goes on from there.
    insert into account_days (account_id, day, agent_id, key_id, runs, failed, credits, ms)
    select account_id, (created_at at time zone 'utc')::date, agent_id, coalesce(key_id, ''), count(*),
      count(*) filter (where state <> 'succeeded'), coalesce(sum(price_credits) filter (where state = 'succeeded'), 0),
      coalesce(sum(extract(epoch from finished_at - created_at) * 1000), 0)::bigint
    from runs, run_count_progress
    where account_id is not null and state <> 'running' and finished_at < counted_until group by 1, 2, 3, 4;

    insert into agent_days (agent_id, day, payer, runs, failed, credits, units)
    select r.agent_id, (r.finished_at at time zone 'utc')::date,
      case when r.rail = 'credits' then case when r.key_id is null then 'session' else 'key' end
        when r.price_credits = 0 then 'free' else 'wallet' end,
      count(*), count(*) filter (where r.state <> 'succeeded'), coalesce(sum(p.amount), 0), 0
    from run_count_progress, runs r join agents a on a.id = r.agent_id
      left join postings p on p.run_id = r.id and p.kind = 'capture'
    where r.state <> 'running' and r.finished_at < counted_until and r.account_id is distinct from a.account_id
    group by 1, 2, 3;

    insert into agent_days (agent_id, day, payer, runs, failed, credits, units)
    select a.id, (p.result_at at time zone 'utc')::date, p.network,
      count(*) filter (where r.id is null), 0, 0, sum((p.requirements ->> 'amount')::numeric)
    from run_count_progress, paid_calls p join agents a on a.id = p.product left join runs r on r.id = p.run_id
    where p.result_at < counted_until and p.transaction_id is not null and p.requirements ->> 'amount' ~ '^[0-9]{1,30}$'
    group by 1, 2, 3;

    insert into unsettled_results (network, payment_key, agent_id, day)
    select p.network, p.payment_key, a.id, (p.result_at at time zone 'utc')::date
    from run_count_progress, paid_calls p join agents a on a.id = p.product
    where p.result_at < counted_until and p.result_at > now() - interval '30 days' and p.transaction_id is null;
  `,
};
