import { toSafeNumber } from "../../shared/amounts.ts";
import type { Queryable } from "../../shared/postgres.ts";
import type { AccountId } from "../ids.ts";
import { readBalances } from "./balance.ts";

/** The account's balance, and the cost of its runs since midnight UTC. */
export async function readStanding(db: Queryable, accountId: AccountId): Promise<CreditsStanding> {
  const [balance] = await readBalances(db, [accountId]);
  const { rows } = await db.query<{ running: bigint; spent: bigint; runs: bigint }>(today, [accountId]);
  const { credits, held, earned } = balance!;
  const { running, spent, runs } = rows[0]!;
  return {
    credits: toSafeNumber(credits),
    held_credits: toSafeNumber(held),
    earned_credits: toSafeNumber(earned),
    running: toSafeNumber(running),
    spent_today: toSafeNumber(spent),
    runs_today: toSafeNumber(runs),
  };
}

/** What countDays has added up, and the runs since: those that run, and those that ended too lately to be counted. */
const today = `
  with day as (select date_trunc('day', now(), 'utc') as began),
  running as (
    select price_credits, created_at >= day.began as began_today from runs, day where account_id = $1 and state = 'running'
  ), added as (
    select runs, credits from account_days d, day where account_id = $1 and d.day = (day.began at time zone 'utc')::date
    union all
    select 1, case when state = 'succeeded' then price_credits else 0 end from runs, day, run_count_progress
    where account_id = $1 and state <> 'running' and created_at >= greatest(day.began, counted_until - interval '15 minutes')
      and finished_at >= counted_until
    union all
    select 1, price_credits from running where began_today
  )
  select (select count(*) from running) as running, coalesce(sum(credits), 0) as spent, coalesce(sum(runs), 0) as runs from added`;

export interface CreditsStanding {
  readonly credits: number;
  readonly held_credits: number;
  readonly earned_credits: number;
  /** Runs that hold credits. */
  readonly running: number;
  readonly spent_today: number;
  readonly runs_today: number;
}
