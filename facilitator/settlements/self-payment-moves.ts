import type { Environment } from "../../shared/networks.ts";
import type { Queryable } from "../../shared/postgres.ts";
import { usdcAmount } from "../usdc-amount.ts";
import type { KnownNetworks } from "./self-payments.ts";

/** A payer may have millions of payments: so many of so many payers are moved in one statement. */
const paymentsMax = 2_000;
const movesMax = 100;
/** Held while records of payers leave for the archive, by any number of copies, and while payers become of another kind. */
const lock = "hashtext('self-payers')";

/** An account that became a self-payer, or ceased to be one. */
export interface Changed {
  readonly env: string;
  readonly account: string;
  readonly is_self_payer: boolean;
}

/** Begins to move all that they paid and that has been counted into or out of the self scopes; their payers' days at once. */
export async function beginMoves(
  tx: Queryable,
  changed: readonly Changed[],
  { networks, environments }: KnownNetworks,
): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(${lock})`);
  await tx.query({
    name: "begin-moving-self-payments",
    text: beginStatement,
    values: [
      changed.map(({ env }) => env),
      changed.map(({ account }) => account),
      changed.map(({ is_self_payer }) => (is_self_payer ? 1 : -1)),
      networks,
      environments,
    ],
  });
}

/** These payments were just counted by what their payers are now: no move that is under way moves them. */
export async function exceptFromMoves(
  tx: Queryable,
  transactions: readonly bigint[],
  { networks, environments }: KnownNetworks,
): Promise<void> {
  await tx.query({
    name: "except-from-moves",
    text: `
      insert into self_payment_moves_except (move_id, transaction_id)
      select m.id, t.id
        from transactions t join unnest($2::text[], $3::text[]) as known (network, env) using (network)
             join self_payment_moves m on m.env = known.env and m.payer = t.payer and m.status = t.status and t.id <= m.last_id
       where t.id = any($1)`,
    values: [transactions, networks, environments],
  });
}

/**
 * Keeps what self-payers paid of these records, which leave for the archive by the end of the transaction: until then no payer is
 * counted as another kind. False while payments are moved, which are looked for among the records.
 */
export async function keepArchivedSelfPayments(
  tx: Queryable,
  transactions: readonly string[],
  env: Environment,
): Promise<boolean> {
  await tx.query(`select pg_advisory_xact_lock_shared(${lock})`);
  const { rowCount } = await tx.query("select from self_payment_moves limit 1");
  if (rowCount !== 0) return false;
  await tx.query({ name: "keep-archived-self-payments", text: keepArchivedStatement, values: [transactions, env] });
  return true;
}

/** Moves some more; false when nothing is left to move. */
export async function moveSome(tx: Queryable, { networks, environments }: KnownNetworks): Promise<boolean> {
  const { rows } = await tx.query({
    name: "move-self-payments",
    text: moveStatement,
    values: [networks, environments, movesMax, paymentsMax],
  });
  return rows[0].more;
}

/** The newest record of now bounds the move: what is newer is counted by what its payer is then. */
const beginStatement = `
  with changed as (
    select * from unnest($1::text[], $2::text[], $3::int[]) as c (env, payer, sign)
  ), known as (
    select * from unnest($4::text[], $5::text[]) as k (network, env)
  ), moves as (
    insert into self_payment_moves (env, payer, status, sign, last_id)
    select env, payer, status, sign, (select coalesce(max(id), 0) from transactions)
      from changed cross join unnest(array['settled', 'failed']) as s (status)
  ), days as materialized (
    select d.scope, d.payer, d.day, c.sign
      from changed c join payer_days d on d.payer = c.payer
     where d.scope = c.env or d.scope in (select network from known where known.env = c.env)
  ), added as (
    insert into payer_days (scope, payer, day) select 'self ' || scope, payer, day from days where sign = 1
  ), removed as (
    delete from payer_days d using days where d.scope = 'self ' || days.scope and d.payer = days.payer and days.sign = -1
  ), paying as materialized (
    select w.payer, w.day, w.network, c.env, c.sign
      from changed c join paying_days w on w.payer = c.payer join known on known.network = w.network and known.env = c.env
  ), day_payers as (
    insert into daily_payers as d (scope, day, counted, payers)
    select 'self ' || scope, day, count(*), sum(sign)
      from (select network as scope, day, sign from paying
             union all select env, day, sign from (select distinct payer, env, day, sign from paying) as one) as changes
     group by 1, 2
    on conflict (scope, day) do update set counted = d.counted + excluded.counted, payers = d.payers + excluded.payers
  ), archived as (
    delete from archived_self_payments a using changed c, known
     where c.sign = -1 and a.payer = c.payer and known.network = a.network and known.env = c.env
    returning a.*
  ), archived_totals as (
    insert into daily_settlements as d (network, day, status, settlements, volume_atomic)
    select 'self ' || network, day, status, -sum(settlements), -sum(volume_atomic) from archived group by 1, 2, 3
    on conflict (network, day, status) do update
      set settlements = d.settlements + excluded.settlements, volume_atomic = d.volume_atomic + excluded.volume_atomic
  ), archived_spans as (
    insert into daily_settle_spans as d (network, day, span, settlements)
    select 'self ' || network, day, span, -sum(settlements) from archived where status = 'settled' group by 1, 2, 3
    on conflict (network, day, span) do update set settlements = d.settlements + excluded.settlements
  )
  insert into payers_by_last_day as p (scope, day, payers)
  select 'self ' || scope, day, sum(sign) from days group by 1, 2
  on conflict (scope, day) do update set payers = p.payers + excluded.payers`;

/** Times by their spans alone: the figures of a day that is archived stay. */
const keepArchivedStatement = `
  insert into archived_self_payments as a (payer, network, day, status, span, settlements, volume_atomic)
  select t.payer, t.network, (t.created_at at time zone 'utc')::date, t.status, floor(sqrt(greatest(t.total_ms, 0))),
         count(*), sum(coalesce(${usdcAmount("t")}, 0))
    from transactions t join accounts p on p.env = $2 and p.account = t.payer
   where t.id = any($1::bigint[]) and t.kind = 'settle' and t.status in ('settled', 'failed') and p.is_self_payer
   group by 1, 2, 3, 4, 5
  on conflict (payer, network, day, status, span) do update
    set settlements = a.settlements + excluded.settlements, volume_atomic = a.volume_atomic + excluded.volume_atomic`;

/** Each move goes back in time by the index of its payer's records, and ends with the oldest. */
const moveStatement = `
  with known as (
    select * from unnest($1::text[], $2::text[]) as k (network, env)
  ), next as materialized (
    select * from self_payment_moves order by id limit $3
  ), looked as materialized (
    select next.id as move_id, next.env, next.sign, next.last_id, t.*
      from next cross join lateral (
             select t.id, t.network, t.status, t.created_at, t.asset, t.amount_atomic, t.total_ms from transactions t
              where t.payer = next.payer and t.status = next.status and t.kind = 'settle'
                and (t.created_at, t.id) < (next.before_at, next.before_id)
              order by t.created_at desc, t.id desc limit $4) as t
  ), reached as materialized (
    select distinct on (move_id) move_id, created_at, id, count(*) over (partition by move_id) as looked
      from looked order by move_id, created_at, id
  ), paid as materialized (
    select l.network, l.env, l.sign, (l.created_at at time zone 'utc')::date as day,
           -- One that a chain took back is counted as settled until its turn to be counted as failed comes, after the moves.
           case when exists (select from taken_back_settlements b where b.transaction_id = l.id) then 'settled' else l.status end as status,
           coalesce(${usdcAmount("l")}, 0) as amount, greatest(l.total_ms, 0) as total_ms
      from looked l join known on known.network = l.network and known.env = l.env
     where l.id <= l.last_id
       and not exists (select from uncounted_settlements u where u.transaction_id = l.id)
       and not exists (select from self_payment_moves_except e where e.move_id = l.move_id and e.transaction_id = l.id)
  ), totals as (
    insert into daily_settlements as d (network, day, status, settlements, volume_atomic)
    select 'self ' || network, day, status, sum(sign), sum(sign * amount) from paid group by 1, 2, 3
    on conflict (network, day, status) do update
      set settlements = d.settlements + excluded.settlements, volume_atomic = d.volume_atomic + excluded.volume_atomic
  ), spans as (
    insert into daily_settle_spans as d (network, day, span, settlements)
    select 'self ' || network, day, floor(sqrt(total_ms)), sum(sign) from paid where status = 'settled' group by 1, 2, 3
    on conflict (network, day, span) do update set settlements = d.settlements + excluded.settlements
  ), times as (
    insert into daily_settle_times as d (network, span, total_ms, day, settlements)
    select 'self ' || network, floor(sqrt(total_ms)), total_ms, day, sum(sign) from paid where status = 'settled' group by 1, 2, 3, 4
    on conflict (network, span, total_ms, day) do update set settlements = d.settlements + excluded.settlements
  ), day_payers as (
    insert into daily_payers as d (scope, day, counted, payers)
    select 'self ' || scope, day, count(*), 0
      from paid cross join lateral (values (network), (env)) as scopes (scope)
     where status = 'settled' group by 1, 2
    on conflict (scope, day) do update set counted = d.counted + excluded.counted
  ), moved_on as (
    update self_payment_moves m set before_at = reached.created_at, before_id = reached.id
      from reached where m.id = reached.move_id and reached.looked = $4
  ), ended as (
    delete from self_payment_moves m using next
     where m.id = next.id and not exists (select from reached where reached.move_id = m.id and reached.looked = $4)
  )
  select (select count(*) from next) = $3 or exists (select from reached where looked = $4) as more`;
