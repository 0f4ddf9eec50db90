import { toSafeNumber } from "../../shared/amounts.ts";
import type { Queryable } from "../../shared/postgres.ts";
import { usdcAmount } from "../usdc-amount.ts";
import type { RecordScope } from "./scope.ts";
import { selfScope } from "./self-payments.ts";

/** Which part of the record figures are of: whole UTC days, today the last of them. */
export interface Window {
  readonly scope: RecordScope;
  readonly days: number;
  /** Leaves out what self-payers paid; what still waits to be counted is in until it is. */
  readonly withoutSelf: boolean;
}

export interface DayTotal {
  readonly network: string;
  /** `2026-11-20`. */
  readonly day: string;
  readonly status: string;
  readonly settlements: bigint;
  readonly volume: bigint;
}

/** The first day of a window of `$2` days. */
const firstDay = "((now() at time zone 'utc')::date - ($2::int - 1))";

/** The networks, and by what names they are counted. */
function countedNetworks({ scope, withoutSelf }: Window): readonly string[] {
  return withoutSelf ? [...scope.networks, ...scope.networks.map(selfScope)] : scope.networks;
}

/** Totals under the name of a self scope are subtracted. */
const sign = "case when network like 'self %' then -1 else 1 end";
const plainName = "case when network like 'self %' then substr(network, 6) else network end";

export async function readTotals(tx: Queryable, window: Window): Promise<readonly DayTotal[]> {
  const { rows } = await tx.query({
    name: "stats-totals",
    text: `
      select ${plainName} as network, day::text, status, sum(settlements * ${sign}) as settlements, sum(volume_atomic * ${sign}) as volume
        from (select network, day, status, settlements, volume_atomic from daily_settlements
              union all
              select network, day, status, 1, coalesce(${usdcAmount("u")}, 0) from uncounted_settlements u) as counted
       where network = any($1) and day >= ${firstDay}
       group by 1, day, status`,
    values: [countedNetworks(window), window.days],
  });
  return rows;
}

/** What settled in as many days before the window; undefined where the record does not go back so far. */
export async function readBefore(
  tx: Queryable,
  window: Window,
): Promise<{ readonly settled: number; readonly volume: bigint } | undefined> {
  const { rows } = await tx.query({
    name: "totals-before",
    text: `
      select sum(settlements * ${sign}) filter (where status = 'settled') as settled,
             sum(volume_atomic * ${sign}) filter (where status = 'settled') as volume,
             min(day) <= ${firstDay} - $2::int + 1 as is_whole
        from daily_settlements where network = any($1) and day >= ${firstDay} - $2::int and day < ${firstDay}`,
    values: [countedNetworks(window), window.days],
  });
  const { settled, volume, is_whole: isWhole } = rows[0];
  return isWhole ? { settled: toSafeNumber(settled ?? 0n), volume: volume ?? 0n } : undefined;
}

/** How often a duration occurred: its span is the whole square root of the milliseconds. */
export interface SpanCount {
  readonly network: string;
  readonly span: number;
  readonly count: bigint;
}

export async function readSpans(tx: Queryable, window: Window): Promise<readonly SpanCount[]> {
  const { rows } = await tx.query({
    name: "settle-spans-by-network",
    text: `
      select ${plainName} as network, span, sum(count * ${sign}) as count
        from (select network, span, sum(settlements) as count from daily_settle_spans
               where network = any($1) and day >= ${firstDay} group by network, span) as counted
       group by 1, span order by span`,
    values: [countedNetworks(window), window.days],
  });
  return rows;
}

/** The duration below which a share of all lies, to the middle of its span: within two percent from a second on. */
export function durationAt(spans: readonly SpanCount[], share: number): number | undefined {
  const total = spans.reduce((sum, { count }) => sum + Number(count), 0);
  let left = Math.ceil(share * total);
  for (const { span, count } of spans.toSorted((one, other) => one.span - other.span)) {
    left -= Number(count);
    if (left <= 0 && total > 0) return span * span + span;
  }
  return undefined;
}

