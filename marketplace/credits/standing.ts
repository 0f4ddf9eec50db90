import { toSafeNumber } from "../../shared/amounts.ts";
import type { Queryable } from "../../shared/postgres.ts";
import type { AccountId } from "../ids.ts";
import { readBalances } from "./balance.ts";

/** The account's balance, and the cost of its runs since midnight UTC. */
export async function readStanding(db: Queryable, accountId: AccountId): Promise<CreditsStanding> {
  const [balance] = await readBalances(db, [accountId]);
  const { rows } = await db.query<{ running: bigint; spent: bigint; runs: bigint }>(
    `select (select count(*) from runs where account_id = $1 and state = 'running') as running,
       coalesce(sum(price_credits) filter (where state in ('running', 'succeeded')), 0) as spent, count(*) as runs
     from runs where account_id = $1 and created_at >= date_trunc('day', now(), 'utc')`,
    [accountId],
  );
  const { credits, held, earned } = balance!;
  const today = rows[0]!;
  return {
    credits: toSafeNumber(credits),
    held_credits: toSafeNumber(held),
    earned_credits: toSafeNumber(earned),
    running: toSafeNumber(today.running),
    spent_today: toSafeNumber(today.spent),
    runs_today: toSafeNumber(today.runs),
  };
}

export interface CreditsStanding {
  readonly credits: number;
  readonly held_credits: number;
  readonly earned_credits: number;
  /** Runs that hold credits. */
  readonly running: number;
  readonly spent_today: number;
  readonly runs_today: number;
}
