import type { Log } from "../../shared/log.ts";
import type { Environment } from "../../shared/networks.ts";
import { type Database, inTransaction } from "../../shared/postgres.ts";
import { startRounds } from "../../shared/rounds.ts";

const everyMs = 1_000;
const batchMax = 20_000;

/**
 * Moves recorded settlements from the queue into the daily totals in the background, so that recording one never waits
 * for a row that all of them share. Any number of daemons may run it; one at a time works.
 */
export function startTallying(db: Database, log: Log, environmentOf: EnvironmentOf): { stop(): Promise<void> } {
  return startRounds(
    async (stopping) => {
      while (!stopping.aborted && (await tally(db, environmentOf)) === batchMax);
    },
    everyMs,
    (error) => log.error({ err: error }, "settlements were not added up; statistics take the slow path until they are"),
  );
}

type EnvironmentOf = (network: string) => Environment;

/** Adds up the oldest settlements of the queue and answers how many; 0 also while somebody else does it. */
export async function tally(db: Database, environmentOf: EnvironmentOf): Promise<number> {
  return inTransaction(db, async (tx) => {
    const { rows: locks } = await tx.query("select pg_try_advisory_xact_lock(hashtext('settlement tally')) as mine");
    if (!locks[0].mine) return 0;
    const { rows: networks } = await tx.query("select distinct network from uncounted_settlements");
    if (networks.length === 0) return 0;
    const names: string[] = networks.map(({ network }) => network);
    const { rows } = await tx.query({
      name: "tally-settlements",
      text: tallyStatement,
      values: [names, names.map(environmentOf), batchMax],
    });
    return Number(rows[0].taken);
  });
}

/**
 * One statement, so its parts see the tables as they were before it: `moved` compares with each payer's last day of
 * before, which nobody else changes while the lock is held.
 */
const tallyStatement = `
  with taken as materialized (
    delete from uncounted_settlements
     where id in (select id from uncounted_settlements where network = any($1) order by id limit $3)
    returning *
  ), totals as (
    insert into daily_settlements as d (network, day, status, settlements, volume_atomic)
    select network, day, status, count(*), sum(amount_atomic) from taken group by network, day, status
    on conflict (network, day, status) do update
      set settlements = d.settlements + excluded.settlements, volume_atomic = d.volume_atomic + excluded.volume_atomic
  ), spans as (
    insert into daily_settle_spans as d (network, day, span, settlements)
    select network, day, floor(sqrt(total_ms)), count(*) from taken where status = 'settled' group by 1, 2, 3
    on conflict (network, day, span) do update set settlements = d.settlements + excluded.settlements
  ), times as (
    insert into daily_settle_times as d (network, span, total_ms, day, settlements)
    select network, floor(sqrt(total_ms)), total_ms, day, count(*) from taken where status = 'settled' group by 1, 2, 3, 4
    on conflict (network, span, total_ms, day) do update set settlements = d.settlements + excluded.settlements
  ), seen as (
    select scope, payer, max(day) as day
      from taken join unnest($1::text[], $2::text[]) as known (network, env) using (network)
           cross join lateral (values (network), (env)) as scopes (scope)
     where status = 'settled' and payer is not null
     group by scope, payer
  ), moved as (
    select seen.*, before.day as was
      from seen left join payer_days before using (scope, payer)
     where before.day is null or before.day < seen.day
  ), payers as (
    insert into payer_days (scope, payer, day) select scope, payer, day from moved
    on conflict (scope, payer) do update set day = excluded.day
  ), counts as (
    insert into payers_by_last_day as p (scope, day, payers)
    select scope, day, sum(change)
      from (select scope, day, 1 as change from moved
             union all select scope, was, -1 from moved where was is not null) as changes
     group by scope, day
    on conflict (scope, day) do update set payers = p.payers + excluded.payers
  )
  select count(*) as taken from taken`;
