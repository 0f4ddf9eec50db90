import type { Queryable } from "../../shared/postgres.ts";

/** A fee payer's balance in base units, and when the chain had it: a block number or, on Hedera, nanoseconds of consensus. */
export interface BalanceReading {
  readonly balance: bigint;
  readonly asOf: bigint;
}

/**
 * Notes a fee payer's balance and answers its spending today (UTC), in base units, on all daemons together: by how far the
 * balance fell between readings. Money added to the account does not lower the spending. Daemons and the nodes they ask
 * are not equally far: a reading from before the last one that counted changes nothing, whatever the day.
 */
export async function spentToday(
  db: Queryable,
  network: string,
  feePayer: string,
  { balance, asOf }: BalanceReading,
): Promise<bigint> {
  const { rows } = await db.query(
    `with earlier as (
       select last_balance, as_of from fee_spending
        where network = $1 and fee_payer = $2 and day < (now() at time zone 'utc')::date
        order by day desc limit 1
     ), newest as (
       select last_balance, as_of from earlier
       union all
       select $3::numeric, $4::bigint
        order by as_of desc limit 1
     )
     insert into fee_spending as known (network, fee_payer, day, last_balance, as_of)
     select $1, $2, (now() at time zone 'utc')::date, last_balance, as_of from newest
     on conflict (network, fee_payer, day) do update
       set spent = known.spent
             + case when $4 >= known.as_of then greatest(known.last_balance - $3, 0) else 0 end,
           last_balance = case when $4 >= known.as_of then $3 else known.last_balance end,
           as_of = greatest(known.as_of, $4)
     returning spent`,
    [network, feePayer, balance, asOf],
  );
  return rows[0].spent;
}
