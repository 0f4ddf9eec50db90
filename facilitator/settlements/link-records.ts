import type { Queryable, Transaction } from "../../shared/postgres.ts";
import { usdcAmount } from "../usdc-amount.ts";
import { recordedNetworks } from "./scope.ts";
import { judgeSelfPayers, type KnownNetworks } from "./self-payments.ts";

const batchMax = 20_000;
/** Route templates begin to differ from their paths at this part of the URL at the latest. */
const routeDepthMax = 24;

/** Adds records to what is known of accounts, listings and reasons: each record once. */
export async function linkRecords(tx: Queryable, transactions: readonly bigint[], known: KnownNetworks): Promise<void> {
  if (transactions.length === 0) return;
  const values = [transactions, known.networks, known.environments];
  await tx.query({ name: "link-accounts", text: linkAccounts, values });
  await tx.query({ name: "link-listings", text: linkListings, values: [transactions] });
  await linkFailures(tx, transactions);
  await judgeSelfPayers(tx, transactions, known);
}

/** Links some records from before records were linked; false when all are. */
export async function linkOldRecords(tx: Transaction, environmentOf: (network: string) => string): Promise<boolean> {
  const { rows: ranges } = await tx.query(
    `update unlinked_records set next_id = next_id + $1 returning next_id - $1 as first_id, next_id, last_id`,
    [batchMax],
  );
  const range = ranges[0];
  if (!range) return false;
  const { rows } = await tx.query(
    "select id from transactions where id >= $1 and id < $2 and id <= $3 and kind = 'settle'",
    [range.first_id, range.next_id, range.last_id],
  );
  const networks = await recordedNetworks(tx);
  const known = { networks, environments: networks.map(environmentOf) };
  await linkRecords(
    tx,
    rows.map(({ id }) => id),
    known,
  );
  if (range.next_id > range.last_id) await tx.query("delete from unlinked_records");
  return range.next_id <= range.last_id;
}

/** One statement, so its parts see the tables as they were before it: an account without a row there is new. */
const linkAccounts = `
  with moved as materialized (
    select known.env, t.payer, t.pay_to, count(*) as settlements, sum(coalesce(${usdcAmount("t")}, 0)) as volume,
           min(t.id) as first_id, min(t.created_at) as first_at, max(t.created_at) as last_at
      from transactions t join unnest($2::text[], $3::text[]) as known (network, env) using (network)
     where t.id = any($1) and t.status = 'settled' and t.payer is not null and t.pay_to is not null
     group by 1, 2, 3
  ), judged as materialized (
    select m.*, case when before.env is null then 1 else 0 end as is_new
      from moved m left join paid_pairs before using (env, payer, pay_to)
  ), pairs as (
    insert into paid_pairs as p (env, payer, pay_to, settlements, volume_atomic)
    select env, payer, pay_to, settlements, volume from moved
    on conflict (env, payer, pay_to) do update
      set settlements = p.settlements + excluded.settlements, volume_atomic = p.volume_atomic + excluded.volume_atomic
  ), sides as (
    select env, payer as account, settlements as paid, volume as paid_volume, is_new as payees, pay_to as payee,
           0 as received, 0 as received_volume, 0 as payers, null as payer_to, first_id, first_at, last_at
      from judged
     union all
    select env, pay_to, 0, 0, 0, null, settlements, volume, is_new, payer, first_id, first_at, last_at from judged
  )
  insert into accounts as a (env, account, paid, paid_volume, payees, first_payee,
                             received, received_volume, payers, first_payer, first_at, last_at)
  select env, account, sum(paid), sum(paid_volume), sum(payees), (array_agg(payee order by first_id) filter (where payee is not null))[1],
         sum(received), sum(received_volume), sum(payers),
         (array_agg(payer_to order by first_id) filter (where payer_to is not null))[1], min(first_at), max(last_at)
    from sides group by env, account
  on conflict (env, account) do update
    set paid = a.paid + excluded.paid, paid_volume = a.paid_volume + excluded.paid_volume,
        payees = a.payees + excluded.payees, first_payee = coalesce(a.first_payee, excluded.first_payee),
        received = a.received + excluded.received, received_volume = a.received_volume + excluded.received_volume,
        payers = a.payers + excluded.payers, first_payer = coalesce(a.first_payer, excluded.first_payer),
        first_at = least(a.first_at, excluded.first_at), last_at = greatest(a.last_at, excluded.last_at)`;

