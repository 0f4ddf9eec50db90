import { isSelfPayer } from "../../facilitator/settlements/self-payments.ts";
import { environmentOf } from "../../shared/networks.ts";
import { type Database, inTransaction, type Queryable } from "../../shared/postgres.ts";

/**
 * Writes `size` records in order of time over the past year, on two networks, with the payments they are of, and what the jobs
 * of the daemon would have added up of them unless `addedUp` is false. One in ten is a refusal of /verify, one in twenty a
 * failure; of a hundred, two are between accounts that only pay each other. The tables must be empty.
 */
export async function fillRecord(
  db: Database,
  size: number,
  { addedUp = true, until = new Date() } = {},
): Promise<void> {
  await inTransaction(db, async (tx) => {
    await tx.query("set local work_mem = '256MB'; set local maintenance_work_mem = '512MB'");
    await withoutIndexes(tx, ["transactions", "payments"], async () => {
      await tx.query("alter table payments disable trigger user");
      if (addedUp) await tx.query("alter table transactions disable trigger user");
      await writeRecords(tx, size, until);
      await tx.query("alter table payments enable trigger user; alter table transactions enable trigger user");
    });
    await tx.query("analyze transactions");
    if (addedUp) await addUp(tx);
  });
}

/** Rows are written before their indexes are built, in one pass each. */
async function withoutIndexes(tx: Queryable, tables: readonly string[], write: () => Promise<void>): Promise<void> {
  const { rows } = await tx.query(
    `select i.indexrelid::regclass as index, pg_get_indexdef(i.indexrelid) as definition, i.indrelid::regclass as "table", c.conname as name,
            pg_get_constraintdef(c.oid) as constraint
       from pg_index i left join pg_constraint c on c.conindid = i.indexrelid
      where i.indrelid = any($1::regclass[]) and not i.indisprimary`,
    [tables],
  );
  for (const { index, table, name } of rows) {
    await tx.query(name ? `alter table ${table} drop constraint ${name}` : `drop index ${index}`);
  }
  await write();
  for (const { table, name, constraint, definition } of rows) {
    await tx.query(name ? `alter table ${table} add constraint ${name} ${constraint}` : definition);
  }
}

async function writeRecords(tx: Queryable, size: number, until: Date): Promise<void> {
  await tx.query(
    `insert into transactions (network, status, kind, payer, pay_to, asset, amount_atomic, resource_url, tx_id, error_reason, total_ms, created_at)
     select case when n % 3 = 0 then 'hedera:mainnet' else 'eip155:8453' end, status,
            case when status = 'rejected' then 'verify' else 'settle' end, payer, pay_to, '0xusdc', 1000 + n % 1000000,
            'https://shop.example.com/' || n % 5000, '0x' || lpad(to_hex(n), 64, '0'),
            case when status <> 'settled' then (array['insufficient_funds', 'invalid_transaction_state', 'settlement_failed'])[1 + n / 20 % 3] end,
            (300 + 3000 * -ln(1 - (hashint8(n) & 65535) / 65536.0))::int, $3::timestamptz - (1 - n::float8 / $1) * interval '31500000 s'
       from generate_series(1, $1::bigint) n
            cross join lateral (
              select case when n % 10 = 0 then 'rejected' when n % 20 = 1 then 'failed' else 'settled' end as status,
                     '0x' || lpad(to_hex(hashint8(n) & ($2 / 100 - 1 | 127)), 40, '0') as many,
                     '0x' || lpad(to_hex(n % 5000), 40, '0') as shop,
                     '0x5e1f' || lpad(to_hex(n / 100 % ($2 / 1000 | 7)), 36, '0') as one, '0x07e5' || lpad(to_hex(n / 100 % ($2 / 1000 | 7)), 36, '0') as other) a
            cross join lateral (
              values (case n % 100 when 17 then one when 57 then other else many end,
                      case n % 100 when 17 then other when 57 then one else shop end)) as sides (payer, pay_to)
      order by n`,
    [size, 2 ** Math.ceil(Math.log2(size)), until],
  );
  await tx.query(
    `insert into payments (network, payment_key, state, claim_token, scheme, payer, pay_to, asset, amount_atomic,
                           transaction_id, expires_at, lease_until, created_at, finished_at)
     select 'eip155:8453', 'key' || n, 'settled', '00000000-0000-0000-0000-000000000000', 'exact', '0xpayer', '0xpayee',
            '0xusdc', 1000, '0x' || lpad(to_hex(n), 64, '0'), now(), now(), now(), now()
       from generate_series(1, $1::bigint) n`,
    [size],
  );
}

