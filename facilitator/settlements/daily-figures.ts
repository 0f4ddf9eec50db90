import type { Environment } from "../../shared/networks.ts";
import { type Database, inTransaction, type Queryable, type Transaction } from "../../shared/postgres.ts";
import { totalMsMax } from "./finish-payment.ts";
import { recordedNetworks } from "./scope.ts";
import { refreshWindowTimes } from "./window-times.ts";

const daysAtOnce = 20;

/** The scope under which figures without self-payments are kept. */
export function withoutSelfScope(scope: string): string {
  return `without self ${scope}`;
}

/**
 * Makes the figures of each scope and day anew whose settlements have changed: how many payers, and how long settling took. They are
 * read from what settlements are counted in, however many a day had; only a day that has some from before its payers were
 * counted is read whole, and never while a page waits. Figures of a day that is archived stay.
 */
export async function refreshDailyFigures(
  db: Database,
  environmentOf: (network: string) => Environment,
  stopping: AbortSignal,
): Promise<void> {
  while (!stopping.aborted && (await refreshSome(db, environmentOf, refreshCounted)));
  // After the others: one that takes longer than a statement may holds up none of them.
  while (!stopping.aborted && (await refreshWhole(db, environmentOf)));
}

/** Counted figures are refreshed, or made due, by one transaction at a time: false while another does. */
export async function takeRefresh(tx: Transaction): Promise<boolean> {
  const { rows } = await tx.query("select pg_try_advisory_xact_lock(hashtext('daily figures')) as mine");
  return rows[0].mine;
}

type Refresh = (tx: Transaction, scopes: readonly Scope[]) => Promise<boolean>;

async function refreshSome(
  db: Database,
  environmentOf: (network: string) => Environment,
  refresh: Refresh,
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    if (!(await takeRefresh(tx))) return false;
    const networks = await recordedNetworks(tx);
    const environments = [...new Set(networks.map(environmentOf))];
    return refresh(tx, [
      ...networks.map((network) => ({ name: network, env: environmentOf(network), networks: [network] })),
      ...environments.map((env) => ({
        name: env,
        env,
        networks: networks.filter((network) => environmentOf(network) === env),
      })),
    ]);
  });
}

async function refreshCounted(tx: Transaction, scopes: readonly Scope[]): Promise<boolean> {
  const due = await findDue(tx, scopes, { counted: true, max: daysAtOnce });
  for (const one of due) await keepCounted(tx, one);
  if (due.length === daysAtOnce) return true;
  for (const { name, env, networks } of scopes.filter((scope) => scope.name === scope.env)) {
    await refreshWindowTimes(tx, { name, env, networks });
  }
  return false;
}

/** Each day by itself: what is kept of one stays, whatever becomes of the next. */
async function refreshWhole(db: Database, environmentOf: (network: string) => Environment): Promise<boolean> {
  let due: readonly Due[] = [];
  await refreshSome(db, environmentOf, async (tx, scopes) => {
    due = await findDue(tx, scopes, { counted: false, max: daysAtOnce });
    return false;
  });
  for (const one of due) await keepWhole(db, one);
  return due.length === daysAtOnce;
}

interface Scope {
  readonly name: string;
  readonly env: Environment;
  readonly networks: readonly string[];
}

interface Due {
  readonly scope: Scope;
  readonly withoutSelf: boolean;
  readonly day: string;
  readonly settlements: bigint;
  readonly payers: bigint;
  /** By this is known whether self-payments changed since. */
  readonly selfCounted: bigint;
}

/** Days whose payers are counted, or those where not all are. */
async function findDue(
  tx: Transaction,
  scopes: readonly Scope[],
  { counted, max }: { readonly counted: boolean; readonly max: number },
): Promise<readonly Due[]> {
  const parts = scopes.flatMap(({ networks }, at) => networks.map((network) => [at, network] as const));
  const { rows } = await tx.query({
    name: "daily-figures-due",
    text: dueStatement,
    values: [
      scopes.map(({ name }) => name),
      scopes.map(({ name }) => withoutSelfScope(name)),
      parts.map(([at]) => at + 1),
      parts.map(([, network]) => network),
      counted,
      max,
    ],
  });
  return rows.map(({ at, without_self: withoutSelf, day, settlements, payers, self_counted: selfCounted }) => ({
    ...{ scope: scopes[Number(at) - 1]!, withoutSelf, day, settlements, payers, selfCounted },
  }));
}

