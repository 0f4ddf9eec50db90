import type { Transaction } from "../../shared/postgres.ts";
import { usdcAmount } from "../usdc-amount.ts";
import { takeRefresh } from "./daily-figures.ts";
import { linkFailures } from "./link-records.ts";
import { judgeSelfPayers, type KnownNetworks } from "./self-payments.ts";

/**
 * Counts one settlement as failed that was counted as settled, since a chain took it back for good: in the totals of its day, and in what
 * is known of both accounts. What its listing brought stays. False when there is none, or payments are being moved from one scope to
 * another, or figures are being refreshed, which would keep what they read before: then it is counted another time.
 */
export async function countTakenBack(tx: Transaction, { networks, environments }: KnownNetworks): Promise<boolean> {
  const { rows } = await tx.query<{ id: bigint; moving: boolean }>(
    `select transaction_id as id, exists (select from self_payment_moves) as moving
       from taken_back_settlements order by transaction_id limit 1`,
  );
  const [next] = rows;
  if (!next || next.moving) return false;
  if (!(await takeRefresh(tx))) return false;
  await tx.query("delete from taken_back_settlements where transaction_id = $1", [next.id]);
  const values = [next.id, networks, environments];
  await tx.query({ name: "uncount-totals", text: uncountTotals, values });
  await tx.query({ name: "uncount-figures", text: uncountFigures, values });
  await tx.query({ name: "uncount-payer", text: uncountPayer, values });
  await tx.query({ name: "uncount-accounts", text: uncountAccounts, values });
  await linkFailures(tx, [next.id]);
  await judgeSelfPayers(tx, [next.id], { networks, environments });
  return true;
}

/** The record, the scopes that it is counted in, and its day. */
const counted = `
  known as (
    select * from unnest($2::text[], $3::text[]) as k (network, env)
  ), record as materialized (
    select t.network, known.env, t.payer, t.pay_to, (t.created_at at time zone 'utc')::date as day,
           coalesce(${usdcAmount("t")}, 0) as amount, greatest(t.total_ms, 0) as total_ms,
           coalesce((select a.is_self_payer from accounts a where a.env = known.env and a.account = t.payer), false) as is_self
      from transactions t join known using (network) where t.id = $1
  ), prefixes as (
    select '' as prefix from record union all select 'self ' from record where is_self
  )`;

const uncountTotals = `
  with ${counted}, totals as (
    insert into daily_settlements as d (network, day, status, settlements, volume_atomic)
    select prefix || network, day, status, sign, sign * amount
      from record cross join prefixes cross join (values ('settled', -1), ('failed', 1)) as s (status, sign)
    on conflict (network, day, status) do update
      set settlements = d.settlements + excluded.settlements, volume_atomic = d.volume_atomic + excluded.volume_atomic
  ), spans as (
    update daily_settle_spans d set settlements = d.settlements - 1
      from record cross join prefixes
     where d.network = prefix || record.network and d.day = record.day and d.span = floor(sqrt(total_ms))
  )
  update daily_settle_times d set settlements = d.settlements - 1
    from record cross join prefixes
   where d.network = prefix || record.network and d.day = record.day and d.span = floor(sqrt(record.total_ms))
     and d.total_ms = record.total_ms`;

/** Figures that are kept of its day and of windows up to today are due, also where another settlement came in its place meanwhile. */
const uncountFigures = `
  with ${counted}
  update daily_figures f set settlements = -1
    from record r
   where (f.day = r.day and f.scope in (r.network, r.env, 'without self ' || r.network, 'without self ' || r.env))
      or (f.day = (now() at time zone 'utc')::date and f.scope ~ ('^[0-9]+ days (without self )?' || r.env || '$'))`;

/** Its payer paid on that day, and last, only where another settlement says so. */
const uncountPayer = `
  with ${counted}, gone as (
    delete from paying_days p using record r
     where p.payer = r.payer and p.day = r.day and p.network = r.network
       and not exists (select from transactions t
                        where t.payer = r.payer and t.status = 'settled' and t.kind = 'settle' and t.network = r.network
                          and t.created_at >= r.day::timestamp at time zone 'utc'
                          and t.created_at < (r.day + 1)::timestamp at time zone 'utc')
    returning p.payer, p.day, p.network
  ), emptied as materialized (
    select r.network as scope, r.payer, r.day from gone join record r on true
     union all
    select r.env, r.payer, r.day from gone join record r on true
     where not exists (select from paying_days p join known using (network)
                        where p.payer = r.payer and p.day = r.day and known.env = r.env and p.network <> r.network)
  ), day_payers as (
    insert into daily_payers as d (scope, day, counted, payers)
    select prefix || scope, r.day, -1, -(select count(*) from emptied e where e.scope = s.scope)
      from record r cross join prefixes cross join lateral (values (r.network), (r.env)) as s (scope)
    on conflict (scope, day) do update set counted = d.counted + excluded.counted, payers = d.payers + excluded.payers
  ), last as materialized (
    select d.scope, d.payer, d.day as was,
           (select max(p.day) from paying_days p join known using (network)
             where p.payer = d.payer and p.day < e.day and e.scope in (known.network, known.env)) as day
      from emptied e cross join prefixes join payer_days d on d.scope = prefix || e.scope and d.payer = e.payer and d.day = e.day
  ), changed as (
    update payer_days d set day = last.day from last
     where d.scope = last.scope and d.payer = last.payer and last.day is not null
  ), removed as (
    delete from payer_days d using last where d.scope = last.scope and d.payer = last.payer and last.day is null
  )
  insert into payers_by_last_day as p (scope, day, payers)
  select scope, was, -1 from last union all select scope, day, 1 from last where day is not null
  on conflict (scope, day) do update set payers = p.payers + excluded.payers`;

/** An account's first payee or payer is another one where there is no other settlement with it. Who pays itself is both sides. */
const uncountAccounts = `
  with ${counted}, pair as (
    update paid_pairs p set settlements = p.settlements - 1, volume_atomic = p.volume_atomic - r.amount
      from record r where p.env = r.env and p.payer = r.payer and p.pay_to = r.pay_to and p.settlements > 1
    returning 1
  ), ended as (
    delete from paid_pairs p using record r
     where p.env = r.env and p.payer = r.payer and p.pay_to = r.pay_to and p.settlements <= 1
    returning 1
  ), ends as (
    select count(*) as pairs from ended
  ), changes as (
    select env, account, sum(paid) as paid, sum(received) as received
      from (select env, payer as account, 1 as paid, 0 as received from record
             union all select env, pay_to, 0, 1 from record) as sides
     group by env, account
  )
  update accounts a
     set paid = a.paid - c.paid, paid_volume = a.paid_volume - c.paid * r.amount, payees = a.payees - c.paid * ends.pairs,
         first_payee = case when c.paid * ends.pairs = 0 or a.first_payee is distinct from r.pay_to then a.first_payee
                            else (select p.pay_to from paid_pairs p
                                   where p.env = r.env and p.payer = r.payer and p.pay_to <> r.pay_to limit 1) end,
         received = a.received - c.received, received_volume = a.received_volume - c.received * r.amount,
         payers = a.payers - c.received * ends.pairs,
         first_payer = case when c.received * ends.pairs = 0 or a.first_payer is distinct from r.payer then a.first_payer
                            else (select p.payer from paid_pairs p
                                   where p.env = r.env and p.pay_to = r.pay_to and p.payer <> r.payer limit 1) end
    from changes c join record r on r.env = c.env cross join ends where a.env = c.env and a.account = c.account`;
