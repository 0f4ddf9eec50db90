import { startPeriodicTask } from "../shared/periodic-task.ts";
import { analyzeEveryMs, analyzeGrownTables } from "../shared/planner-statistics.ts";
import type { Running } from "../shared/process.ts";
import { lookEveryMs } from "../shared/reads.ts";
import { sendAccountEmails } from "./accounts/account-emails.ts";
import { recheckWallets } from "./accounts/recheck-wallets.ts";
import { sendSuspensionEmails } from "./accounts/suspension-emails.ts";
import { countRuns } from "./agents/count-runs.ts";
import { recordFees } from "./connectors/hedera/fees.ts";
import type { Context } from "./context.ts";
import { sendAlerts } from "./credits/send-alerts.ts";
import { deleteExpiredRows } from "./expired-rows.ts";
import { settleModelDays } from "./models/model-claims.ts";
import { creditAbandonedPurchases } from "./payments/purchase.ts";
import { closeOverdueSideEffects, deleteOldRuns, recoverLostRuns } from "./runs/recover.ts";

/** Everything that runs in the background. Every copy of the service runs all of it, and the copies share the work. */
function jobsOf(context: Context): readonly Job[] {
  const { db, leases, reservations, config, tools, signIn, durability, reads, refusedCalls } = context;
  const leaseEveryMs = config.runLeaseMs / 4;
  const minuteMs = 60_000;
  const lookAtReplica = { name: "look how far behind the replica is", everyMs: lookEveryMs, run: () => reads.look() };
  return [
    { name: "extend leases of runs", everyMs: leaseEveryMs, run: () => leases.extend(), keepsAlive: true },
    { name: "extend reservations", everyMs: leaseEveryMs, run: () => reservations.extend(), keepsAlive: true },
    { name: "recover lost runs", everyMs: leaseEveryMs, run: () => recoverLostRuns(context) },
    { name: "close overdue effects", everyMs: leaseEveryMs, run: () => closeOverdueSideEffects(context) },
    { name: "record chain fees", everyMs: 3_000, run: () => recordFees(db, tools.hedera) },
    { name: "delete old runs", everyMs: leaseEveryMs, run: () => deleteOldRuns(context) },
    { name: "credit abandoned purchases", everyMs: 5_000, run: () => creditAbandonedPurchases(context) },
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
    { name: "look what a failover can lose", everyMs: minuteMs, run: () => durability.look() },
    ...(config.databaseReadUrl ? [lookAtReplica] : []),
    { name: "analyze grown tables", everyMs: analyzeEveryMs, run: () => analyzeGrownTables(db) },
  ];
}

interface Job {
  readonly name: string;
  /** From the end of one run to the start of the next. */
  readonly everyMs: number;
  readonly run: () => Promise<unknown>;
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
  const keepers = jobs.filter(({ keepsAlive }) => keepsAlive).map((job) => startKeeper(context, job));
  const tasks = jobs.filter(({ keepsAlive }) => !keepsAlive).map((job) => startTask(context, job));
  return {
    stop: async () => {
      await Promise.all(tasks.map((task) => task.stop()));
      await context.backgroundWork.idle();
      for (const keeper of keepers) clearInterval(keeper);
    },
  };
}

type Recording = Pick<Context, "events" | "jobRecord">;

function startTask({ events, jobRecord }: Recording, { name, everyMs, run }: Job): Running {
  jobRecord.begun(name, everyMs);
  return startPeriodicTask({
    run: async () => {
      await run();
      jobRecord.ended(name, "done");
    },
    everyMs,
    failed: (error) => {
      jobRecord.ended(name, "failed");
      events.jobFailed({ job: name, error });
    },
  });
}

function startKeeper({ events, jobRecord }: Recording, { name, everyMs, run }: Job): NodeJS.Timeout {
  jobRecord.begun(name, everyMs);
  const runOnce = async () => {
    try {
      await run();
      jobRecord.ended(name, "done");
    } catch (error) {
      jobRecord.ended(name, "failed");
      events.jobFailed({ job: name, error });
    }
  };
  return setInterval(() => void runOnce(), everyMs).unref();
}
