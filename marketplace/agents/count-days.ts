import type { Queryable, Transaction } from "../../shared/postgres.ts";
import { historyDays } from "../history-days.ts";

/** Creators read as many as 90 days, beside the 90 before. */
const daysKept = 181;
const rowsPerPass = 5_000;

/** Adds the runs that ended in the slice to the days of their accounts and agents. To be called once for each slice. */
export async function countDays(tx: Transaction, { from, until }: Slice): Promise<void> {
  for (const text of [ofAccounts, ofOutputs, ofAgents, ofWallets]) await tx.query(text, [from, until]);
}

/** From a moment on, and before another; as texts, so that no microsecond is lost. */
interface Slice {
  readonly from: string;
  readonly until: string;
}

/** Counts the revenue of results whose payment has been seen to settle since they were kept. */
export async function countSettled(db: Queryable): Promise<void> {
  await db.query(
    `with settled as (
       delete from unsettled_results u using (
         select w.network, w.payment_key, (p.requirements ->> 'amount')::numeric as amount
         from unsettled_results w join paid_calls p using (network, payment_key)
         where p.transaction_id is not null order by w.network, w.payment_key limit ${rowsPerPass} for update of w skip locked
       ) p where u.network = p.network and u.payment_key = p.payment_key
       returning u.agent_id, u.day, u.network, p.amount
     )
     insert into agent_days as days (agent_id, day, payer, runs, failed, credits, units)
     select agent_id, day, network, 0, 0, 0, sum(amount) from settled group by 1, 2, 3 order by 1, 2, 3
     on conflict (agent_id, day, payer) do update set units = days.units + excluded.units`,
  );
}

/** SQL, before the results of the calls in `dropped` are let go: their payments are not waited for. What is made again counts anew. */
export const forgetUnsettled = (dropped: string) => `
  delete from unsettled_results u using ${dropped} d where u.network = d.network and u.payment_key = d.payment_key`;

export async function forgetDays(db: Queryable): Promise<void> {
  for (const [table, key, days] of [
    ["account_days", "account_id, day, agent_id, key_id", daysKept],
    ["agent_days", "agent_id, day, payer", daysKept],
    ["output_days", "account_id, day", historyDays + 1],
    ["unsettled_results", "network, payment_key", 30],
  ] as const) {
    await db.query(
      `delete from ${table} where (${key}) in (
         select ${key} from ${table} where day < (now() at time zone 'utc')::date - ${days} limit ${rowsPerPass})`,
    );
  }
}

const inSlice = (at: string) => `${at} >= $1::timestamptz and ${at} < $2::timestamptz`;
const merged = (more: string) => `do update set runs = days.runs + excluded.runs,
    failed = days.failed + excluded.failed, credits = days.credits + excluded.credits, ${more}`;

const ofAccounts = `
  insert into account_days as days (account_id, day, agent_id, key_id, runs, failed, credits, ms)
  select account_id, (created_at at time zone 'utc')::date, agent_id, coalesce(key_id, ''), count(*),
    count(*) filter (where state <> 'succeeded'), coalesce(sum(price_credits) filter (where state = 'succeeded'), 0),
    -- None below zero: a database that took another's place may have a clock that is behind.
    coalesce(sum(greatest(extract(epoch from finished_at - created_at) * 1000, 0)), 0)::bigint
  from runs where account_id is not null and state <> 'running' and ${inSlice("finished_at")}
  group by 1, 2, 3, 4 order by 1, 2, 3, 4
  on conflict (account_id, day, agent_id, key_id) ${merged("ms = days.ms + excluded.ms")}`;

/** As they are stored: none is read for it. */
const ofOutputs = `
  insert into output_days as days (account_id, day, bytes)
  select account_id, (created_at at time zone 'utc')::date, sum(pg_column_size(output))
  from runs where account_id is not null and output is not null and state <> 'running' and ${inSlice("finished_at")}
  group by 1, 2 order by 1, 2
  on conflict (account_id, day) do update set bytes = days.bytes + excluded.bytes`;

const ofAgents = `
  insert into agent_days as days (agent_id, day, payer, runs, failed, credits, units)
  select r.agent_id, (r.finished_at at time zone 'utc')::date,
    case when r.rail = 'credits' then case when r.key_id is null then 'session' else 'key' end
      when r.price_credits = 0 then 'free' else 'wallet' end,
    count(*), count(*) filter (where r.state <> 'succeeded'), coalesce(sum(p.amount), 0), 0
  from runs r join agents a on a.id = r.agent_id left join postings p on p.run_id = r.id and p.kind = 'capture'
  where r.state <> 'running' and ${inSlice("r.finished_at")} and r.account_id is distinct from a.account_id
  group by 1, 2, 3 order by 1, 2, 3
  on conflict (agent_id, day, payer) ${merged("units = days.units")}`;

/**
 * A paid call is its run's record unless the run has one of its own, which is counted as such; what it paid counts here, now
 * or when it has been seen to settle. One statement, so that no payment settles between the two.
 */
const ofWallets = `
  with ended as (
    select a.id as agent_id, (p.result_at at time zone 'utc')::date as day, p.network, p.payment_key, r.id as run_id,
      case when p.transaction_id is not null then (p.requirements ->> 'amount')::numeric end as amount
    from paid_calls p join agents a on a.id = p.product left join runs r on r.id = p.run_id
    where ${inSlice("p.result_at")}
  ), unsettled as (
    insert into unsettled_results (network, payment_key, agent_id, day)
    select network, payment_key, agent_id, day from ended where amount is null on conflict do nothing
  )
  insert into agent_days as days (agent_id, day, payer, runs, failed, credits, units)
  select agent_id, day, network, count(*) filter (where run_id is null), 0, 0, coalesce(sum(amount), 0)
  from ended group by 1, 2, 3 order by 1, 2, 3
  on conflict (agent_id, day, payer) ${merged("units = days.units + excluded.units")}`;
