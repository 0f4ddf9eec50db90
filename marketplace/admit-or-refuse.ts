import { siteOf, siteShares } from "../shared/client-address.ts";
import { ApiError } from "../shared/errors.ts";
import type { Queryable } from "../shared/postgres.ts";

/** Counts one more of `subject` in the last minute, and of its site, over all copies of the service; 429 past `perMinute`. */
export async function admitOrRefuse(
  db: Queryable,
  subject: string,
  perMinute: number,
  message = `No more than ${perMinute} requests a minute.`,
): Promise<void> {
  const { rows } = await db.query("select admitted, reset_seconds from count_calls($1, 1, $2)", [subject, perMinute]);
  if (rows[0].admitted === 1) {
    const site = siteOf(subject);
    return site === undefined ? undefined : admitOrRefuse(db, site, siteShares * perMinute, message);
  }
  throw new ApiError("rate_limited", message, {
    headers: { "retry-after": String(Math.max(1, rows[0].reset_seconds)) },
  });
}
