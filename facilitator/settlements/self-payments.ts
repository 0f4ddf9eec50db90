import type { Queryable } from "../../shared/postgres.ts";

/**
 * The rule, in SQL, of the account `p`: it only ever paid one payee, and that payee has paid it back, or both have their
 * first money here from the same account. Pages show this text.
 */
export const isSelfPayer = `p.payees = 1 and (
  exists (select from paid_pairs back
           where back.env = p.env and back.payer = p.first_payee and back.pay_to = p.account)
  or exists (select from accounts payee
              where payee.env = p.env and payee.account = p.first_payee
                and payee.first_payer = p.first_payer))`;

/** The scope under which payments of self-payers are counted once more. */
export function selfScope(scope: string): string {
  return `self ${scope}`;
}

/**
 * Looks again at every account that these records paid or were paid by, and moves what a new or former self-payer ever
 * paid into or out of the self scopes. An account changes twice at most: payees only become more.
 */
export async function judgeSelfPayers(
  tx: Queryable,
  transactions: readonly bigint[],
  known: KnownNetworks,
): Promise<void> {
  const { rows } = await tx.query({
    name: "judge-self-payers",
    text: `
      with touched as (
        select known.env, side.account
          from transactions t join unnest($2::text[], $3::text[]) as known (network, env) using (network)
               cross join lateral (values (t.payer), (t.pay_to)) as side (account)
         where t.id = any($1) and t.status = 'settled'
         group by 1, 2
      )
      update accounts p set is_self_payer = not p.is_self_payer
        from touched
       where p.env = touched.env and p.account = touched.account and p.is_self_payer <> coalesce(${isSelfPayer}, false)
      returning p.env, p.account, p.is_self_payer`,
    values: [transactions, known.networks, known.environments],
  });
  if (rows.length > 0) await move(tx, rows, known);
}

/** Networks, and beside each its environment. */
export interface KnownNetworks {
  readonly networks: readonly string[];
  readonly environments: readonly string[];
}

interface Changed {
  readonly env: string;
  readonly account: string;
  readonly is_self_payer: boolean;
}

/** Moves all that they paid and that has been counted; payments still in the queue are counted by what their payers are then. */
async function move(
  tx: Queryable,
  changed: readonly Changed[],
  { networks, environments }: KnownNetworks,
): Promise<void> {
  await tx.query({
    name: "move-self-payments",
    text: moveStatement,
    values: [
      changed.map(({ env }) => env),
      changed.map(({ account }) => account),
      changed.map(({ is_self_payer }) => (is_self_payer ? 1 : -1)),
      networks,
      environments,
    ],
  });
}

const moveStatement = `
  with changed as (
    select * from unnest($1::text[], $2::text[], $3::int[]) as c (env, payer, sign)
  ), known as (
    select * from unnest($4::text[], $5::text[]) as k (network, env)
  ), paid as materialized (
    select t.network, c.sign, (t.created_at at time zone 'utc')::date as day, t.status,
           coalesce(t.amount_atomic, 0) as amount, greatest(t.total_ms, 0) as total_ms
      from changed c join transactions t on t.payer = c.payer
           join known on known.network = t.network and known.env = c.env
     where t.kind = 'settle' and t.status in ('settled', 'failed')
       and not exists (select from uncounted_settlements u where u.transaction_id = t.id)
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
  ), days as materialized (
    select d.scope, d.payer, d.day, c.sign
      from changed c join payer_days d on d.payer = c.payer
     where d.scope = c.env or d.scope in (select network from known where known.env = c.env)
  ), added as (
    insert into payer_days (scope, payer, day) select 'self ' || scope, payer, day from days where sign = 1
  ), removed as (
    delete from payer_days d using days where d.scope = 'self ' || days.scope and d.payer = days.payer and days.sign = -1
  )
  insert into payers_by_last_day as p (scope, day, payers)
  select 'self ' || scope, day, sum(sign) from days group by 1, 2
  on conflict (scope, day) do update set payers = p.payers + excluded.payers`;
