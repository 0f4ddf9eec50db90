import { setTimeout as pause } from "node:timers/promises";
import type { DurabilityWatch } from "./durability.ts";
import type { JobRecord } from "./job-record.ts";
import { startPeriodicTask } from "./periodic-task.ts";
import { analyzeEveryMs, analyzeGrownTables } from "./planner-statistics.ts";
import type { Database } from "./postgres.ts";
import type { Running } from "./process.ts";
import { lookEveryMs, type Reads } from "./reads.ts";

/** What a service does in the background, again and again: a row of its table. */
export interface Job {
  readonly name: string;
  /** From the end of one run to the start of the next. */
  readonly everyMs: number;
  /** From the end of a run that failed to the start of the next; `everyMs` when left out. */
  readonly retryMs?: number;
  /** A run that takes long looks at `stopping` between its steps. */
  readonly run: (stopping: AbortSignal) => Promise<unknown>;
}

/** What both services do for the database that they stand on, and for its replica where there is one. */
export function databaseJobs({ db, reads, durability }: DatabaseParts, hasReplica: boolean): readonly Job[] {
  const lookAtReplica = { name: "look how far behind the replica is", everyMs: lookEveryMs, run: () => reads.look() };
  return [
    { name: "look what a failover can lose", everyMs: 60_000, run: () => durability.look() },
    ...(hasReplica ? [lookAtReplica] : []),
    { name: "analyze grown tables", everyMs: analyzeEveryMs, run: () => analyzeGrownTables(db) },
  ];
}

interface DatabaseParts {
  readonly db: Database;
  readonly reads: Reads;
  readonly durability: DurabilityWatch;
}

/**
 * Starts jobs, each of whose runs waits for its last. Their first runs come one after another, so that a service that starts
 * does not open every connection of its pool at once; one that takes long holds up the others no longer than `begunApartMs`.
 */
export function startJobsInTurn(recording: Recording, jobs: readonly Job[]): Running {
  let after: Promise<unknown> = Promise.resolve();
  const tasks = jobs.map((job) => {
    const task = startPeriodicTask({ ...job, ...recorded(recording, job), after });
    after = Promise.race([task.firstEnded, after.then(() => pause(begunApartMs, undefined, { ref: false }))]);
    return task;
  });
  return {
    stop: async () => {
      await Promise.all(tasks.map((task) => task.stop()));
    },
  };
}

const begunApartMs = 100;

/** Starts a job that begins a run every so often, and never waits for an earlier one that hangs. */
export function startSteadyJob(recording: Recording, job: Job): Running {
  const { run, failed } = recorded(recording, job);
  const stopping = new AbortController();
  const timer = setInterval(() => void run(stopping.signal).catch(failed), job.everyMs).unref();
  return {
    stop: async () => {
      stopping.abort();
      clearInterval(timer);
    },
  };
}

interface Recording {
  readonly jobRecord: JobRecord;
  readonly events: { jobFailed(job: string, error: unknown): void };
}

/** How its runs end is kept in the service's record of jobs. */
function recorded({ jobRecord, events }: Recording, { name, everyMs, run }: Job) {
  jobRecord.begun(name, everyMs);
  return {
    run: async (stopping: AbortSignal) => {
      await run(stopping);
      jobRecord.ended(name, "done");
    },
    failed: (error: unknown) => {
      jobRecord.ended(name, "failed");
      events.jobFailed(name, error);
    },
  };
}
