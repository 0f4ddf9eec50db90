import { z } from "zod";
import { toSafeNumber } from "../../shared/amounts.ts";
import { ApiError } from "../../shared/errors.ts";
import type { Queryable } from "../../shared/postgres.ts";
import { isAtAddress } from "../at-address.ts";
import { historyDays } from "../history-days.ts";
import type { AccountId, RunId } from "../ids.ts";
import { dayText, followsPlace, microsOf, type Place, pageOf, pageQuery, placeValues, searchText } from "../query.ts";
import type { RefusalReason } from "./refused-calls.ts";

export const callStates = ["running", "succeeded", "failed", "lost", "refused"] as const;
/** Runs that one page looks at; the next page goes on from there, so that rare calls cost no more to find than others. */
const runsLookedAt = 20_000;

export const callsQuery = z.object({
  ...pageQuery(/^(run|ref)_[0-9a-z]{26}$/),
  state: z.enum(callStates).optional().describe("How they ended; `refused` before a run began."),
  agent: searchText(200).optional().describe("`handle/slug` of the agent."),
  day: dayText.optional().describe("The day (UTC), such as `2026-11-22`."),
});
export type CallsQuery = z.infer<typeof callsQuery>;

/**
 * The runs that a key of the account asked for in the last `historyDays`, and the calls that it was refused, by the minute, newest first; of a
 * revoked key too. A page may have fewer rows than asked for, or none, and still be followed by another.
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
  const { rows } = await db.query<CallRow>(calls, [...from, state ?? null, agent ?? null, limit + 1]);
  const { page, cursor: next } = pageOf(rows, limit);
  return { calls: page.map(asCall), cursor: next ?? (state === "refused" ? null : await endOfSeen(db, from)) };
}

const seen = `
  select id, agent_id, state, price_credits, error, created_at, finished_at, ${microsOf("created_at")} as "createdMicros"
  from runs where account_id = $1 and coalesce(key_id, '') = $5 and created_at > now() - interval '${historyDays} days'
    and ($4::date is null or created_at >= $4::date::timestamp at time zone 'utc'
                         and created_at < ($4::date + 1)::timestamp at time zone 'utc')
    and ${followsPlace(2)}
  order by created_at desc, id`;

const refusedId = `'ref_' || left(md5(reason || ' ' || asked), 26)`;

/** Refused calls only of the time that the runs looked at reach back to, so that the next page has the older ones of both. */
const calls = `
  with seen as materialized (
    select * from (${seen} limit ${runsLookedAt}) s where $6::text is distinct from 'refused'
  ), edge as (
    select min(created_at) as at from seen having count(*) = ${runsLookedAt}
  ), refused as (
    select ${refusedId} as id, minute, ${microsOf("minute")} as "createdMicros", reason, asked, calls
    from refused_calls left join edge on true
    where key_id = $5 and minute > now() - interval '${historyDays} days' and minute >= coalesce(edge.at, '-infinity')
      and coalesce($6, 'refused') = 'refused' and ($7::text is null or lower(asked) = lower($7))
      and ($4::date is null or (minute at time zone 'utc')::date = $4) and ${followsPlace(2, { at: "minute", id: `(${refusedId})` })}
    order by minute desc, id limit $8
  )
  select s.id, s."createdMicros", a.handle || '/' || a.slug as asked, s.state, s.price_credits as "priceCredits", s.error,
    s.created_at as "createdAt", (extract(epoch from s.finished_at - s.created_at) * 1000)::integer as ms,
    null as reason, 1 as calls
  from seen s join agents a on a.id = s.agent_id
  where ($6::text is null or s.state = $6) and ($7::text is null or ${isAtAddress("a", "$7::text")})
  union all
  select id, "createdMicros", asked, 'refused', 0, null, minute, null, reason, calls from refused
  order by "createdAt" desc, id limit $8`;

/** Where a page ends that found less than it may hold: the last run it looked at, if there are more. */
async function endOfSeen(db: Queryable, from: unknown[]): Promise<string | null> {
  const { rows } = await db.query<Place>(
    `select id, "createdMicros" from (${seen} offset ${runsLookedAt - 1} limit 2) s`,
    from,
  );
  return rows.length === 2 ? pageOf(rows, 1).cursor : null;
}

interface CallRow extends Place {
  readonly id: string;
  readonly asked: string;
  readonly state: KeyCall["state"];
  readonly priceCredits: bigint;
  readonly error: string | null;
  readonly createdAt: Date;
  readonly ms: number | null;
  readonly reason: RefusalReason | null;
  readonly calls: bigint;
}

function asCall(row: CallRow): KeyCall {
  const { id, asked, state, priceCredits, error, createdAt, ms, reason, calls } = row;
  const isCall = asked.includes(" ");
  return {
    run_id: reason === null ? (id as RunId) : null,
    agent: isCall || asked === "" ? null : asked,
    asked: isCall ? asked : null,
    state,
    reason,
    times: toSafeNumber(calls),
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
  /** Null of what was refused. */
  readonly run_id: RunId | null;
  /** Null where a call was refused before it was read, or too many different ones were. */
  readonly agent: string | null;
  /** The method and path of a call that was refused before it was read. */
  readonly asked: string | null;
  readonly state: (typeof callStates)[number];
  readonly reason: RefusalReason | null;
  readonly times: number;
  readonly credits_used: number;
  /** Null while it runs. */
  readonly ms: number | null;
  readonly error: string | null;
  /** When the call began; for a refused call, when its minute began. */
  readonly created_at: string;
}
