import type { Queryable } from "../../shared/postgres.ts";
import type { AccountId, KeyId } from "../ids.ts";
import type { Scope, ToolListing } from "./key-settings.ts";
import { revokedShown } from "./revoked-keys.ts";

/** An account's keys as they may be shown, newest first: all that are active, and the newest of those revoked. */
export function listKeys(db: Queryable, accountId: AccountId): Promise<ListedKey[]> {
  return readKeys(db, accountId, null);
}

/** One of them; undefined when the account has none of that id. */
export async function readKey(db: Queryable, accountId: AccountId, id: string): Promise<ListedKey | undefined> {
  return (await readKeys(db, accountId, id))[0];
}

/** The active key of the account that is called so. Clients, which name themselves, have none that a program could be given. */
export async function findKeyNamed(db: Queryable, accountId: AccountId, name: string): Promise<ListedKey | undefined> {
  const keys = await listKeys(db, accountId);
  return keys.find((key) => key.name === name && key.client === null && key.revoked_at === null);
}

async function readKeys(db: Queryable, accountId: AccountId, id: string | null): Promise<ListedKey[]> {
  const { rows } = await db.query(
    `select id, name, start, last4, scope, array(
         select handle || '/' || slug from agents where id = any(scope_agents) order by 1
       ) as agents, tools, client, rate_limit_per_minute, max_credits_per_day, max_credits_per_month, created_at, last_used_at,
       last_used_from, last_used_by, revoked_at
     from api_keys where account_id = $1 and case when $2::text is not null then id = $2 else
       revoked_at is null or id in (
         select id from api_keys where account_id = $1 and revoked_at is not null order by created_at desc, id desc limit $3
       ) end
     order by created_at desc, id desc`,
    [accountId, id, revokedShown],
  );
  return rows;
}

/** What the account's active keys have spent, or hold for runs under way: today, and this month (UTC) where a cap is on it. */
export async function readKeySpending(db: Queryable, accountId: AccountId): Promise<ReadonlyMap<KeyId, KeySpending>> {
  const { rows } = await db.query<KeySpending & { id: KeyId }>(
    `with today as (select (now() at time zone 'utc')::date as day),
     keys as (select * from api_keys where account_id = $1 and revoked_at is null),
     uncapped as (
       select r.key_id, sum(r.price_credits)::bigint as spent from runs r, today
       where r.account_id = $1 and r.created_at >= today.day::timestamp at time zone 'utc'
         and r.state in ('running', 'succeeded')
         and r.key_id in (select id from keys where max_credits_per_day is null and max_credits_per_month is null)
       group by r.key_id
     )
     select keys.id, coalesce(uncapped.spent, d.spent, 0) as today,
       case when keys.max_credits_per_month is not null then (
         select coalesce(sum(m.spent), 0)::bigint from key_days m, today
         where m.key_id = keys.id and m.day between date_trunc('month', today.day)::date and today.day
       ) end as month
     from keys cross join today
     left join uncapped on uncapped.key_id = keys.id
     left join key_days d on d.key_id = keys.id and d.day = today.day
       and coalesce(keys.max_credits_per_day, keys.max_credits_per_month) is not null`,
    [accountId],
  );
  return new Map(rows.map(({ id, today, month }) => [id, { today, month }]));
}

export interface KeySpending {
  readonly today: bigint;
  /** Null for a key without a cap on it. */
  readonly month: bigint | null;
}

export interface ListedKey {
  readonly id: KeyId;
  readonly name: string;
  readonly start: string;
  readonly last4: string;
  readonly scope: Scope;
  /** The chosen ones, as `handle/slug`. */
  readonly agents: readonly string[];
  readonly tools: ToolListing;
  /** The id of the client that was allowed it; null of a key. */
  readonly client: string | null;
  readonly rate_limit_per_minute: number;
  readonly max_credits_per_day: bigint | null;
  readonly max_credits_per_month: bigint | null;
  readonly created_at: Date;
  readonly last_used_at: Date | null;
  /** The network, such as `203.0.113.x`. */
  readonly last_used_from: string | null;
  /** The program, as it names itself. */
  readonly last_used_by: string | null;
  readonly revoked_at: Date | null;
}
