import { fileURLToPath } from "node:url";
import workerpool from "workerpool";
import type { RedrawJob, VectorizeJob, VectorizeOutcome } from "./job.ts";

/** How long a process without work is kept for the next job. */
const idleMs = 60_000;
const endMs = 1000;
/** There is a process to each core: one that collected its garbage on several would only wait for them. */
export const engineFlags = ["--max-old-space-size=512", "--single-threaded-gc"] as const;

/** The process of a job died, and so did that of its second try. */
export class WorkerDiedError extends Error {
  override readonly name = "WorkerDiedError";
}

/** Worker processes that trace, started when there is work: a picture that brings a decoder down takes no request with it. */
export class WorkerPool {
  private pool: workerpool.Pool | undefined;
  private idle: NodeJS.Timeout | undefined;
  private running = 0;
  private readonly workersMax: number;

  constructor(workersMax: number) {
    this.workersMax = workersMax;
  }

  /**
   * A job's outcome; when `signal` aborts, its process is ended with it and this throws. A job whose process died is tried
   * once more, for it need not be the one to blame. Throws WorkerDiedError when both processes died.
   */
  async run(job: VectorizeJob | RedrawJob, signal: AbortSignal): Promise<VectorizeOutcome> {
    clearTimeout(this.idle);
    this.running++;
    try {
      return await this.attempt(job, signal).catch((error: unknown) => {
        if (signal.aborted || !(error instanceof workerpool.TerminateError)) throw error;
        return this.attempt(job, signal);
      });
    } catch (cause) {
      if (!(cause instanceof workerpool.TerminateError)) throw cause;
      throw new WorkerDiedError("the trace ended its process", { cause });
    } finally {
      this.running--;
      if (this.running === 0) this.idle = setTimeout(() => void this.close(), idleMs).unref();
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.idle);
    const { pool } = this;
    this.pool = undefined;
    // The library would wait for good for a process that had died while idle.
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
      execArgv: [...engineFlags, ...(source ? ["--import", import.meta.resolve("tsx")] : [])],
    },
  });
}
