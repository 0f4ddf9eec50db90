import { availableParallelism } from "node:os";
import { ApiError } from "../../shared/errors.ts";
import type { RedrawJob, VectorizeJob, VectorizeOutcome } from "../tracer/pool/job.ts";
import { WorkerDiedError, WorkerPool } from "../tracer/pool/worker-pool.ts";
import { FairQueue, NoRoomError, type Party, type Place } from "./fair-queue.ts";

/** All that is drawn for nothing together: buyers who pay come first. */
export const freeParty: Party = "free tries";

/**
 * The tracer's worker processes and the queue before them, so that no other request waits for a trace: one core is left
 * to all the rest. FairQueue decides which party's job is next, and which party is refused.
 */
export class TracePool {
  private readonly workers: WorkerPool;
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
    this.workers = new WorkerPool(workersMax);
    this.queue = new FairQueue({
      runningMax: workersMax,
      waitingMax: queueMax,
      partyMax,
      reservedMax: 4 * queueMax,
      last: freeParty,
    });
  }

  load(): { readonly waiting: number; readonly seconds: number } {
    return this.queue.load();
  }

  /** Throws ApiError `rate_limited` with Retry-After if a job of this party would be refused now. */
  admit(party: Party): void {
    try {
      this.queue.admit(party);
    } catch (error) {
      throw refusalOf(error);
    }
  }

  /** A place in the queue for what a model is asked for first; to be left whatever comes of it. Throws ApiError as `admit` does. */
  reserve(party: Party): Place {
    try {
      return this.queue.reserve(party);
    } catch (error) {
      throw refusalOf(error);
    }
  }

  /**
   * A job's outcome; when `signal` aborts, its process is ended with it. Throws ApiError: `rate_limited` no room,
   * `unavailable` aborted, or its process died twice.
   */
  async run(job: VectorizeJob | RedrawJob, signal: AbortSignal, from: Party | Place): Promise<VectorizeOutcome> {
    const work = () => this.workers.run(job, signal);
    try {
      return await (typeof from === "string" ? this.queue.run(from, signal, work) : from.run(signal, work));
    } catch (error) {
      if (signal.aborted) throw unavailable("the trace took too long", error);
      if (error instanceof WorkerDiedError) throw unavailable("the trace of this picture ended its process", error);
      throw refusalOf(error);
    }
  }

  close(): Promise<void> {
    return this.workers.close();
  }
}

function refusalOf(error: unknown): unknown {
  if (!(error instanceof NoRoomError)) return error;
  const { message, retryAfterSeconds } = error;
  return new ApiError("rate_limited", message, {
    headers: { "retry-after": String(retryAfterSeconds) },
    cause: error,
  });
}

function unavailable(message: string, cause: unknown): ApiError {
  return new ApiError("unavailable", message, { cause, headers: { "retry-after": "30" } });
}
