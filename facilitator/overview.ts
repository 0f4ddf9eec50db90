import { toSafeNumber } from "../shared/amounts.ts";
import type { Environment } from "../shared/networks.ts";
import { inTransaction, type Transaction } from "../shared/postgres.ts";
import { withoutSelfScope } from "./settlements/daily-figures.ts";
import {
  countPayersOf,
  type DayTotal,
  readBefore,
  readTotals,
  settlementsOf,
  volumeOf,
  type Window,
} from "./settlements/figures.ts";
import { recordScope } from "./settlements/scope.ts";
import { readTimes, type Times } from "./settlements/window-times.ts";
import type { StatsNeeds } from "./stats.ts";

/** What a window of the record adds up to, of one network or of all of an environment. */
export interface Totals {
  readonly settled: number;
  readonly failed: number;
  readonly rejected: number;
  readonly volume: bigint;
  readonly payers: number;
  /** Settled as a share of all that clients asked to settle; undefined when they asked nothing. */
  readonly success: number | undefined;
  readonly p50Ms: number | undefined;
  readonly p95Ms: number | undefined;
}

export interface DayFigures extends Omit<Totals, "success"> {
  /** `2026-11-20`. */
  readonly day: string;
}

export interface Reason {
  readonly status: "failed" | "rejected";
  readonly reason: string;
  readonly payments: number;
}

export interface Overview {
  readonly env: Environment;
  /** Networks of which this daemon has or had a record. */
  readonly networks: readonly string[];
  readonly total: Totals;
  /** The totals of as many days before; undefined where the record does not go back so far. */
  readonly before: Pick<Totals, "settled" | "volume"> | undefined;
  readonly byNetwork: ReadonlyArray<Totals & { readonly network: string }>;
  /** Oldest first, also days without a settlement. */
  readonly daily: readonly DayFigures[];
  /** Most frequent first. Refusals of /verify are among them. */
  readonly reasons: readonly Reason[];
}

export interface Asked {
  readonly env: Environment | undefined;
  readonly network: string | undefined;
  readonly days: number;
  readonly withoutSelf: boolean;
}

/** What was settled, refused and failed on whole UTC days up to now, by network and by day. */
export async function overview(context: StatsNeeds, asked: Asked): Promise<Overview> {
  return inTransaction(context.db, async (tx) => {
    await tx.query("set transaction isolation level repeatable read, read only");
    const scope = await recordScope(tx, context, asked);
    const window: Window = { scope, days: asked.days, withoutSelf: asked.withoutSelf };
    const totals = await readTotals(tx, window);
    const daily = await readDays(tx, window);
    const byDay = new Map<string, DayTotal[]>(daily.map(({ day }) => [day, []]));
    for (const row of totals) byDay.get(row.day)?.push(row);
    const times = await readTimes(tx, window);
    const payers = await countPayersOf(tx, [scope.name, ...scope.networks], window);
    return {
      env: scope.env,
      networks: scope.networks,
      total: totalsOf(totals, times.get(scope.name), payers.get(scope.name)),
      before: await readBefore(tx, window),
      byNetwork: scope.networks.map((network) => ({
        network,
        ...totalsOf(totals.filter(isOf(network)), times.get(network), payers.get(network)),
      })),
      daily: daily.map((figures) => ({ ...figures, ...countsOf(byDay.get(figures.day) ?? []) })),
      reasons: await readReasons(tx, window),
    };
  });
}

const isOf = (network: string) => (row: { readonly network: string }) => row.network === network;

function countsOf(totals: readonly DayTotal[]): Pick<Totals, "settled" | "failed" | "rejected" | "volume"> {
  const of = (status: string) => totals.filter((row) => row.status === status);
  return {
    settled: settlementsOf(of("settled")),
    failed: settlementsOf(of("failed")),
    rejected: settlementsOf(of("rejected")),
    volume: volumeOf(of("settled")),
  };
}

function totalsOf(totals: readonly DayTotal[], times: Times = noTimes, payers = 0): Totals {
  const counts = countsOf(totals);
  const asked = counts.settled + counts.failed + counts.rejected;
  return { ...counts, payers, success: asked === 0 ? undefined : counts.settled / asked, ...times };
}

const noTimes: Times = { p50Ms: undefined, p95Ms: undefined };

async function readDays(
  tx: Transaction,
  { scope, days, withoutSelf }: Window,
): Promise<ReadonlyArray<Pick<DayFigures, "day" | "payers" | "p50Ms" | "p95Ms">>> {
  const { rows } = await tx.query({
    name: "overview-days",
    text: `
      select d::date::text as day, coalesce(f.payers, 0) as payers, f.p50_ms, f.p95_ms
        from generate_series((now() at time zone 'utc')::date - ($2::int - 1), (now() at time zone 'utc')::date, '1 day') as d
             left join daily_figures f on f.scope = $1 and f.day = d::date
       order by d`,
    values: [withoutSelf ? withoutSelfScope(scope.name) : scope.name, days],
  });
  return rows.map(({ day, payers, p50_ms: p50, p95_ms: p95 }) => ({
    day,
    payers: toSafeNumber(payers),
    p50Ms: p50 ?? undefined,
    p95Ms: p95 ?? undefined,
  }));
}

/** A refused payment names a payer that was not checked, so refusals are never told by payer. */
async function readReasons(tx: Transaction, { scope, days }: Window): Promise<readonly Reason[]> {
  const { rows } = await tx.query({
    name: "overview-reasons",
    text: `
      select status, reason, sum(payments) as payments from daily_reasons
       where network = any($1) and day >= (now() at time zone 'utc')::date - ($2::int - 1)
       group by status, reason order by payments desc, reason limit 100`,
    values: [scope.networks, days],
  });
  return rows.map(({ status, reason, payments }) => ({ status, reason, payments: toSafeNumber(payments) }));
}
