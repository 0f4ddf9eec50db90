import { ApiError } from "../../shared/errors.ts";
import type { RedrawJob, Vectorized, VectorizeFile, VectorizeJob } from "./job.ts";
import type { TraceOptions } from "./options.ts";
import type { TracePool } from "./trace-pool.ts";

/**
 * An image's bytes (PNG, JPEG, WebP) as SVG with its score. At `deadlineMs` from now the job is ended wherever it is, its
 * process with it. Throws ApiError: `invalid_value` unreadable image, `bad_request` option out of range, `rate_limited`
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

/** A job done by a worker. Throws ApiError as `vectorize` does, and `upstream_failed` for an answer of no use. */
export async function perform(pool: TracePool, job: VectorizeJob | RedrawJob, deadlineMs: number): Promise<Vectorized> {
  const outcome = await pool.run(job, AbortSignal.timeout(deadlineMs));
  if ("refused" in outcome) throw new ApiError(outcome.refused, outcome.message);
  return outcome.done;
}
