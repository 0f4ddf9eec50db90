import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import workerpool from "workerpool";
import { ApiError } from "../../shared/errors.ts";
import { FairQueue, NoRoom, type Party } from "./fair-queue.ts";
import type { RedrawJob, VectorizeJob, VectorizeOutcome } from "./job.ts";

/** How long a process without work is kept for the next job. */
const idleMs = 60_000;
const endMs = 1000;
const heapMaxMb = 512;

/**
 * Worker processes that trace, so that no other request waits for one: one core is left to all the rest, and a picture
 * that brings a decoder down takes no request with it. Whose job is next, and who is refused, is FairQueue's to say.
 */
export class TracePool {
  private pool: workerpool.Pool | undefined;
  private idle: NodeJS.Timeout | undefined;
  private readonly workersMax: number;
  private readonly queue: FairQueue;

  constructor({
    workersMax = Math.max(1, availableParallelism() - 1),
    queueMax = 32,
    partyMax = 8,
  }: {
    workersMax?: number;
    queueMax?: number;
    partyMax?: number;
  } = {}) {
    this.workersMax = workersMax;
    this.queue = new FairQueue({ runningMax: workersMax, waitingMax: queueMax, partyMax });
  }

  /** Throws ApiError `rate_limited` with Retry-After if a job of this party would be refused now. */
  admit(party: Party): void {
    try {
      this.queue.admit(party);
    } catch (error) {
      throw refusalOf(error);
    }
  }

  /**
   * A job's outcome; when `signal` aborts, its process is ended with it. A job whose process died is tried once more, for
   * it need not be the one to blame. Throws ApiError: `rate_limited` no room, `unavailable` aborted, or both processes died.
   */
  async run(job: VectorizeJob | RedrawJob, signal: AbortSignal, party: Party): Promise<VectorizeOutcome> {
    clearTimeout(this.idle);
    try {
      return await this.queue.run(party, signal, () =>
        this.attempt(job, signal).catch((error: unknown) => {
          if (signal.aborted || !(error instanceof workerpool.TerminateError)) throw error;
          return this.attempt(job, signal);
        }),
      );
    } catch (error) {
      if (signal.aborted) throw unavailable("the trace took too long", error);
      if (error instanceof workerpool.TerminateError) {
        throw unavailable("the trace of this picture ended its process", error);
      }
      throw refusalOf(error);
    } finally {
      if (this.queue.isIdle) this.idle = setTimeout(() => void this.close(), idleMs).unref();
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

function refusalOf(error: unknown): unknown {
  if (!(error instanceof NoRoom)) return error;
  const { message, retryAfterSeconds } = error;
  return new ApiError("rate_limited", message, {
    headers: { "retry-after": String(retryAfterSeconds) },
    cause: error,
  });
}

function unavailable(message: string, cause: unknown): ApiError {
  return new ApiError("unavailable", message, { cause, headers: { "retry-after": "30" } });
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
