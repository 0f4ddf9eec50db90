import { ApiError } from "../../shared/errors.ts";
import { type Database, inTransaction, type Transaction } from "../../shared/postgres.ts";
import type { AccountId, AgentId } from "../ids.ts";
import { readCallCeiling } from "./ceiling.ts";
import {
  chosenAgents,
  keyCap,
  keyName,
  keyRate,
  type Scope,
  type ToolListing,
  withoutDailyCap,
} from "./key-settings.ts";

/**
 * Changes an active key, from its next call on, on every copy of the service. A new cap counts what the key has spent of the day
 * and of the month already; calls that are being taken at that very moment count against the caps from before. 404 when the key is
 * absent, revoked or another account's; 422 naming the field, as for a client that would have no daily cap.
 */
export async function changeKey(db: Database, accountId: AccountId, id: string, changes: KeyChanges): Promise<void> {
  const { name, rateLimitPerMinute, maxCreditsPerDay, maxCreditsPerMonth } = changes;
  const ceiling = await readCallCeiling(db, accountId);
  if (rateLimitPerMinute !== undefined) keyRate(rateLimitPerMinute, ceiling);
  if (maxCreditsPerDay != null) keyCap("max_credits_per_day", maxCreditsPerDay);
  if (maxCreditsPerMonth != null) keyCap("max_credits_per_month", maxCreditsPerMonth);
  await inTransaction(db, async (tx) => {
    // Every run that is paid takes this row first, so that none begins or is refunded while what was spent is counted.
    await tx.query("select from balances where account_id = $1 for update", [accountId]);
    const before = await readLocked(tx, accountId, id);
    const scope = changes.scope ?? before.scope;
    const isChosenAnew = changes.scope !== undefined || changes.agents !== undefined;
    const wanted: KeySettings = {
      name: name === undefined ? before.name : keyName(name),
      scope,
      scopeAgents: isChosenAnew ? await chosenAgents(tx, scope, changes.agents ?? []) : before.scopeAgents,
      tools: changes.tools ?? before.tools,
      rateLimit: rateLimitPerMinute ?? before.rateLimit,
      capDay: changed(maxCreditsPerDay, before.capDay),
      capMonth: changed(maxCreditsPerMonth, before.capMonth),
    };
    if (before.client !== null && wanted.capDay === null) throw withoutDailyCap();
    const capsChange = wanted.capDay !== before.capDay || wanted.capMonth !== before.capMonth;
    await tx.query(
      `update api_keys set name = $2, scope = $3, scope_agents = $4, rate_limit_per_minute = $5, max_credits_per_day = $6,
         max_credits_per_month = $7, caps_changed_at = case when $8 then now() else caps_changed_at end, tools = $9 where id = $1`,
      [
        id,
        wanted.name,
        wanted.scope,
        wanted.scopeAgents,
        wanted.rateLimit,
        wanted.capDay,
        wanted.capMonth,
        capsChange,
        wanted.tools,
      ],
    );
    if (capsChange) await recount(tx, id);
  });
}

const changed = (to: number | null | undefined, from: bigint | null) =>
  to === undefined ? from : to === null ? null : BigInt(to);

async function readLocked(tx: Transaction, accountId: AccountId, id: string): Promise<KeyRow> {
  const { rows } = await tx.query<KeyRow>(
    `select name, scope, scope_agents as "scopeAgents", tools, rate_limit_per_minute as "rateLimit",
       max_credits_per_day as "capDay", max_credits_per_month as "capMonth", client
     from api_keys where id = $1 and account_id = $2 and revoked_at is null for update`,
    [id, accountId],
  );
  if (!rows[0]) throw new ApiError("not_found", `There is no active key "${id}".`);
  return rows[0];
}

/**
 * The days of this month as the runs have them: a key without a cap was not counted. A day some of whose runs are deleted already stays as
 * it was counted. Each day's own cap is set by its next run.
 */
async function recount(tx: Transaction, id: string): Promise<void> {
  await tx.query(
    `with spent as (
       select (r.created_at at time zone 'utc')::date as day, sum(r.price_credits)::bigint as spent
       from api_keys k join runs r on r.account_id = k.account_id and coalesce(r.key_id, '') = k.id
       where k.id = $1 and r.rail = 'credits' and r.state in ('running', 'succeeded') and r.price_credits > 0
         and r.created_at >= date_trunc('month', now() at time zone 'utc') at time zone 'utc'
       group by 1
     )
     insert into key_days (key_id, day, spent, cap) select $1, day, spent, spent from spent
     on conflict (key_id, day) do update
       set spent = greatest(key_days.spent, excluded.spent), cap = greatest(key_days.spent, excluded.spent)`,
    [id],
  );
}

export interface KeyChanges {
  readonly name?: string | undefined;
  readonly scope?: Scope | undefined;
  /** With the scope chosen_agents, given or the key's own: `handle/slug` of live agents. */
  readonly agents?: readonly string[] | undefined;
  readonly tools?: ToolListing | undefined;
  readonly rateLimitPerMinute?: number | undefined;
  /** Null lifts the cap. */
  readonly maxCreditsPerDay?: number | null | undefined;
  readonly maxCreditsPerMonth?: number | null | undefined;
}

interface KeySettings {
  readonly name: string;
  readonly scope: Scope;
  readonly scopeAgents: readonly AgentId[];
  readonly tools: ToolListing;
  readonly rateLimit: number;
  readonly capDay: bigint | null;
  readonly capMonth: bigint | null;
}

interface KeyRow extends KeySettings {
  /** The id of the client that it is for. */
  readonly client: string | null;
}
