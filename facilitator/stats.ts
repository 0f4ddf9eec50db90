import { z } from "zod";
import { inTransaction, type Transaction } from "../shared/postgres.ts";
import { toSafeNumber } from "../shared/units.ts";
import type { Context } from "./context.ts";
import { oneOf, type Read, text, whole } from "./query.ts";
import { environments, type RecordScope, recordScope, statuses } from "./settlements/scope.ts";

export const statsQuery = {
  env: oneOf(environments, "Which networks to add up; by default mainnet if this daemon serves one."),
  network: text(100, "CAIP-2 id of one network, instead of all of the environment."),
  days: whole({ min: 1, max: 365, fallback: 14, description: "How many UTC days, today the last of them." }),
};

const count = z.int().min(0);
const baseUnits = z.string().regex(/^\d+$/).describe("Whole base units of the asset.");

export const statsShape = z
  .object({
    env: z.enum(environments),
    days: count,
    networks: z.array(z.string()),
    settlements: count.describe("Payments that settled."),
    failed: count,
    volumeAtomic: baseUnits,
    successRate: z
      .number()
      .min(0)
      .max(100)
      .nullable()
      .describe("Percent of all settlements asked for, to one decimal."),
    avgAtomic: baseUnits,
    medianSettleMs: z.number().min(0).nullable(),
    payers: count.describe("Distinct payers of settled payments."),
    daily: z.array(z.object({ day: z.iso.date(), count, volumeAtomic: baseUnits })),
    byNetwork: z.record(z.string(), count).describe("Settled payments of each network."),
    byStatus: z.object({ settled: count, failed: count, rejected: count }),
  })
  .meta({ id: "Stats" });
type Stats = z.infer<typeof statsShape>;

/**
 * GET /stats: what was asked to settle on whole UTC days up to this moment. Exact: the daily totals and the settlements
 * not yet in them are read in one snapshot, in which each settlement is in exactly one of the two.
 */
export async function stats(
  context: Pick<Context, "db" | "schemes"> & { readonly config: Pick<Context["config"], "environmentOf"> },
  query: Read<typeof statsQuery>,
): Promise<Stats> {
  return inTransaction(context.db, async (tx) => {
    await tx.query("set transaction isolation level repeatable read, read only");
    const scope = await recordScope(tx, context, query);
    const window: Window = { scope, days: query.days };
    const totals = await readTotals(tx, window);
    const settled = totals.filter(({ status }) => status === "settled");
    const settlements = settlementsOf(settled);
    const asked = settlementsOf(totals);
    const volume = settled.reduce((total, row) => total + row.volume, 0n);
    return {
      env: scope.env,
      days: query.days,
      networks: [...scope.networks],
      settlements,
      failed: settlementsOf(totals.filter(({ status }) => status === "failed")),
      volumeAtomic: volume.toString(),
      successRate: asked === 0 ? null : Math.round((1_000 * settlements) / asked) / 10,
      avgAtomic: (settlements === 0 ? 0n : volume / BigInt(settlements)).toString(),
      medianSettleMs: await medianSettleMs(tx, window, settlements),
      payers: await countPayers(tx, window),
      daily: await dailySeries(tx, window, settled),
      byNetwork: tabulate(scope.networks, (network) => settled.filter((row) => row.network === network)),
      byStatus: tabulate(statuses, (status) => totals.filter((row) => row.status === status)),
    };
  });
}

interface Window {
  readonly scope: RecordScope;
  readonly days: number;
}

interface DayTotal {
  readonly network: string;
  /** `2026-11-20`. */
  readonly day: string;
  readonly status: string;
  readonly settlements: bigint;
  readonly volume: bigint;
}

/** The first day of a window of `$2` days. */
const firstDay = "((now() at time zone 'utc')::date - ($2::int - 1))";

async function readTotals(tx: Transaction, { scope, days }: Window): Promise<readonly DayTotal[]> {
  const { rows } = await tx.query({
    name: "stats-totals",
    text: `
      select network, day::text, status, sum(settlements) as settlements, sum(volume_atomic) as volume
        from (select network, day, status, settlements, volume_atomic from daily_settlements
              union all
              select network, day, status, 1, amount_atomic from uncounted_settlements) as counted
       where network = any($1) and day >= ${firstDay}
       group by network, day, status`,
    values: [scope.networks, days],
  });
  return rows;
}

/** The middle of all durations, exact: first which spans it lies in, then where in them. */
async function medianSettleMs(tx: Transaction, { scope, days }: Window, settlements: number): Promise<number | null> {
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
async function countPayers(tx: Transaction, { scope, days }: Window): Promise<number> {
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

/** One entry a day, oldest first, also for days without a settlement. */
async function dailySeries(tx: Transaction, { days }: Window, settled: readonly DayTotal[]): Promise<Stats["daily"]> {
  const { rows } = await tx.query(
    "select ((now() at time zone 'utc')::date - n)::text as day from generate_series($1::int - 1, 0, -1) as n",
    [days],
  );
  const series = new Map(rows.map(({ day }) => [day as string, { settlements: 0n, volume: 0n }]));
  for (const { day, settlements, volume } of settled) {
    const total = series.get(day);
    if (!total) continue;
    total.settlements += settlements;
    total.volume += volume;
  }
  return [...series].map(([day, { settlements, volume }]) => ({
    day,
    count: toSafeNumber(settlements),
    volumeAtomic: volume.toString(),
  }));
}

function settlementsOf(totals: readonly DayTotal[]): number {
  return toSafeNumber(totals.reduce((total, row) => total + row.settlements, 0n));
}

function tabulate<K extends string>(keys: readonly K[], select: (key: K) => readonly DayTotal[]): Record<K, number> {
  return Object.fromEntries(keys.map((key) => [key, settlementsOf(select(key))])) as Record<K, number>;
}
