import type { Queryable } from "../shared/postgres.ts";

export const forgetEveryMs = 3_600_000;

/**
 * Throws away what has had its time: sessions, links, challenges and shown wallets past their end, people who are signed in nowhere and
 * have no account, and counts of calls of an hour ago. None of it means anything any more.
 */
export async function forgetTheEnded(db: Queryable): Promise<void> {
  for (const ended of ["sign_in_sessions", "sign_in_verifications", "sign_in_links", "wallets_shown"]) {
    await db.query(`delete from ${ended} where expires_at < now()`);
  }
  await db.query(
    `delete from sign_in_users u where account_id is null and updated_at < now() - interval '1 day'
       and not exists (select from sign_in_sessions where user_id = u.id)`,
  );
  await db.query(
    `delete from reservations r where until < now() - interval '1 hour'
       and not exists (select from effects e where e.key = r.holder and e.state = 'open')`,
  );
  await db.query("delete from letters_sent where day < current_date - 1");
  await db.query("delete from try_days where day < current_date - 2");
  await db.query("delete from model_days where closed and day < current_date - 40");
  await db.query("delete from rate_limits where second < extract(epoch from now()) - 3600");
}
