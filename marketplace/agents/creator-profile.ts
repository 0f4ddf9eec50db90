import { ApiError } from "../../shared/errors.ts";
import type { Queryable } from "../../shared/postgres.ts";
import type { AccountId } from "../ids.ts";
import type { Wallet } from "../wallet.ts";

/** The public facts about a creator whose agents are listed, and the wallets that are paid for them. */
export interface CreatorProfile {
  readonly handle: string;
  readonly since: Date;
  /** What they say of themselves. */
  readonly about: string | null;
  readonly agents: number;
  /** Runs of all its listed agents, in `figuresDays`. */
  readonly runs: number;
  readonly succeeded: number;
  readonly lastSuccessAt: Date | null;
  /** Every visitor may see every payout to it. */
  readonly showsProof: boolean;
  /** Where its agents are paid per call; none while no listed agent is. */
  readonly wallets: readonly PayoutWallet[];
}

export interface PayoutWallet extends Wallet {
  readonly provedAt: Date;
  /** When the chain was last seen to take payments to it. */
  readonly checkedAt: Date;
}

/**
 * The creator of this handle, or of this former one. 404 for an account that has no listed agent or is not open, as for
 * an unknown one: an account that only buys is not shown.
 */
export async function findCreator(db: Queryable, handle: string): Promise<CreatorProfile> {
  const asked = handle.toLowerCase();
  const { rows } = await db.query<Row>({
    name: "find creator",
    text: `
      select a.id, a.handle, a.created_at as since, a.about, listed.agents, listed.runs, listed.succeeded, listed.last_success_at as "lastSuccessAt",
        listed.is_paid as "isPaid", exists (select from ledger_proofs p where p.account_id = a.id) as "showsProof"
      from handles h join accounts a on a.id = h.account_id, lateral (
        select count(*)::integer as agents, coalesce(sum(f.runs), 0)::integer as runs,
          coalesce(sum(f.succeeded), 0)::integer as succeeded, max(f.last_success_at) as last_success_at,
          bool_or(l.networks <> '{}') as is_paid
        from listings l left join agent_figures f using (agent_id) where lower(l.handle) = lower(a.handle)
      ) listed
      where h.handle = $1 and a.state = 'open' and listed.agents > 0`,
    values: [/^[a-z0-9-]{1,64}$/.test(asked) ? asked : ""],
  });
  const row = rows[0];
  if (!row) throw new ApiError("not_found", "There is no such creator.");
  const { id, isPaid, ...profile } = row;
  return { ...profile, wallets: isPaid ? await payoutWalletsOf(db, id) : [] };
}

async function payoutWalletsOf(db: Queryable, accountId: AccountId): Promise<PayoutWallet[]> {
  const { rows } = await db.query<PayoutWallet>({
    name: "payout wallets of creator",
    text: `
      select network, address, created_at as "provedAt", checked_at as "checkedAt" from payout_wallets
      where account_id = $1 and state = 'checked' order by network`,
    values: [accountId],
  });
  return rows;
}

interface Row extends Omit<CreatorProfile, "wallets"> {
  readonly id: AccountId;
  readonly isPaid: boolean;
}
