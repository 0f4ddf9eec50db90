import type { Queryable } from "../../shared/postgres.ts";
import type { AccountId, KeyId } from "../ids.ts";
import type { Scope } from "./create.ts";

/** An account's keys as they may be shown, newest first; revoked ones stay visible. */
export async function listKeys(db: Queryable, accountId: AccountId): Promise<ListedKey[]> {
  const { rows } = await db.query(
    `select id, name, start, last4, scope, array(
         select handle || '/' || slug from agents where id = any(scope_agents) order by 1
       ) as agents, rate_limit_per_minute, max_credits_per_day, created_at, last_used_at, revoked_at
     from api_keys where account_id = $1 order by created_at desc, id desc limit 100`,
    [accountId],
  );
  return rows;
}

export interface ListedKey {
  readonly id: KeyId;
  readonly name: string;
  readonly start: string;
  readonly last4: string;
  readonly scope: Scope;
  /** The chosen ones, as `handle/slug`. */
  readonly agents: readonly string[];
  readonly rate_limit_per_minute: number;
  readonly max_credits_per_day: bigint | null;
  readonly created_at: Date;
  readonly last_used_at: Date | null;
  readonly revoked_at: Date | null;
}
