import type { Queryable } from "../../shared/postgres.ts";

/**
 * Notes a fee payer's balance and answers what it has spent today (UTC), in base units, on all daemons together: by how
 * far the balance fell between readings. Money added to the account is not counted against what was spent.
 */
export async function spentToday(db: Queryable, network: string, feePayer: string, balance: bigint): Promise<bigint> {
  const { rows } = await db.query(
    `insert into fee_spending as known (network, fee_payer, day, last_balance)
     values ($1, $2, (now() at time zone 'utc')::date, $3)
     on conflict (network, fee_payer, day) do update
       set spent = known.spent + greatest(known.last_balance - excluded.last_balance, 0), last_balance = excluded.last_balance
     returning spent`,
    [network, feePayer, balance],
  );
  return rows[0].spent;
}