/** What the roll-up would have come to, of the whole record at once: `proveFill` compares them. */
async function addUp(tx: Queryable): Promise<void> {
  const { rows } = await tx.query("select array_agg(distinct network) as networks from transactions");
  const networks: readonly string[] = rows[0].networks;
  await tx.query("create temporary table known (network text, env text) on commit drop");
  await tx.query("insert into known select * from unnest($1::text[], $2::text[])", [
    networks,
    networks.map(environmentOf),
  ]);
  for (const statement of [...accounts, ...countedRows, ...ofCounted]) await tx.query(statement);
}

const accounts = [
  `insert into paid_pairs (env, payer, pay_to, settlements, volume_atomic)
   select env, payer, pay_to, count(*), sum(amount_atomic) from transactions join known using (network)
    where status = 'settled' group by 1, 2, 3 order by 1, 2, 3`,
  `insert into accounts (env, account, paid, paid_volume, payees, first_payee, received, received_volume, payers, first_payer, first_at, last_at)
   select env, account, paid, paid_volume, coalesce(paid_to.accounts, 0), first_paid.pay_to,
          received, received_volume, coalesce(paid_by.accounts, 0), first_received.payer, first_at, last_at
     from (select env, account, count(*) filter (where pays) as paid, coalesce(sum(amount_atomic) filter (where pays), 0) as paid_volume,
                  count(*) filter (where not pays) as received, coalesce(sum(amount_atomic) filter (where not pays), 0) as received_volume,
                  min(id) filter (where pays) as first_paid_id, min(id) filter (where not pays) as first_received_id,
                  min(created_at) as first_at, max(created_at) as last_at
             from transactions join known using (network) cross join lateral (values (payer, true), (pay_to, false)) as side (account, pays)
            where status = 'settled' group by env, account) as sides
          left join transactions first_paid on first_paid.id = first_paid_id
          left join transactions first_received on first_received.id = first_received_id
          left join (select env, payer as account, count(*) as accounts from paid_pairs group by 1, 2) as paid_to using (env, account)
          left join (select env, pay_to as account, count(*) as accounts from paid_pairs group by 1, 2) as paid_by using (env, account)`,
  "analyze accounts, paid_pairs",
  `update accounts p set is_self_payer = true where coalesce(${isSelfPayer}, false)`,
];

const countedRows = [
  `create temporary table counted on commit drop as
   select network, env, '' as prefix, (created_at at time zone 'utc')::date as day, status, payer, amount_atomic, total_ms
     from transactions join known using (network) where kind = 'settle'`,
  `insert into counted
   select c.network, c.env, 'self ', day, status, payer, amount_atomic, total_ms
     from counted c join accounts a on a.env = c.env and a.account = c.payer where a.is_self_payer`,
];

const ofCounted = [
  `insert into daily_settlements select prefix || network, day, status, count(*), sum(amount_atomic) from counted group by 1, 2, 3`,
  `insert into daily_settle_times (network, span, total_ms, day, settlements)
   select prefix || network, floor(sqrt(total_ms)), total_ms, day, count(*) from counted where status = 'settled' group by 1, 2, 3, 4 order by 1, 2, 3, 4`,
  `insert into daily_settle_spans (network, day, span, settlements)
   select network, day, span, sum(settlements) from daily_settle_times group by 1, 2, 3`,
  `insert into payer_days (scope, payer, day)
   select scope, payer, max(day) from counted cross join lateral (values (prefix || network), (prefix || env)) as scopes (scope)
    where status = 'settled' group by 1, 2`,
  `insert into payers_by_last_day select scope, day, count(*) from payer_days group by 1, 2`,
  `insert into daily_reasons (network, day, status, reason, payments)
   select network, (created_at at time zone 'utc')::date, status, error_reason, count(*) from transactions
    where status = 'failed' group by 1, 2, 3, 4`,
  `insert into listing_days (resource_id, network, day, settled, failed, price_min, price_max)
   select r.id, t.network, (t.created_at at time zone 'utc')::date, count(*) filter (where status = 'settled'), count(*) filter (where status = 'failed'),
          min(amount_atomic) filter (where status = 'settled'), max(amount_atomic) filter (where status = 'settled')
     from transactions t join discovery_resources r on r.resource = t.resource_url
          join discovery_accepts a on a.resource_id = r.id and a.network = t.network and a.pay_to = t.pay_to
    where t.status in ('settled', 'failed') group by 1, 2, 3`,
  `insert into listing_wallets (resource_id, network, pay_to, settled_atomic)
   select r.id, t.network, t.pay_to, sum(amount_atomic)
     from transactions t join discovery_resources r on r.resource = t.resource_url
          join discovery_accepts a on a.resource_id = r.id and a.network = t.network and a.pay_to = t.pay_to
    where t.status = 'settled' group by 1, 2, 3`,
];
