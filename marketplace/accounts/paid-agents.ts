import type { Queryable } from "../../shared/postgres.ts";
import type { AccountId } from "../ids.ts";

/** The account's live agents that are paid to its wallets, as `handle/slug`: those that cost something and need no account. */
export async function agentsPaidPerCall(db: Queryable, accountId: AccountId): Promise<string[]> {
  const { rows } = await db.query<{ address: string }>(
    `select a.handle || '/' || a.slug as address
     from agents a join agent_versions v on v.agent_id = a.id and v.version = a.live_version
     where a.account_id = $1 and a.state = 'live' and v.price_credits > 0 and not v.needs_account
     order by a.slug`,
    [accountId],
  );
  return rows.map(({ address }) => address);
}
