import type { Queryable } from "../../shared/postgres.ts";
import { beginMoves } from "./self-payment-moves.ts";

/**
 * The rule, in SQL, of the account `p`: it only ever paid one payee, and that payee has paid it back, or both have their
 * first money here from the same account. Pages show this text.
 */
export const isSelfPayer = `p.payees = 1 and (
  exists (select from paid_pairs back
           where back.env = p.env and back.payer = p.first_payee and back.pay_to = p.account)
  or exists (select from accounts payee
              where payee.env = p.env and payee.account = p.first_payee
                and payee.first_payer = p.first_payer))`;

/** The scope under which payments of self-payers are counted once more. */
export function selfScope(scope: string): string {
  return `self ${scope}`;
}

/**
 * Looks again at the payers and payees of these records, also of those that failed, for a settled one may have failed since; and begins
 * to move what a new or former self-payer ever paid into or out of the self scopes.
 */
export async function judgeSelfPayers(
  tx: Queryable,
  transactions: readonly bigint[],
  known: KnownNetworks,
): Promise<void> {
  const { rows } = await tx.query({
    name: "judge-self-payers",
    text: `
      with touched as (
        select known.env, side.account
          from transactions t join unnest($2::text[], $3::text[]) as known (network, env) using (network)
               cross join lateral (values (t.payer), (t.pay_to)) as side (account)
         where t.id = any($1) and t.status in ('settled', 'failed')
         group by 1, 2
      )
      update accounts p set is_self_payer = not p.is_self_payer
        from touched
       where p.env = touched.env and p.account = touched.account and p.is_self_payer <> coalesce(${isSelfPayer}, false)
      returning p.env, p.account, p.is_self_payer`,
    values: [transactions, known.networks, known.environments],
  });
  if (rows.length > 0) await beginMoves(tx, rows, known);
}

/** Networks, and beside each its environment. */
export interface KnownNetworks {
  readonly networks: readonly string[];
  readonly environments: readonly string[];
}