const dueStatement = `
  with scopes as (
    select * from unnest($1::text[], $2::text[]) with ordinality as s (name, without_self_name, at)
  ), parts as (
    select part.at, part.network, sides.network as counted_as, sides.sign
      from unnest($3::int[], $4::text[]) as part (at, network)
           cross join lateral (values (part.network, 1), ('self ' || part.network, -1)) as sides (network, sign)
  ), added as (
    select p.at, d.day, sum(d.settlements) filter (where p.sign = 1) as settlements, sum(p.sign * d.settlements) as without_self
      from parts p join daily_settlements d on d.network = p.counted_as and d.status = 'settled'
     group by 1, 2
  ), figures as (
    select s.at, false as without_self, s.name as kept_as, a.day, a.settlements, a.settlements as all_settlements, 0 as of_self
      from scopes s join added a using (at)
     union all
    select s.at, true, s.without_self_name, a.day, a.without_self, a.settlements, 1 from scopes s join added a using (at)
  )
  select f.at, f.without_self, f.day::text, f.settlements, coalesce(own.payers, 0) - f.of_self * coalesce(self.payers, 0) as payers,
         f.of_self * coalesce(self.counted, 0) as self_counted
    from figures f join scopes s using (at)
         left join daily_figures kept on kept.scope = f.kept_as and kept.day = f.day
         left join daily_payers own on own.scope = s.name and own.day = f.day
         left join daily_payers self on self.scope = 'self ' || s.name and self.day = f.day
   where (f.settlements <> coalesce(kept.settlements, 0) or f.of_self * coalesce(self.counted, 0) <> coalesce(kept.self_counted, 0))
     and (coalesce(own.counted, 0) = coalesce(f.all_settlements, 0)) = $5
     and not exists (select from archive_objects a
                      where a.last_at >= f.day::timestamp at time zone 'utc'
                        and a.first_at < (f.day + 1)::timestamp at time zone 'utc')
   order by f.day desc, f.kept_as limit $6`;

function keptAs({ scope, withoutSelf }: Due): string {
  return withoutSelf ? withoutSelfScope(scope.name) : scope.name;
}

/** Which time is in the middle: first which span it is in, then where in that. */
async function keepCounted(tx: Transaction, due: Due): Promise<void> {
  const { scope, withoutSelf, day, settlements, payers, selfCounted } = due;
  await tx.query({
    name: "keep-counted-figures",
    text: `
      with parts as (
        select network, 1 as sign from unnest($5::text[]) as network
         union all select 'self ' || network, -1 from unnest($5::text[]) as network where $6
      ), spans as (
        select s.span, sum(p.sign * s.settlements) as count
          from parts p join daily_settle_spans s on s.network = p.network and s.day = $2::date
         group by s.span
      ), places as (
        select span, count, sum(count) over (order by span) - count as before, sum(count) over () as total from spans
      ), wanted as materialized (
        select w.share, p.span, ceil(w.share * p.total) - p.before as place
          from places p cross join (values (0.5::float8), (0.95)) as w (share)
         where ceil(w.share * p.total) > p.before and ceil(w.share * p.total) <= p.before + p.count
      ), times as (
        select w.share, w.place, ms.total_ms, sum(p.sign * t.settlements) as count
          from wanted w cross join lateral generate_series(w.span * w.span, least(w.span::bigint * (w.span + 2), ${totalMsMax})::int) as ms (total_ms)
               cross join parts p
               join daily_settle_times t
                 on t.network = p.network and t.span = w.span and t.total_ms = ms.total_ms and t.day = $2::date
         group by 1, 2, 3
      ), reached as (
        select share, total_ms, place, sum(count) over (partition by share order by total_ms) as count from times
      )
      insert into daily_figures (scope, day, settlements, self_counted, payers, p50_ms, p95_ms)
      select $1, $2::date, $3, $7, $4, min(total_ms) filter (where share = 0.5), min(total_ms) filter (where share = 0.95)
        from reached where count >= place
      on conflict (scope, day) do update
        set settlements = excluded.settlements, self_counted = excluded.self_counted, payers = excluded.payers,
            p50_ms = excluded.p50_ms, p95_ms = excluded.p95_ms`,
    values: [keptAs(due), day, settlements, payers, scope.networks, withoutSelf, selfCounted],
  });
}

async function keepWhole(db: Queryable, due: Due): Promise<void> {
  const { scope, withoutSelf, day, settlements, selfCounted } = due;
  await db.query({
    name: "refresh-daily-figures",
    text: `
      insert into daily_figures (scope, day, settlements, self_counted, payers, p50_ms, p95_ms)
      select $1, $2::date, $3, $6, count(distinct t.payer),
             percentile_disc(0.5) within group (order by t.total_ms), percentile_disc(0.95) within group (order by t.total_ms)
        from transactions t
       where t.network = any($4) and t.status = 'settled' and t.kind = 'settle'
         and t.created_at >= $2::date at time zone 'utc' and t.created_at < ($2::date + 1) at time zone 'utc'
         and ($5::text is null or not exists (
               select from accounts a where a.env = $5 and a.account = t.payer and a.is_self_payer))
      on conflict (scope, day) do update
        set settlements = excluded.settlements, self_counted = excluded.self_counted, payers = excluded.payers,
            p50_ms = excluded.p50_ms, p95_ms = excluded.p95_ms`,
    values: [keptAs(due), day, settlements, scope.networks, withoutSelf ? scope.env : null, selfCounted],
  });
}
