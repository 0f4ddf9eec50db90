import { type Database, inTransaction, type Queryable, type Transaction } from "../../shared/postgres.ts";
import type { AgentId } from "../ids.ts";
import { countDays, countSettled, forgetDays } from "./count-days.ts";

export const figuresDays = 30;
/** Longer than a run may take: the call waited for its buyer in between, so that its time says nothing. */
const runMsMax = 600_000;
const slicesPerPass = 100;
const oldRowsPerPass = 5_000;

/**
 * Adds up how the agents' runs ended, for what is told of each: runs of `figuresDays`, success rate, times. Each run is
 * counted once, over all copies of the service and whenever one dies: how far they are counted moves in the transaction
 * that counts them. Runs of an agent by its own creator do not count.
 */
export async function countRuns(db: Database): Promise<void> {
  for (let slices = 0; slices < slicesPerPass; slices += 1) {
    if (!(await inTransaction(db, countSlice))) break;
  }
  await inTransaction(db, forgetOldDays);
  await countSettled(db);
  await forgetDays(db);
}

/** Counts the runs that ended next; true when it may not have come to the present yet, and no other copy is at it. */
async function countSlice(tx: Transaction): Promise<boolean> {
  const { rows } = await tx.query<{ from: string; until: string; isLater: boolean; isWhole: boolean }>(nextSlice);
  const slice = rows[0];
  if (!slice?.isLater) return false;
  const { rows: counted } = await tx.query<Counted>(countEnded, [slice.from, slice.until]);
  await refreshFigures(tx, counted);
  await countDays(tx, slice);
  await tx.query("update run_count_progress set counted_until = $1::timestamptz", [slice.until]);
  // A shorter one ends at the present, which moves on meanwhile: the next would count those few milliseconds.
  return slice.isWhole;
}

/** Takes the days out of the figures that are too long ago. */
async function forgetOldDays(tx: Transaction): Promise<void> {
  const { rowCount } = await tx.query("select from run_count_progress for update skip locked");
  if (rowCount === 0) return;
  const { rows } = await tx.query<Counted>(
    `delete from agent_run_counts where (agent_id, day, outcome) in (
       select agent_id, day, outcome from agent_run_counts where day <= ${lastOldDay} limit ${oldRowsPerPass}
     ) returning agent_id`,
  );
  await refreshFigures(tx, rows);
}

interface Counted {
  readonly agent_id: AgentId;
}

async function refreshFigures(tx: Queryable, counted: readonly Counted[]): Promise<void> {
  const agentIds = [...new Set(counted.map(({ agent_id }) => agent_id))].toSorted();
  if (agentIds.length === 0) return;
  await tx.query(addUpDays, [agentIds]);
  await tx.query(rankListings, [agentIds]);
}

const lastOldDay = `(now() at time zone 'utc')::date - ${figuresDays}`;

/**
 * A run's end is dated by the beginning of the transaction that writes it, so what ended before the oldest transaction
 * began is all there. Five seconds: one that begins now is not seen at once. Fifteen minutes: a transaction as old only reads.
 */
const nextSlice = `
  select counted_until::text as from, until::text as until, until > counted_until as "isLater",
    until = counted_until + interval '10 minutes' as "isWhole"
  from run_count_progress, lateral (
    select least(counted_until + interval '10 minutes', greatest(
      least(now() - interval '5 seconds', min(xact_start)), now() - interval '15 minutes')) as until
    from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()
  ) slice
  for update of run_count_progress skip locked`;

/** A call paid per call is its run's record unless the run has one of its own, which it ended together with. */
const countEnded = `
  with ended as (
    select r.agent_id, r.finished_at as at, r.state = 'succeeded' as succeeded, r.finished_at - r.created_at as took
    from runs r join agents a on a.id = r.agent_id
    where r.state <> 'running' and r.finished_at >= $1::timestamptz and r.finished_at < $2::timestamptz
      and r.account_id is distinct from a.account_id
    union all
    select a.id, p.result_at, true, p.result_at - p.created_at
    from paid_calls p join agents a on a.id = p.product
    where p.result_at >= $1::timestamptz and p.result_at < $2::timestamptz
      and not exists (select from runs r where r.id = p.run_id)
  ),
  timed as (select *, greatest(extract(epoch from took) * 1000, 1)::float8 as ms from ended)
  insert into agent_run_counts as counts (agent_id, day, outcome, runs, last_at)
  select agent_id, (at at time zone 'utc')::date as day,
    case when not succeeded then -1 when ms > ${runMsMax} then 999 else floor(8 * ln(ms) / ln(2.0)) end as outcome,
    count(*), max(at)
  from timed group by agent_id, day, outcome order by agent_id, day, outcome
  on conflict (agent_id, day, outcome) do update
    set runs = counts.runs + excluded.runs, last_at = greatest(counts.last_at, excluded.last_at)
  returning agent_id`;

/** The time of an outcome is the middle of what it stands for: at most 5 % off. */
const addUpDays = `
  insert into agent_figures (agent_id, runs, succeeded, median_ms, p95_ms, last_success_at)
  select asked.agent_id, coalesce(sum(runs), 0), coalesce(sum(runs) filter (where outcome >= 0), 0),
    round(power(2, (min(outcome) filter (where is_timed and upto >= timed * 0.5) + 0.5) / 8)),
    round(power(2, (min(outcome) filter (where is_timed and upto >= timed * 0.95) + 0.5) / 8)),
    max(last_at) filter (where outcome >= 0)
  from unnest($1::text[]) asked (agent_id) left join (
    select *, sum(runs) filter (where is_timed) over (partition by agent_id order by outcome) as upto,
      sum(runs) filter (where is_timed) over (partition by agent_id) as timed
    from (
      select agent_id, outcome, outcome between 0 and 998 as is_timed, sum(runs) as runs, max(last_at) as last_at
      from agent_run_counts where agent_id = any($1::text[]) and day > ${lastOldDay}
      group by agent_id, outcome
    ) days
  ) added using (agent_id)
  group by asked.agent_id order by asked.agent_id
  on conflict (agent_id) do update set runs = excluded.runs, succeeded = excluded.succeeded,
    median_ms = excluded.median_ms, p95_ms = excluded.p95_ms,
    last_success_at = coalesce(excluded.last_success_at, agent_figures.last_success_at)`;

/** In one order, as publications lock them. */
const rankListings = `
  update listings l set runs = f.runs from (
    select f.agent_id, f.runs from agent_figures f join listings using (agent_id)
    where f.agent_id = any($1::text[]) and f.runs <> listings.runs order by f.agent_id for update of listings
  ) f where f.agent_id = l.agent_id`;
