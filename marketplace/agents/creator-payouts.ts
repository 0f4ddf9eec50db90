import type { Queryable } from "../../shared/postgres.ts";

/** A call of one of a creator's agents that was paid to their wallet. Which agent it was is its payer's business. */
export interface Payout {
  readonly network: string;
  readonly transaction: string;
  readonly atomic: bigint;
  readonly at: Date;
}

/** The last ones of the creator's agents that are run most. For creators who show their payouts. */
export async function latestPayouts(db: Queryable, handle: string): Promise<Payout[]> {
  const { rows } = await db.query<Omit<Payout, "atomic"> & { readonly amount: string }>({
    name: "latest payouts of creator",
    text: `
      select paid.network, transaction_id as transaction, requirements->>'amount' as amount, paid.created_at as at
      from (
        select agent_id from listings left join agent_figures figures using (agent_id)
        where lower(handle) = $1 order by figures.runs desc nulls last limit ${agentsMax}
      ) listed,
      lateral (
        select network, transaction_id, requirements, created_at from paid_calls
        where product = listed.agent_id and transaction_id is not null
        order by created_at desc limit ${payoutsMax}
      ) paid
      order by paid.created_at desc limit ${payoutsMax}`,
    values: [handle],
  });
  return rows.map(({ amount, ...payout }) => ({ ...payout, atomic: BigInt(amount) }));
}

const agentsMax = 50;
const payoutsMax = 5;
