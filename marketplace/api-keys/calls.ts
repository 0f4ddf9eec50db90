import { z } from "zod";
import { toSafeNumber } from "../../shared/amounts.ts";
import { ApiError } from "../../shared/errors.ts";
import type { Queryable } from "../../shared/postgres.ts";
import { historyDays } from "../history-days.ts";
import type { AccountId, RunId } from "../ids.ts";
import { followsPlace, microsOf, type Place, pageOf, pageQuery, placeValues, searchText } from "../query.ts";

export const callStates = ["running", "succeeded", "failed", "lost"] as const;
/** Of one page: what is beyond stands on the next, so that what is rarely found costs no more than anything else. */
const runsLookedAt = 20_000;

export const callsQuery = z.object({
  ...pageQuery(/^run_[0-9a-z]{26}$/),
  state: z.enum(callStates).optional().describe("How they ended."),
  agent: searchText(200).optional().describe("`handle/slug` of the agent."),
  day: z.iso.date().optional().describe("The day (UTC), such as `2026-11-22`."),
});
export type CallsQuery = z.infer<typeof callsQuery>;

/**
 * The runs that a key of the account asked for in the last `historyDays`, newest first; of a revoked key too. Calls that were refused
 * before a run began are no runs. A page may have fewer rows than asked for, or none, and still be followed by another.
 */
export async function listKeyCalls(
  db: Queryable,
  accountId: AccountId,
  keyId: string,
  query: CallsQuery,
): Promise<KeyCalls> {
  const { rowCount } = await db.query("select from api_keys where id = $1 and account_id = $2", [keyId, accountId]);
  if (rowCount !== 1) throw new ApiError("not_found", "There is no such key.");
  const { limit, cursor, state, agent, day } = query;
  const from = [accountId, ...placeValues(cursor), day ?? null, keyId];
  const { rows } = await db.query<CallRow>(
    `with seen as materialized (${seen} limit ${runsLookedAt})
     select s.id, s."createdMicros", a.handle || '/' || a.slug as agent, s.state, s.price_credits as "priceCredits", s.error,
       s.created_at as "createdAt", (extract(epoch from s.finished_at - s.created_at) * 1000)::integer as ms
     from seen s join agents a on a.id = s.agent_id
     where ($6::text is null or s.state = $6)
       and ($7::text is null or lower(a.handle || '/' || a.slug) = lower($7))
     order by s.created_at desc, s.id limit $8`,
    [...from, state ?? null, agent ?? null, limit + 1],
  );
  const { page, cursor: next } = pageOf(rows, limit);
  return { calls: page.map(asCall), cursor: next ?? (await endOfSeen(db, from)) };
}

const seen = `
  select id, agent_id, state, price_credits, error, created_at, finished_at, ${microsOf("created_at")} as "createdMicros"
  from runs where account_id = $1 and coalesce(key_id, '') = $5 and created_at > now() - interval '${historyDays} days'
    and ($4::date is null or created_at >= $4::date::timestamp at time zone 'utc'
                         and created_at < ($4::date + 1)::timestamp at time zone 'utc')
    and ${followsPlace(2)}
  order by created_at desc, id`;

/** Where a page ends that found less than it may hold: the last run it looked at, if there are more. */
async function endOfSeen(db: Queryable, from: unknown[]): Promise<string | null> {
  const { rows } = await db.query<Place>(
    `select id, "createdMicros" from (${seen} offset ${runsLookedAt - 1} limit 2) s`,
    from,
  );
  return rows.length === 2 ? pageOf(rows, 1).cursor : null;
}

interface CallRow extends Place {
  readonly id: RunId;
  readonly agent: string;
  readonly state: KeyCall["state"];
  readonly priceCredits: bigint;
  readonly error: string | null;
  readonly createdAt: Date;
  readonly ms: number | null;
}

function asCall({ id, agent, state, priceCredits, error, createdAt, ms }: CallRow): KeyCall {
  return {
    run_id: id,
    agent,
    state,
    credits_used: state === "succeeded" ? toSafeNumber(priceCredits) : 0,
    ms,
    error,
    created_at: createdAt.toISOString(),
  };
}

export interface KeyCalls {
  readonly calls: readonly KeyCall[];
  readonly cursor: string | null;
}

export interface KeyCall {
  readonly run_id: RunId;
  readonly agent: string;
  readonly state: (typeof callStates)[number];
  readonly credits_used: number;
  /** Null while it runs. */
  readonly ms: number | null;
  readonly error: string | null;
  readonly created_at: string;
}
