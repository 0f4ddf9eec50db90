import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { Piscina } from "piscina";
import { ApiError } from "../../shared/errors.ts";
import type { TraceOptions } from "./options.ts";
import type { RedrawJob, Vectorized, VectorizeFile, VectorizeJob, VectorizeOutcome } from "./worker.ts";

export type TracePool = ReturnType<typeof createTracePool>;

/**
 * Worker threads that trace, so that no other request waits for one: one core is left to all the rest. At most
 * `threadsMax` jobs run and `queueMax` wait; what comes beyond is refused at once.
 */
export function createTracePool({
  threadsMax = Math.max(1, availableParallelism() - 1),
  queueMax = 32,
}: {
  threadsMax?: number;
  queueMax?: number;
} = {}) {
  const source = import.meta.url.endsWith(".ts");
  const pool = new Piscina<VectorizeJob | RedrawJob, VectorizeOutcome>({
    filename: fileURLToPath(new URL(source ? "./worker.ts" : "./worker.js", import.meta.url)),
    // From source, a thread needs the loader its parent may have got in another way.
    ...(source ? { execArgv: ["--import", import.meta.resolve("tsx")] } : {}),
    minThreads: 0,
    maxThreads: threadsMax,
    maxQueue: queueMax,
    idleTimeout: 60_000,
    resourceLimits: { maxOldGenerationSizeMb: 512 },
    // Requests go first where they share a core with a trace. Elsewhere the value would be the whole process's.
    niceIncrement: process.platform === "linux" ? 19 : 0,
  });
  return {
    /** Whether a job handed in now would be refused. */
    full: () => pool.queueSize >= queueMax,
    run: (job: VectorizeJob | RedrawJob, signal: AbortSignal) => pool.run(job, { signal }),
    close: () => pool.destroy(),
  };
}

/**
 * An image's bytes (PNG, JPEG, WebP) as SVG with its score. At `deadlineMs` from now the job is ended wherever it is, its
 * thread with it. Throws ApiError: `invalid_value` unreadable image, `bad_request` option out of range, `rate_limited`
 * queue full, `unavailable` deadline passed.
 */
export function vectorize(
  pool: TracePool,
  bytes: Uint8Array,
  options: TraceOptions = {},
  { deadlineMs = 60_000, files = ["png"] }: { deadlineMs?: number; files?: readonly VectorizeFile[] } = {},
): Promise<Vectorized> {
  return perform(pool, { bytes, options, files }, deadlineMs);
}

/** A job done on a worker thread. Throws ApiError as `vectorize` does, and `upstream_failed` for an answer of no use. */
export async function perform(pool: TracePool, job: VectorizeJob | RedrawJob, deadlineMs: number): Promise<Vectorized> {
  if (pool.full()) {
    throw new ApiError("rate_limited", "the tracer's queue is full", { headers: { "Retry-After": "10" } });
  }
  const signal = AbortSignal.timeout(deadlineMs);
  let outcome: VectorizeOutcome;
  try {
    outcome = await pool.run(job, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new ApiError("unavailable", "the trace took too long", { cause: error });
  }
  if ("refused" in outcome) throw new ApiError(outcome.refused, outcome.message);
  return outcome.done;
}
