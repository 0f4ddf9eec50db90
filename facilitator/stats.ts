import { z } from "zod";
import { toSafeNumber } from "../shared/amounts.ts";
import { type Database, inTransaction, type Transaction } from "../shared/postgres.ts";
import type { Config } from "./config.ts";
import { oneOf, type Read, text, whole } from "./http/query.ts";
import type { SchemeRegistry } from "./schemes/registry.ts";
import {
  countPayers,
  type DayTotal,
  medianSettleMs,
  readTotals,
  settlementsOf,
  volumeOf,
  type Window,
} from "./settlements/figures.ts";
import { environments, recordScope, statuses } from "./settlements/scope.ts";

export const statsQuery = {
  env: oneOf(environments, "Which networks to add up; by default mainnet if this daemon serves one."),
  network: text(100, "CAIP-2 id of one network, instead of all of the environment."),
  days: whole({ min: 1, max: 365, fallback: 14, description: "How many UTC days, today the last of them." }),
};

const count = z.int().min(0);
const baseUnits = z
  .string()
  .regex(/^\d+$/)
  .describe("Whole base units of USDC; payments in another token are not in it.");

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

export interface StatsNeeds {
  readonly db: Database;
  readonly schemes: SchemeRegistry;
  readonly config: Pick<Config, "environmentOf">;
}

/**
 * GET /stats: what was asked to settle on whole UTC days up to this moment. Exact: the daily totals and the settlements
 * not yet in them are read in one snapshot, in which each settlement is in exactly one of the two.
 */
export async function stats(context: StatsNeeds, query: Read<typeof statsQuery>): Promise<Stats> {
  return inTransaction(context.db, async (tx) => {
    await tx.query("set transaction isolation level repeatable read, read only");
    const scope = await recordScope(tx, context, query);
    const window: Window = { scope, days: query.days, withoutSelf: false };
    const totals = await readTotals(tx, window);
    const settled = totals.filter(({ status }) => status === "settled");
    const settlements = settlementsOf(settled);
    const asked = settlementsOf(totals);
    const volume = volumeOf(settled);
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

function tabulate<K extends string>(keys: readonly K[], select: (key: K) => readonly DayTotal[]): Record<K, number> {
  return Object.fromEntries(keys.map((key) => [key, settlementsOf(select(key))])) as Record<K, number>;
}