/**
 * To each listing that a record was paid for, by its URL or by a path of its route template: only what went into a wallet that
 * the listing names, for a payer may name any URL.
 */
const linkListings = `
  with ended as materialized (
    select resource_url, network, lower(pay_to) as pay_to, (created_at at time zone 'utc')::date as day, status,
           ${usdcAmount("t")} as amount_atomic
      from transactions t
     where id = any($1) and status in ('settled', 'failed') and resource_url is not null and pay_to is not null
  ), beginnings as materialized (
    select e.resource_url, e.network, e.pay_to, array_to_string(e.parts[:depth], '/') || '/' as beginning
      from (select distinct resource_url, network, pay_to, string_to_array(resource_url, '/') as parts from ended) e
           cross join lateral generate_series(3, least(cardinality(e.parts) - 1, ${routeDepthMax})) as depth
  ), listed as materialized (
    select e.resource_url, r.id
      from (select distinct resource_url from ended) e join discovery_resources r on r.resource = e.resource_url
    union
    select b.resource_url, r.id
      from beginnings b join discovery_resources r on r.route_prefix = b.beginning
     -- As a case, so that no pattern is tried before the beginning was found to be the same. Of the path alone: a host's name may hold
     -- what means something else in a pattern, and one bad pattern would stop what all are counted with.
     -- And only of what pays a wallet that the listing names: anybody may have templates that begin like this.
     where case when r.route_prefix = b.beginning
                 and exists (select from discovery_accepts a
                              where a.resource_id = r.id and a.network = b.network and a.pay_to = b.pay_to)
                then substr(b.resource_url, length(r.resource) - length(r.bazaar->>'routeTemplate') + 1)
                     ~ ('^' || regexp_replace(replace(r.bazaar->>'routeTemplate', '.', '[.]'), '[^/]*:[^/]*', '[^/]+', 'g') || '$') end
  ), counted as materialized (
    select l.id, e.network, e.pay_to, e.day, e.status, e.amount_atomic
      from ended e join listed l using (resource_url)
     where exists (select from discovery_accepts a
                    where a.resource_id = l.id and a.network = e.network and a.pay_to = e.pay_to)
  ), wallets as (
    insert into listing_wallets as w (resource_id, network, pay_to, settled_atomic)
    select id, network, pay_to, sum(coalesce(amount_atomic, 0)) from counted where status = 'settled'
     group by 1, 2, 3
     order by 1, 2, 3
    on conflict (resource_id, network, pay_to) do update set settled_atomic = w.settled_atomic + excluded.settled_atomic
  )
  insert into listing_days as d (resource_id, network, day, settled, failed, price_min, price_max)
  select id, network, day, count(*) filter (where status = 'settled'), count(*) filter (where status = 'failed'),
         min(amount_atomic) filter (where status = 'settled'), max(amount_atomic) filter (where status = 'settled')
    from counted
   group by 1, 2, 3
   order by 1, 2, 3
  on conflict (resource_id, network, day) do update
    set settled = d.settled + excluded.settled, failed = d.failed + excluded.failed,
        price_min = least(d.price_min, excluded.price_min), price_max = greatest(d.price_max, excluded.price_max)`;

/** Counts why these failed. */
export async function linkFailures(tx: Queryable, transactions: readonly bigint[]): Promise<void> {
  await tx.query({ name: "link-reasons", text: linkReasons, values: [transactions] });
}

/** Refusals count themselves as they are recorded. */
const linkReasons = `
  insert into daily_reasons as d (network, day, status, reason, payments)
  select network, (created_at at time zone 'utc')::date, status, error_reason, count(*)
    from transactions
   where id = any($1) and status = 'failed' and error_reason is not null
   group by 1, 2, 3, 4
  on conflict (network, day, status, reason) do update set payments = d.payments + excluded.payments`;
