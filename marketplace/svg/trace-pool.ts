import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import workerpool from "workerpool";
import { ApiError } from "../../shared/errors.ts";
import type { RedrawJob, VectorizeJob, VectorizeOutcome } from "./job.ts";

/** How long a process without work is kept for the next job. */
const idleMs = 60_000;
const endMs = 1000;
const heapMaxMb = 512;

/**
 * Worker processes that trace, so that no other request waits for one: one core is left to all the rest, and a picture
 * that brings a decoder down takes no request with it. At most `workersMax` jobs run and `queueMax` wait.
 */
export class TracePool {
  private pool: workerpool.Pool | undefined;
  private jobs = 0;
  private idle: NodeJS.Timeout | undefined;
  private readonly workersMax: number;
  private readonly jobsMax: number;

  constructor({
    workersMax = Math.max(1, availableParallelism() - 1),
    queueMax = 32,
  }: {
    workersMax?: number;
    queueMax?: number;
  } = {}) {
    this.workersMax = workersMax;
    this.jobsMax = workersMax + queueMax;
  }

  /** Whether a job handed in now would be refused. */
  get full(): boolean {
    return this.jobs >= this.jobsMax;
  }

  /**
   * A job's outcome; when `signal` aborts, its process is ended with it. A job whose process died is tried once more, for
   * it need not be the one to blame. Throws ApiError: `rate_limited` full, `unavailable` aborted, or both processes died.
   */
  async run(job: VectorizeJob | RedrawJob, signal: AbortSignal): Promise<VectorizeOutcome> {
    if (this.full) {
      throw new ApiError("rate_limited", "the tracer's queue is full", { headers: { "Retry-After": "10" } });
    }
    this.jobs++;
    clearTimeout(this.idle);
    try {
      return await this.attempt(job, signal).catch((error: unknown) => {
        if (signal.aborted || !(error instanceof workerpool.TerminateError)) throw error;
        return this.attempt(job, signal);
      });
    } catch (error) {
      if (signal.aborted) throw new ApiError("unavailable", "the trace took too long", { cause: error });
      if (!(error instanceof workerpool.TerminateError)) throw error;
      throw new ApiError("unavailable", "the trace of this picture ended its process", { cause: error });
    } finally {
      if (--this.jobs === 0) this.idle = setTimeout(() => void this.close(), idleMs).unref();
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.idle);
    const { pool } = this;
    this.pool = undefined;
    // It waits for good for a process that had died while idle.
    await pool?.terminate(true, endMs).catch(() => {});
  }

  private async attempt(job: VectorizeJob | RedrawJob, signal: AbortSignal): Promise<VectorizeOutcome> {
    signal.throwIfAborted();
    this.pool ??= startPool(this.workersMax);
    const running = this.pool.exec("vectorizeJob", [job]);
    const cancel = () => void running.cancel();
    signal.addEventListener("abort", cancel);
    try {
      return await running;
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  }
}

function startPool(maxWorkers: number): workerpool.Pool {
  const source = import.meta.url.endsWith(".ts");
  const { PATH, LD_LIBRARY_PATH, TMPDIR } = process.env;
  return workerpool.pool(fileURLToPath(new URL(source ? "./worker.ts" : "./worker.js", import.meta.url)), {
    workerType: "process",
    maxWorkers,
    // A process in the middle of a trace does not listen; it is ended without being asked.
    workerTerminateTimeout: 1,
    forkOpts: {
      // A session of its own, to be weighed by itself (worker.ts).
      detached: true,
      serialization: "advanced",
      // Nothing of the service's settings and secrets.
      env: { PATH, LD_LIBRARY_PATH, TMPDIR },
      // From source, a process needs the loader its parent may have got in another way.
      execArgv: [`--max-old-space-size=${heapMaxMb}`, ...(source ? ["--import", import.meta.resolve("tsx")] : [])],
    },
  });
}
