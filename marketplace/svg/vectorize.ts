import { ApiError } from "../../shared/errors.ts";
import type { TraceOptions, VectorFile } from "../tracer/options.ts";
import type { RedrawJob, Vectorized, VectorizeJob } from "../tracer/pool/job.ts";
import type { Party, Place } from "./fair-queue.ts";
import type { TracePool } from "./trace-pool.ts";

/**
 * An image's bytes (PNG, JPEG, WebP) as SVG with its score. At `deadlineMs` from now the job is ended wherever it is, its
 * process with it. Throws ApiError: `invalid_value` unreadable image, `bad_request` option out of range, `rate_limited`
 * no room in the queue, `unavailable` deadline passed.
 */
export function vectorize(
  pool: TracePool,
  bytes: Uint8Array,
  options: TraceOptions = {},
  { deadlineMs = 60_000, files = ["png"], from = "", pixelsMax }: Means = {},
): Promise<Vectorized> {
  const job = { bytes, options, files, ...(pixelsMax !== undefined && { pixelsMax }) };
  return perform(pool, job, { deadlineMs, from });
}

interface Means {
  readonly deadlineMs?: number;
  readonly files?: readonly VectorFile[];
  /** The party whose turn it takes in the queue, or the place there that is kept for it. */
  readonly from?: Party | Place;
  /** Larger pictures are refused, where fewer pixels are allowed than usual. */
  readonly pixelsMax?: number;
}

/** A job done by a worker. Throws ApiError as `vectorize` does, and `upstream_failed` for an answer of no use. */
export async function perform(
  pool: TracePool,
  job: VectorizeJob | RedrawJob,
  { deadlineMs, from }: { readonly deadlineMs: number; readonly from: Party | Place },
): Promise<Vectorized> {
  const outcome = await pool.run(job, AbortSignal.timeout(deadlineMs), from);
  if ("done" in outcome) return outcome.done;
  const { refused, message, field } = outcome;
  throw new ApiError(refused, message, field === undefined ? {} : { body: { field } });
}
