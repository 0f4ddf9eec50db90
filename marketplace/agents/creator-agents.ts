import { ApiError } from "../../shared/errors.ts";
import type { Queryable } from "../../shared/postgres.ts";
import type { AccountId } from "../ids.ts";
import { type AgentRow, payoutWallets } from "./find.ts";

export const agentsPerAccount = 1_000;

/** An account's own agent in any state that holds at least a draft, or a 404. */
export async function findOwnAgent(db: Queryable, accountId: AccountId, slug: string): Promise<OwnAgent> {
  const [own] = await readOwn(db, accountId, slug.toLowerCase().replaceAll("\0", ""));
  if (own) return own;
  throw new ApiError("not_found", `There is no agent "${slug}" of this account.`);
}

/** All of an account's agents, whatever their state, the last touched first. */
export function listOwnAgents(db: Queryable, accountId: AccountId): Promise<OwnAgent[]> {
  return readOwn(db, accountId, null);
}

async function readOwn(db: Queryable, accountId: AccountId, slug: string | null): Promise<OwnAgent[]> {
  const { rows } = await db.query<OwnAgent>(
    `select a.id, a.handle, a.slug, a.state, a.account_id as "ownerId", a.account_id as "handleLeadsTo",
       'open' as "ownerState", a.tool_name as "toolName", a.live_version as "liveVersion", v.version as "newestVersion",
       v.name, v.connector, v.price_credits as "priceCredits", a.created_at as "createdAt", a.updated_at as "updatedAt",
       ${payoutWallets} as wallets
     from agents a join lateral (
       select version, name, connector, price_credits from agent_versions
       where agent_id = a.id order by version desc limit 1
     ) v on true
     where a.account_id = $1 and ($2::text is null or a.slug = $2) order by a.updated_at desc, a.id limit ${agentsPerAccount}`,
    [accountId, slug],
  );
  return rows;
}

export interface OwnAgent extends AgentRow {
  readonly state: "draft" | "live" | "unpublished" | "suspended";
  readonly newestVersion: number;
  readonly name: string;
  readonly connector: string;
  readonly priceCredits: bigint;
}
