import { ApiError } from "../shared/errors.ts";
import type { Queryable } from "../shared/postgres.ts";

/** Counts one more of `subject` in the last minute, over all copies of the service; 429 past `perMinute`. */
export async function admitOrRefuse(
  db: Queryable,
  subject: string,
  perMinute: number,
  message = `No more than ${perMinute} requests a minute.`,
): Promise<void> {
  const { rows } = await db.query("select admitted, reset_seconds from count_calls($1, 1, $2)", [subject, perMinute]);
  if (rows[0].admitted === 1) return;
  throw new ApiError("rate_limited", message, {
    headers: { "retry-after": String(Math.max(1, rows[0].reset_seconds)) },
  });
}
