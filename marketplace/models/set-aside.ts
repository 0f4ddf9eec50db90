import { toSafeNumber } from "../../shared/amounts.ts";
import type { Queryable } from "../../shared/postgres.ts";
import type { AccountId } from "../ids.ts";

/**
 * What was taken from the account's balance for its agents' models and is not spent; it comes back minutes after the last call. A call
 * that the creator bears is spent, also while it is not counted among the day's yet.
 */
export async function readSetAside(db: Queryable, accountId: AccountId): Promise<number> {
  const { rows } = await db.query<{ credits: bigint }>(
    `select coalesce(sum(d.taken - least(d.taken, d.spent + coalesce(c.borne, 0))), 0)::bigint as credits
     from agents a join model_days d on d.agent_id = a.id and d.day >= (now() at time zone 'utc')::date - 1 and not d.closed
     cross join lateral (
       select sum(credits) as borne from model_claims where agent_id = d.agent_id and day = d.day and borne
     ) c
     where a.account_id = $1`,
    [accountId],
  );
  return toSafeNumber(rows[0]!.credits);
}
