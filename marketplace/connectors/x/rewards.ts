import type { Queryable } from "../../../shared/postgres.ts";
import type { AccountId, RunId } from "../../ids.ts";

/** What a creator reads about the rewards of their agents, newest first. */
export async function listRewards(
  db: Queryable,
  ownerId: AccountId,
  { limit, offset, agent }: RewardsAsked,
): Promise<Reward[]> {
  const { rows } = await db.query(
    `select lower(a.handle || '/' || a.slug) as agent, r.run_id, r.post_id, r.author_id, r.username, r.recipient, r.asset,
       r.amount::text as amount, r.state, e.network, e.transaction_ids[1] as transaction_id, r.created_at
     from rewards r join agents a on a.id = r.agent_id join effects e on e.key = r.effect_key
     where a.account_id = $1 and ($4::text is null or lower(a.slug) = lower($4))
     order by r.created_at desc, r.id desc limit $2 offset $3`,
    [ownerId, limit, offset, agent?.replaceAll("\0", "") ?? null],
  );
  return rows;
}

interface RewardsAsked {
  readonly limit: number;
  readonly offset: number;
  /** The slug of one agent of the account's. */
  readonly agent?: string | undefined;
}

export interface Reward {
  readonly agent: string;
  readonly run_id: RunId;
  readonly post_id: string;
  readonly author_id: string;
  readonly username: string;
  /** A wallet on the chain, or the handle of the account that got credits. */
  readonly recipient: string;
  /** `hbar`, a token id, or `credits`. */
  readonly asset: string;
  /** Whole base units. */
  readonly amount: string;
  readonly state: "claimed" | "paid" | "void";
  readonly network: string | null;
  readonly transaction_id: string | null;
  readonly created_at: Date;
}
