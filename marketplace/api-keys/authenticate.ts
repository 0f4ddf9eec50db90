import type { Queryable } from "../../shared/postgres.ts";
// A type only: a key has a limit in credits, and a balance names the key that asks for it.
import type { Credits } from "../credits/amount.ts";
import type { AccountId, AgentId, KeyId } from "../ids.ts";
import type { SeenClient } from "../seen-client.ts";
import type { Scope, ToolListing } from "./key-settings.ts";

/**
 * Looks keys up by digest and counts one call each against their rate limits, and all of an account's together against
 * its ceiling, in one statement. Nothing is remembered between statements, so a revoked key is refused from its next call
 * on, on every copy of the service, and limits hold across copies. Answers in the order asked; undefined for an unknown
 * or revoked key, or one whose account is not open.
 */
export async function admitCalls(db: Queryable, digests: readonly string[]): Promise<Array<Admission | undefined>> {
  const calls = new Map<string, number>();
  for (const digest of digests) calls.set(digest, (calls.get(digest) ?? 0) + 1);
  const { rows } = await db.query({
    name: "admit calls",
    // The order by makes copies of the service lock the counters in one order.
    text: `
      select found.*, counted.*
      from (${activeKeys} order by k.account_id, k.id) found
      cross join lateral (
        -- As count_key_calls does it for an only key, without a second function in between.
        select admitted, greatest(0, found.rate_limit_per_minute - used) as remaining, reset_seconds
        from count_calls(found.account_id, found.calls, found.rate_limit_per_minute) where found.is_only_key
        union all
        select admitted, remaining, reset_seconds
        from count_key_calls(found.account_id, found.id, false, found.calls, found.rate_limit_per_minute,
                             found.calls_per_minute_max) where not found.is_only_key
      ) counted`,
    values: [[...calls.keys()], [...calls.values()]],
  });
  const found = new Map<string, Counted>(rows.map((row: Row) => [row.digest, asCounted(row)]));
  return digests.map((digest) => {
    const counted = found.get(digest);
    return counted && nextAdmission(counted);
  });
}

/** SQL: the active keys of these digests ($1), with the calls of each ($2). */
export const activeKeys = `
  select encode(k.digest, 'hex') as digest, asked.calls, k.id, k.account_id, a.handle, k.name, k.start, k.scope,
    k.scope_agents, k.tools, least(k.rate_limit_per_minute, a.calls_per_minute_max) as rate_limit_per_minute,
    k.max_credits_per_day, k.max_credits_per_month, a.calls_per_minute_max,
    not exists (select from api_keys o where o.account_id = k.account_id and o.revoked_at is null and o.id <> k.id)
      as is_only_key,
    coalesce(k.last_used_at < now() - interval '1 minute', true) as use_is_news
  from unnest($1::text[], $2::integer[]) asked (digest, calls)
  join api_keys k on k.digest = decode(asked.digest, 'hex')
  join accounts a on a.id = k.account_id
  where k.revoked_at is null and a.state = 'open'`;

/** Notes that a key is in use, and roughly by which program and from where; at most once a minute, so it says "about then". */
export async function noteUse(db: Queryable, id: KeyId, { from, by }: SeenClient): Promise<void> {
  await db.query(
    `update api_keys set last_used_at = now(), last_used_from = $2, last_used_by = $3
     where id = $1 and coalesce(last_used_at < now() - interval '1 minute', true)`,
    [id, from ?? null, by ?? null],
  );
}

/** A caller, known from an API key. */
export interface Caller {
  readonly accountId: AccountId;
  readonly handle: string;
  readonly key: {
    readonly id: KeyId;
    readonly name: string;
    readonly start: string;
    readonly scope: Scope;
    readonly scopeAgents: readonly AgentId[];
    readonly tools: ToolListing;
    /** Its own, or its account's ceiling where that is lower. */
    readonly rateLimitPerMinute: number;
    /** All that runs asked with this key may cost in a day (UTC). */
    readonly maxCreditsPerDay: Credits | undefined;
    /** All that runs asked with this key may cost in a calendar month (UTC). */
    readonly maxCreditsPerMonth: Credits | undefined;
  };
}

export interface KeyLookup {
  /** By SHA-256 digest in hex; counts the call. */
  readonly key: (digest: string) => Promise<Admission | undefined>;
}

export interface Admission {
  readonly caller: Caller;
  readonly admitted: boolean;
  /** Calls that would still be admitted now. */
  readonly remaining: number;
  /** Until the oldest counted call is a minute old and makes room. */
  readonly resetSeconds: number;
  /** The last noted use of the key is more than a minute ago. */
  readonly useIsNews: boolean;
}

/** An active key as the database has it. */
export interface KeyRow {
  digest: string;
  id: KeyId;
  account_id: AccountId;
  handle: string;
  name: string;
  start: string;
  scope: Scope;
  scope_agents: AgentId[];
  tools: ToolListing;
  rate_limit_per_minute: number;
  max_credits_per_day: Credits | null;
  max_credits_per_month: Credits | null;
  calls_per_minute_max: number;
  is_only_key: boolean;
  use_is_news: boolean;
}

interface Row extends KeyRow {
  calls: number;
  admitted: number;
  remaining: number;
  reset_seconds: number;
}

interface Counted {
  readonly row: Row;
  readonly caller: Caller;
  answered: number;
}

function asCounted(row: Row): Counted {
  return { row, caller: callerOf(row), answered: 0 };
}

export function callerOf(row: KeyRow): Caller {
  const key = {
    id: row.id,
    name: row.name,
    start: row.start,
    scope: row.scope,
    scopeAgents: row.scope_agents,
    tools: row.tools,
    rateLimitPerMinute: row.rate_limit_per_minute,
    maxCreditsPerDay: row.max_credits_per_day ?? undefined,
    maxCreditsPerMonth: row.max_credits_per_month ?? undefined,
  };
  return { accountId: row.account_id, handle: row.handle, key };
}

/** The calls that came together are admitted in their order, as if each had been counted alone. */
function nextAdmission(counted: Counted): Admission {
  const { row, caller } = counted;
  counted.answered += 1;
  return {
    caller,
    admitted: counted.answered <= row.admitted,
    remaining: row.remaining + Math.max(0, row.admitted - counted.answered),
    resetSeconds: Math.max(1, row.reset_seconds),
    useIsNews: row.use_is_news && counted.answered === 1,
  };
}
