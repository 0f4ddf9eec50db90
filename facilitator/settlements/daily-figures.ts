import type { Environment } from "../../shared/networks.ts";
import { type Database, inTransaction, type Transaction } from "../../shared/postgres.ts";
import { recordedNetworks } from "./scope.ts";
import { selfScope } from "./self-payments.ts";
import { refreshWindowTimes } from "./window-times.ts";

const daysAtOnce = 20;

/** The scope under which figures without self-payments are kept. */
export function withoutSelfScope(scope: string): string {
  return `without self ${scope}`;
}

/**
 * Makes the figures of each scope and day anew whose settlements have changed: how many payers, and how long settling
 * took. They cannot be added up from smaller ones, so a day is read whole, and never while a page waits. Figures of a day that is
 * archived stay.
 */
export async function refreshDailyFigures(
  db: Database,
  environmentOf: (network: string) => Environment,
  stopping: AbortSignal,
): Promise<void> {
  while (!stopping.aborted && (await refreshSome(db, environmentOf)));
}

async function refreshSome(db: Database, environmentOf: (network: string) => Environment): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const { rows: locks } = await tx.query("select pg_try_advisory_xact_lock(hashtext('daily figures')) as mine");
    if (!locks[0].mine) return false;
    const networks = await recordedNetworks(tx);
    const environments = [...new Set(networks.map(environmentOf))];
    const plain: readonly Scope[] = [
      ...networks.map((network) => ({ name: network, env: environmentOf(network), networks: [network] })),
      ...environments.map((env) => ({
        name: env,
        env,
        networks: networks.filter((network) => environmentOf(network) === env),
      })),
    ];
    const due = await findDue(tx, plain);
    for (const { name, day, settlements } of due) {
      const scope = plain.find((one) => one.name === name || withoutSelfScope(one.name) === name);
      if (scope) await refreshDay(tx, scope, { name, day, settlements });
    }
    if (due.length === daysAtOnce) return true;
    for (const { name, env, networks: own } of plain.filter((scope) => scope.name === scope.env)) {
      await refreshWindowTimes(tx, { name, env, networks: own });
    }
    return false;
  });
}

interface Scope {
  readonly name: string;
  readonly env: Environment;
  readonly networks: readonly string[];
}

interface Due {
  readonly name: string;
  readonly day: string;
  readonly settlements: bigint;
}

async function findDue(tx: Transaction, scopes: readonly Scope[]): Promise<readonly Due[]> {
  const parts = scopes.flatMap(({ name, networks }) =>
    networks.flatMap((network) => [
      [name, network, 1] as const,
      [withoutSelfScope(name), network, 1] as const,
      [withoutSelfScope(name), selfScope(network), -1] as const,
    ]),
  );
  const { rows } = await tx.query({
    name: "daily-figures-due",
    text: `
      with counted as (
        select p.name, d.day, sum(p.sign * d.settlements) as settlements
          from unnest($1::text[], $2::text[], $3::int[]) as p (name, network, sign)
               join daily_settlements d on d.network = p.network and d.status = 'settled'
         group by 1, 2
      )
      select counted.name, counted.day::text, counted.settlements
        from counted left join daily_figures f on f.scope = counted.name and f.day = counted.day
       where counted.settlements <> coalesce(f.settlements, 0)
         and not exists (select from archive_objects a
                          where a.last_at >= counted.day::timestamp at time zone 'utc'
                            and a.first_at < (counted.day + 1)::timestamp at time zone 'utc')
       order by counted.day desc, counted.name limit $4`,
    values: [
      parts.map(([name]) => name),
      parts.map(([, network]) => network),
      parts.map(([, , sign]) => sign),
      daysAtOnce,
    ],
  });
  return rows;
}

async function refreshDay(tx: Transaction, { env, networks }: Scope, { name, day, settlements }: Due): Promise<void> {
  await tx.query({
    name: "refresh-daily-figures",
    text: `
      insert into daily_figures (scope, day, settlements, payers, p50_ms, p95_ms)
      select $1, $2::date, $3, count(distinct t.payer),
             percentile_disc(0.5) within group (order by t.total_ms), percentile_disc(0.95) within group (order by t.total_ms)
        from transactions t
       where t.network = any($4) and t.status = 'settled' and t.kind = 'settle'
         and t.created_at >= $2::date at time zone 'utc' and t.created_at < ($2::date + 1) at time zone 'utc'
         and ($5::text is null or not exists (
               select from accounts a where a.env = $5 and a.account = t.payer and a.is_self_payer))
      on conflict (scope, day) do update
        set settlements = excluded.settlements, payers = excluded.payers, p50_ms = excluded.p50_ms, p95_ms = excluded.p95_ms`,
    values: [name, day, settlements, networks, name.startsWith("without self ") ? env : null],
  });
}
