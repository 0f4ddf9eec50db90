import type { Environment } from "../../shared/networks.ts";
import { type Database, inTransaction, type Queryable } from "../../shared/postgres.ts";
import { takeRollUp } from "../rollup-lock.ts";
import { usdcAmount } from "../usdc-amount.ts";
import { linkOldRecords, linkRecords } from "./link-records.ts";
import { recordedNetworks } from "./scope.ts";
import { exceptFromMoves, moveSome } from "./self-payment-moves.ts";
import type { KnownNetworks } from "./self-payments.ts";
import { countTakenBack } from "./taken-back.ts";

const batchMax = 20_000;
/** Of what new and former self-payers paid, most is moved with the records that made them so. */
const movesAtOnce = 3;

/**
 * Adds recorded settlements to the daily totals in the background, so that recording one never waits for a row that all
 * of them share. Any number of daemons may run it; one at a time works. Stops between batches.
 */
export async function rollUpAll(db: Database, environmentOf: EnvironmentOf, stopping: AbortSignal): Promise<void> {
  const { rows } = await db.query(
    `select exists (select from uncounted_settlements) as recorded, exists (select from unlinked_records) as unlinked,
            exists (select from taken_back_settlements) as "takenBack"`,
  );
  const { recorded, unlinked, takenBack } = rows[0];
  while (recorded && !stopping.aborted && (await rollUp(db, environmentOf)) === batchMax);
  while (takenBack && !stopping.aborted && (await countAsFailed(db, environmentOf)));
  while (unlinked && !stopping.aborted && (await linkOld(db, environmentOf)));
  while (!stopping.aborted && (await moveOn(db, environmentOf)));
}

type EnvironmentOf = (network: string) => Environment;

/** Adds up the oldest settlements that wait and answers how many; 0 also while another daemon does it. */
export async function rollUp(db: Database, environmentOf: EnvironmentOf): Promise<number> {
  return inTransaction(db, async (tx) => {
    if (!(await takeRollUp(tx))) return 0;
    const { rows: waiting } = await tx.query(
      "select exists (select from uncounted_settlements) as any, exists (select from self_payment_moves) as moving",
    );
    const { any, moving } = waiting[0];
    if (!any) return 0;
    const known = await knownNetworks(tx, environmentOf);
    const { rows } = await tx.query({
      name: "roll-up-settlements",
      text: rollUpStatement,
      values: [known.networks, known.environments, batchMax],
    });
    const transactions = rows[0].transactions ?? [];
    if (moving) await exceptFromMoves(tx, transactions, known);
    await linkRecords(tx, transactions, known);
    for (let moves = 0; moves < movesAtOnce && (await moveSome(tx, known)); moves += 1);
    return Number(rows[0].taken);
  });
}

async function knownNetworks(tx: Queryable, environmentOf: EnvironmentOf): Promise<KnownNetworks> {
  const networks = await recordedNetworks(tx);
  return { networks, environments: networks.map(environmentOf) };
}

/** False when nothing is left to move, also while another daemon does it. */
async function moveOn(db: Database, environmentOf: EnvironmentOf): Promise<boolean> {
  const { rows } = await db.query("select exists (select from self_payment_moves) as moving");
  if (!rows[0].moving) return false;
  return inTransaction(
    db,
    async (tx) => (await takeRollUp(tx)) && moveSome(tx, await knownNetworks(tx, environmentOf)),
  );
}

/** False when nothing is left, or it has to wait. */
async function countAsFailed(db: Database, environmentOf: EnvironmentOf): Promise<boolean> {
  return inTransaction(
    db,
    async (tx) => (await takeRollUp(tx)) && countTakenBack(tx, await knownNetworks(tx, environmentOf)),
  );
}

async function linkOld(db: Database, environmentOf: EnvironmentOf): Promise<boolean> {
  return inTransaction(db, async (tx) => (await takeRollUp(tx)) && linkOldRecords(tx, environmentOf));
}

/**
 * One statement, so its parts see the tables as they were before it: `moved` compares with each payer's last day of
 * before, which no other daemon changes while the lock is held.
 */
const rollUpStatement = `
  with taken as materialized (
    delete from uncounted_settlements
     where id in (select id from uncounted_settlements where network = any($1) order by id limit $3)
    returning *
  ), known as (
    select * from unnest($1::text[], $2::text[]) as k (network, env)
  ), of_self as materialized (
    select taken.*, known.env
      from taken join known using (network) join accounts a on a.env = known.env and a.account = taken.payer
     where a.is_self_payer and taken.status in ('settled', 'failed')
  ), counted as materialized (
    select network, day, status, coalesce(${usdcAmount("taken")}, 0) as amount_atomic, total_ms from taken
     union all select 'self ' || network, day, status, coalesce(${usdcAmount("of_self")}, 0), total_ms from of_self
  ), totals as (
    insert into daily_settlements as d (network, day, status, settlements, volume_atomic)
    select network, day, status, count(*), sum(amount_atomic) from counted group by network, day, status
    on conflict (network, day, status) do update
      set settlements = d.settlements + excluded.settlements, volume_atomic = d.volume_atomic + excluded.volume_atomic
  ), spans as (
    insert into daily_settle_spans as d (network, day, span, settlements)
    select network, day, floor(sqrt(total_ms)), count(*) from counted where status = 'settled' group by 1, 2, 3
    on conflict (network, day, span) do update set settlements = d.settlements + excluded.settlements
  ), times as (
    insert into daily_settle_times as d (network, span, total_ms, day, settlements)
    select network, floor(sqrt(total_ms)), total_ms, day, count(*) from counted where status = 'settled' group by 1, 2, 3, 4
    on conflict (network, span, total_ms, day) do update set settlements = d.settlements + excluded.settlements
  ), seen as (
    select scope, payer, max(day) as day
      from (select network, env, day, status, payer, '' as prefix from taken join known using (network)
             union all select network, env, day, status, payer, 'self ' from of_self) as paid
           cross join lateral (values (prefix || network), (prefix || env)) as scopes (scope)
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
  ), paying as (
    insert into paying_days (payer, day, network)
    select distinct payer, day, network from taken where status = 'settled' and payer is not null
    on conflict do nothing
    returning payer, day, network
  ), paying_in as materialized (
    select p.*, known.env, exists (select from accounts a where a.env = known.env and a.account = p.payer and a.is_self_payer) as is_self
      from paying p join known using (network)
  ), paying_anew as materialized (
    select distinct env, day, payer, is_self from paying_in p
     where not exists (select from paying_days before join known using (network)
                        where known.env = p.env and before.payer = p.payer and before.day = p.day)
  ), of_day as (
    select unnest(array[network, env]) as scope, day, 1 as counted, 0 as payers
      from taken join known using (network) where status = 'settled'
     union all select unnest(array['self ' || network, 'self ' || env]), day, 1, 0 from of_self where status = 'settled'
     union all select network, day, 0, 1 from paying_in
     union all select 'self ' || network, day, 0, 1 from paying_in where is_self
     union all select env, day, 0, 1 from paying_anew
     union all select 'self ' || env, day, 0, 1 from paying_anew where is_self
  ), day_payers as (
    insert into daily_payers as d (scope, day, counted, payers)
    select scope, day, sum(counted), sum(payers) from of_day group by scope, day
    on conflict (scope, day) do update set counted = d.counted + excluded.counted, payers = d.payers + excluded.payers
  )
  select count(*) as taken, array_agg(transaction_id) filter (where transaction_id is not null) as transactions from taken`;
