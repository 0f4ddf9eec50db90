import { z } from "zod";
import { toSafeNumber } from "../../shared/amounts.ts";
import type { Queryable } from "../../shared/postgres.ts";
import { historyDays } from "../history-days.ts";
import type { AccountId, KeyId } from "../ids.ts";
import { wholeNumber } from "../query.ts";
import { dayBefore } from "../utc-day.ts";
import { agentIdOf, runsFilter } from "./own-runs.ts";

export const activityQuery = z.object({
  days: wholeNumber(1, historyDays).default(historyDays).describe("How many days (UTC), up to today."),
  ...runsFilter,
});

export type ActivityQuery = z.infer<typeof activityQuery>;

/** What runs came to. */
export interface Sums {
  readonly runs: number;
  /** How many of those failed; they cost nothing. */
  readonly failed: number;
  readonly credits: number;
}

/** An account's ended runs of some days, added up; a run counts on the day on which it began. */
export interface Activity extends Sums {
  readonly average_ms: number | null;
  /** Median over runs that succeeded, the newest thousand at most. */
  readonly median_ms: number | null;
  /** Runs in as many days before. */
  readonly runs_before: number;
  readonly days: ReadonlyArray<Sums & { readonly day: string }>;
  /** The dearest first; null: signed in, without a key. */
  readonly keys: ReadonlyArray<Sums & { readonly key: { readonly id: KeyId; readonly name: string } | null }>;
  /** The dearest hundred. */
  readonly agents: ReadonlyArray<Sums & { readonly agent: string }>;
}

const agentsMax = 100;

/** Reads what countDays has added up, and the runs that ended since then. */
export async function readActivity(db: Queryable, accountId: AccountId, query: ActivityQuery): Promise<Activity> {
  const today = new Date().toISOString().slice(0, 10);
  const first = dayBefore(today, query.days - 1);
  const agentId = query.agent === undefined ? null : ((await agentIdOf(db, query.agent)) ?? "");
  const key = query.key === undefined ? null : query.key === "none" ? "" : query.key;
  const [{ rows }, median] = await Promise.all([
    db.query<Row>(sums, [accountId, first, dayBefore(first, query.days), agentId, key]),
    medianTime(db, accountId, { first, agentId, key }),
  ]);
  const of = (kind: Row["kind"]) => rows.filter((row) => row.kind === kind);
  const total = of("all")[0];
  const days = new Map(of("day").map((row) => [row.name, asSums(row)]));
  const none = { runs: 0, failed: 0, credits: 0 };
  return {
    ...(total ? asSums(total) : none),
    average_ms: total && total.runs > 0n ? Math.round(Number(total.ms) / Number(total.runs)) : null,
    median_ms: median,
    runs_before: Number(of("before")[0]?.runs ?? 0n),
    days: Array.from({ length: query.days }, (_, at) => dayBefore(today, query.days - 1 - at)).map((day) => ({
      day,
      ...(days.get(day) ?? none),
    })),
    keys: dearest(of("key")).map(({ id, name, ...row }) => ({
      key: id === "" ? null : { id: id as KeyId, name },
      ...asSums(row),
    })),
    agents: dearest(of("agent"))
      .slice(0, agentsMax)
      .map(({ name, ...row }) => ({ agent: name, ...asSums(row) })),
  };
}

function dearest(rows: readonly Row[]): Row[] {
  return rows.toSorted((a, b) => Number(b.credits - a.credits) || Number(b.runs - a.runs));
}

function asSums({ runs, failed, credits }: Omit<Row, "id" | "name" | "kind">): Sums {
  return { runs: toSafeNumber(runs), failed: toSafeNumber(failed), credits: toSafeNumber(credits) };
}

interface Row {
  readonly kind: "all" | "before" | "day" | "key" | "agent";
  readonly id: string;
  readonly name: string;
  readonly runs: bigint;
  readonly failed: bigint;
  readonly credits: bigint;
  readonly ms: bigint;
}

/** Reads few rows, which an index finds, however many runs there are. */
async function medianTime(
  db: Queryable,
  accountId: AccountId,
  { first, agentId, key }: Narrowed,
): Promise<number | null> {
  const narrowed = [
    ...(agentId === null ? [] : [{ column: "agent_id", value: agentId }]),
    ...(key === null ? [] : [{ column: "coalesce(key_id, '')", value: key }]),
  ];
  const { rows } = await db.query<{ median: number | null }>(
    `select round(percentile_cont(0.5) within group (order by extract(epoch from finished_at - created_at) * 1000))::integer as median
     from (
       select created_at, finished_at, state from runs
       where account_id = $1 and created_at >= $2::timestamp at time zone 'utc' and state <> 'running'
         ${narrowed.map(({ column }, at) => `and ${column} = $${at + 3}`).join(" ")}
       order by created_at desc limit ${timedMax}
     ) newest where state = 'succeeded'`,
    [accountId, first, ...narrowed.map(({ value }) => value)],
  );
  return rows[0]?.median ?? null;
}

const timedMax = 1_000;

interface Narrowed {
  readonly first: string;
  readonly agentId: string | null;
  readonly key: string | null;
}

/** Runs that are not counted yet are few: a run takes ten minutes at most. */
const sums = `
  with counted as (
    select day, agent_id, key_id, runs, failed, credits, ms from account_days
    where account_id = $1 and day >= $3::date
    union all
    select (created_at at time zone 'utc')::date, agent_id, coalesce(key_id, ''), 1, (state <> 'succeeded')::integer,
      case when state = 'succeeded' then price_credits else 0 end,
      greatest(extract(epoch from finished_at - created_at) * 1000, 0)::bigint
    from runs where account_id = $1 and state <> 'running'
      and created_at >= (select counted_until - interval '15 minutes' from run_count_progress)
      and finished_at >= (select counted_until from run_count_progress)
  ),
  asked as (
    select * from counted where ($4::text is null or agent_id = $4) and ($5::text is null or key_id = $5)
  ),
  added as (
    select day, agent_id, key_id, sum(runs)::bigint as runs, sum(failed)::bigint as failed, sum(credits)::bigint as credits,
      sum(ms)::bigint as ms,
      case when grouping(day) = 0 then 'day' when grouping(agent_id) = 0 then 'agent'
        when grouping(key_id) = 0 then 'key' else 'all' end as kind
    from asked where day >= $2::date group by grouping sets ((), (day), (agent_id), (key_id))
  )
  select kind, coalesce(key_id, '') as id, coalesce(day::text, a.handle || '/' || a.slug, k.name, '') as name,
    coalesce(runs, 0) as runs, coalesce(failed, 0) as failed, coalesce(credits, 0) as credits, coalesce(ms, 0) as ms
  from added left join agents a on a.id = added.agent_id left join api_keys k on k.id = added.key_id
  union all
  select 'before', '', '', coalesce(sum(runs), 0)::bigint, 0, 0, 0 from asked where day < $2::date`;