/** The middle of all durations, exact: first which spans it lies in, then where in them. */
export async function medianSettleMs(
  tx: Queryable,
  { scope, days }: Window,
  settlements: number,
): Promise<number | null> {
  if (settlements === 0) return null;
  const { rows: spans } = await tx.query({
    name: "stats-spans",
    text: `
      select span, sum(settlements) as count
        from (select network, day, span, settlements from daily_settle_spans
              union all
              select network, day, floor(sqrt(total_ms))::int, 1 from uncounted_settlements where status = 'settled') as counted
       where network = any($1) and day >= ${firstDay}
       group by span order by span`,
    values: [scope.networks, days],
  });
  const middle = [Math.floor((settlements + 1) / 2), Math.floor(settlements / 2) + 1];
  const places = middle.map((rank) => placeOf(rank, spans));
  const { rows: times } = await tx.query({
    name: "stats-times",
    text: `
      select span, total_ms, sum(settlements) as count
        from (select network, day, span, total_ms, settlements from daily_settle_times
              union all
              select network, day, floor(sqrt(total_ms))::int, total_ms, 1 from uncounted_settlements
               where status = 'settled') as counted
       where network = any($1) and day >= ${firstDay} and span = any($3)
       group by span, total_ms order by total_ms`,
    values: [scope.networks, days, places.map(({ row }) => row.span)],
  });
  const [low = 0, high = 0] = places.map(
    ({ row, rank }) =>
      placeOf(
        rank,
        times.filter(({ span }) => span === row.span),
      ).row.total_ms,
  );
  return (low + high) / 2;
}

/** The row that holds the `rank`-th of all that is counted, and which of that row's own it is. */
function placeOf<Row extends { count: bigint }>(rank: number, rows: readonly Row[]): { row: Row; rank: number } {
  let left = rank;
  for (const row of rows) {
    if (left <= Number(row.count)) return { row, rank: left };
    left -= Number(row.count);
  }
  throw new Error("the daily totals and the durations disagree");
}

/** Payers whose last day is in the window, and those of the queue who are not among them yet. */
export async function countPayers(tx: Queryable, { scope, days }: Window): Promise<number> {
  const { rows } = await tx.query({
    name: "stats-payers",
    text: `
      select (select coalesce(sum(payers), 0) from payers_by_last_day where scope = $3 and day >= ${firstDay})
           + (select count(*)
                from (select distinct payer from uncounted_settlements
                       where network = any($1) and status = 'settled' and day >= ${firstDay} and payer is not null) as u
               where not exists (select from payer_days p
                                  where p.scope = $3 and p.payer = u.payer and p.day >= ${firstDay})) as payers`,
    values: [scope.networks, days, scope.name],
  });
  return toSafeNumber(rows[0].payers);
}

/** How many payers each of several scopes had, as of when settlements were last counted. */
export async function countPayersOf(
  tx: Queryable,
  scopes: readonly string[],
  { days, withoutSelf }: Pick<Window, "days" | "withoutSelf">,
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await tx.query({
    name: "payers-by-scope",
    text: `
      select regexp_replace(scope, '^self ', '') as scope,
             sum(payers * case when scope like 'self %' then -1 else 1 end) as payers
        from payers_by_last_day where scope = any($1) and day >= ${firstDay} group by 1`,
    values: [withoutSelf ? [...scopes, ...scopes.map(selfScope)] : scopes, days],
  });
  return new Map(rows.map(({ scope, payers }) => [scope, toSafeNumber(payers)]));
}

export function settlementsOf(totals: readonly DayTotal[]): number {
  return toSafeNumber(totals.reduce((total, row) => total + row.settlements, 0n));
}

export function volumeOf(totals: readonly DayTotal[]): bigint {
  return totals.reduce((total, row) => total + row.volume, 0n);
}
