import { databaseJobs, type Job, startJobsInTurn } from "../shared/jobs.ts";
import type { Running } from "../shared/process.ts";
import { archiveRecords } from "./archive/archive-records.ts";
import type { Context } from "./context.ts";
import { retryClosedMs } from "./schemes/registry.ts";
import { sweepNetworkCopies } from "./schemes/signer-leases.ts";
import { refreshDailyFigures } from "./settlements/daily-figures.ts";
import { reconcile, tellOfWaiting } from "./settlements/reconcile.ts";
import { rollUpAll } from "./settlements/rollup.ts";

/** Everything that runs in the background. Every copy of the daemon runs all of it, and the copies share the work. */
function jobsOf(context: Context): readonly Job[] {
  const {
    config,
    log,
    db,
    store,
    schemes,
    lostSettlements,
    holds,
    callCounts,
    cooldowns,
    refusals,
    events,
    catalog,
    heartbeats,
    archiver,
  } = context;
  const rollUp = (stopping: AbortSignal) => rollUpAll(db, config.environmentOf, stopping);
  const figures = (stopping: AbortSignal) => refreshDailyFigures(db, config.environmentOf, stopping);
  const archive = archiver && ((stopping: AbortSignal) => archiveRecords(archiver, stopping));
  return [
    { name: "ask closed networks again", everyMs: retryClosedMs, run: () => schemes.openClosed(log) },
    { name: "say that this copy is up", everyMs: 15_000, run: () => heartbeats.beat() },
    ...schemes.all.map(({ network }) => ({
      name: `reconcile unfinished payments on ${network}`,
      everyMs: 1_000,
      run: () => reconcile({ store, schemes, events, log }, network),
    })),
    { name: "say which payments wait for a network", everyMs: minuteMs, run: () => tellOfWaiting(context) },
    ...schemes.all.map(({ network }) => ({
      name: `search for settlements that the database lost on ${network}`,
      everyMs: 15_000,
      // What a failover lost is found soon after the database is back.
      retryMs: 1_000,
      run: (stopping: AbortSignal) => lostSettlements.search(network, stopping),
    })),
    // Waiting settlements count in the figures already; a roll-up of many writes each row once.
    { name: "roll up settlements", everyMs: 5_000, run: rollUp },
    { name: "refresh daily figures", everyMs: minuteMs, run: figures },
    // These two only begin their work: what is slow in one run must not hold up the next.
    { name: "record refusals", everyMs: 200, run: async () => refusals.flush() },
    { name: "delete old refusals", everyMs: 10_000, run: () => refusals.sweep() },
    { name: "delete refusals that are too many", everyMs: 10 * minuteMs, run: () => refusals.trim() },
    { name: "list paid resources", everyMs: 500, run: async () => catalog.work() },
    { name: "forget copies that are gone", everyMs: hourMs, run: () => heartbeats.sweep() },
    { name: "forget copies that served a network", everyMs: hourMs, run: () => sweepNetworkCopies(db) },
    { name: "delete old listings", everyMs: hourMs, run: () => catalog.sweep() },
    { name: "delete ended holds", everyMs: 15_000, run: () => holds.sweep() },
    { name: "read which payers must wait", everyMs: 2_000, run: () => cooldowns.read() },
    { name: "delete old failures of payers", everyMs: hourMs, run: () => cooldowns.sweep() },
    { name: "delete ended call counts", everyMs: minuteMs, run: () => callCounts.sweep() },
    ...(archive ? [{ name: "archive old records", everyMs: 10 * minuteMs, run: archive }] : []),
    // In shared/jobs.ts.
    ...databaseJobs(context, config.databaseReadUrl !== undefined),
    // Fee payers' jobs are in schemes/fee-payer-upkeep.ts, those of one chain family in its scheme.ts.
    ...schemes.upkeep,
  ];
}

/** Starts all jobs, `pace` times as often as the table says: tests do not wait for them. A stop waits for the runs under way. */
export function startJobs(context: Context, { pace = 1 } = {}): Running {
  return startJobsInTurn(
    context,
    jobsOf(context).map((job) => ({ ...job, everyMs: job.everyMs / pace })),
  );
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
