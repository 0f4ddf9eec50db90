import { databaseJobs, type Job, startJobsInTurn, startSteadyJob } from "../shared/jobs.ts";
import type { Running } from "../shared/process.ts";
import { sendAccountEmails } from "./accounts/account-emails.ts";
import { recheckWallets } from "./accounts/recheck-wallets.ts";
import { sendSuspensionEmails } from "./accounts/suspension-emails.ts";
import { countRuns } from "./agents/count-runs.ts";
import { recordFees } from "./connectors/hedera/fees.ts";
import type { Context } from "./context.ts";
import { sendAlerts } from "./credits/send-alerts.ts";
import { deleteExpiredRows } from "./expired-rows.ts";
import { settleModelDays } from "./models/model-claims.ts";
import { deleteDeliveredResults, deleteUnpaidResults } from "./payments/paid-calls/delete-results.ts";
import { recordSettlements } from "./payments/paid-calls/record-settlements.ts";
import { creditAbandonedPurchases } from "./payments/purchase.ts";
import { letOutputsGo } from "./runs/kept-outputs.ts";
import { closeOverdueSideEffects, deleteOldRuns, recoverLostRuns } from "./runs/recover.ts";

/** Everything that runs in the background. Every copy of the service runs all of it, and the copies share the work. */
function jobsOf(context: Context): readonly MarketplaceJob[] {
  const { db, leases, modelFunds, reservations, config, tools, signIn, refusedCalls } = context;
  const leaseEveryMs = config.runLeaseMs / 4;
  const minuteMs = 60_000;
  return [
    { name: "extend leases of runs", everyMs: leaseEveryMs, run: () => leases.extend(), keepsAlive: true },
    { name: "extend reservations", everyMs: leaseEveryMs, run: () => reservations.extend(), keepsAlive: true },
    { name: "end claims for models", everyMs: 5_000, run: () => modelFunds.endLeft(), keepsAlive: true },
    { name: "recover lost runs", everyMs: leaseEveryMs, run: () => recoverLostRuns(context) },
    { name: "close overdue effects", everyMs: leaseEveryMs, run: () => closeOverdueSideEffects(context) },
    { name: "record chain fees", everyMs: 3_000, run: () => recordFees(db, tools.hedera) },
    { name: "delete old runs", everyMs: leaseEveryMs, run: () => deleteOldRuns(context) },
    { name: "let old outputs go", everyMs: minuteMs, run: () => letOutputsGo(context) },
    { name: "delete delivered results", everyMs: minuteMs, run: () => deleteDeliveredResults(db) },
    { name: "delete unpaid results", everyMs: minuteMs, run: () => deleteUnpaidResults(db) },
    { name: "credit abandoned purchases", everyMs: 5_000, run: creditAbandonedPurchases(context) },
    { name: "record settlements", everyMs: minuteMs, run: recordSettlements(context) },
    {
      name: "send credit alerts",
      everyMs: minuteMs,
      run: () => sendAlerts({ db, mailer: signIn.mailer, publicUrl: config.publicUrl }),
    },
    {
      name: "send e-mails of suspensions",
      everyMs: 10_000,
      run: () => sendSuspensionEmails({ db, mailer: signIn.mailer, publicUrl: config.publicUrl }),
    },
    { name: "send e-mails to holders", everyMs: 10_000, run: () => sendAccountEmails({ db, mailer: signIn.mailer }) },
    { name: "check payout wallets again", everyMs: 30_000, run: () => recheckWallets(context) },
    { name: "count runs", everyMs: 5_000, run: () => countRuns(db) },
    { name: "write down refused calls", everyMs: 2_000, run: () => refusedCalls.write(db) },
    { name: "settle model days", everyMs: minuteMs, run: () => settleModelDays(db) },
    { name: "delete expired rows", everyMs: 60 * minuteMs, run: () => deleteExpiredRows(db) },
    // In shared/jobs.ts.
    ...databaseJobs(context, config.databaseReadUrl !== undefined),
  ];
}

interface MarketplaceJob extends Job {
  /**
   * Keeps alive what this copy works on: it goes on until nothing is in flight any more, and never waits for an earlier
   * run that hangs, since a lease that lapses is another copy's to end.
   */
  readonly keepsAlive?: true;
}

/**
 * Starts all jobs, `pace` times as often as the table says: tests do not wait for them. A stop ends the ordinary ones,
 * waits for the work in flight, then ends those that kept it alive.
 */
export function startJobs(context: Context, { pace = 1 } = {}): Running {
  const jobs = jobsOf(context).map((job) => ({ ...job, everyMs: job.everyMs / pace }));
  const keepers = jobs.filter(({ keepsAlive }) => keepsAlive).map((job) => startSteadyJob(context, job));
  const tasks = startJobsInTurn(
    context,
    jobs.filter(({ keepsAlive }) => !keepsAlive),
  );
  return {
    stop: async () => {
      await tasks.stop();
      await context.backgroundWork.idle();
      await Promise.all(keepers.map((keeper) => keeper.stop()));
    },
  };
}
