import { forEvery } from "../shared/for-every.ts";
import type { Queryable } from "../shared/postgres.ts";
import { deleteOldRefusedCalls } from "./api-keys/refused-calls.ts";
import { forgetRevokedKeys } from "./api-keys/revoked-keys.ts";
import { forgetMovedEarnings } from "./credits/transfer.ts";
import { failedRequestsKeptDays } from "./failed-requests.ts";
import { dayCountsKeptDays } from "./history-days.ts";
import { failuresWithin } from "./models/model-claims.ts";
import { endLapsedGrants } from "./oauth/lapsed-grants.ts";

export const resolvedReportsKeptDays = 90;
export const reportsKept = "1 year";

const signInTables = [
  "sign_in_sessions",
  "sign_in_verifications",
  "sign_in_links",
  "newest_links",
  "passkey_challenges",
  "email_changes",
  "wallets_shown",
];

/**
 * Deletes the rows whose time is over and that no verb reads any more:
 * - sessions, links, challenges, wallet proofs, OAuth clients, requests and tokens past their end;
 * - tokens of clients whose keys are revoked, as those are that can get none any more;
 * - users who have neither a session nor an account;
 * - reservations of ended runs;
 * - payout wallets that were taken out and never could be paid;
 * - counts of failed runs and of calls of an hour ago, and daily counts;
 * - reports of agents, `resolvedReportsKeptDays` after they were resolved, or `reportsKept` after they came;
 * - names of requests that moved earnings;
 * - failed requests, and calls that keys were refused;
 * - revoked keys that are neither shown nor named by anything;
 * - words that no agent has any more, as earlier versions left them.
 */
export async function deleteExpiredRows(db: Queryable): Promise<void> {
  await forEvery(deletions, (deletion) => (typeof deletion === "string" ? db.query(deletion) : deletion(db)));
}

const expiring = [...signInTables, "oauth_requests", "oauth_clients", "oauth_secrets"];

/** Statements, and what takes more than one; each by itself, so that one that fails leaves no other table to grow. */
const deletions: ReadonlyArray<string | ((db: Queryable) => Promise<void>)> = [
  ...expiring.map((table) => `delete from ${table} where expires_at < now()`),
  endLapsedGrants,
  `delete from sign_in_users u where account_id is null and updated_at < now() - interval '1 day'
     and not exists (select from sign_in_sessions where user_id = u.id)`,
  `delete from reservations r where until < now() - interval '1 hour'
     and not exists (select from effects e where e.key = r.holder and e.state = 'open')`,
  "delete from payout_wallets where state = 'retired' and checked_at is null",
  "delete from letters_sent where day < current_date - 1",
  "delete from asked_links where day < current_date - 1",
  "delete from links_from where day < current_date - 1",
  `delete from cap_alerts where day < current_date - ${dayCountsKeptDays}`,
  "delete from report_days where day < current_date - 2",
  `delete from reports where resolved_at < now() - interval '${resolvedReportsKeptDays} days'
     or created_at < now() - interval '${reportsKept}'`,
  `delete from failed_requests where at < now() - interval '${failedRequestsKeptDays} days'`,
  deleteOldRefusedCalls,
  "delete from try_days where day < current_date - 2",
  "delete from svg_tries where day < current_date - 1",
  "delete from new_wallets where day < current_date - 1",
  "delete from home_tries where day < current_date - 1",
  `delete from model_failures where since < now() - interval '${failuresWithin}'`,
  `delete from model_days where closed and day < current_date - ${dayCountsKeptDays}`,
  forgetMovedEarnings,
  "delete from rate_limits where second < extract(epoch from now()) - 3600",
  forgetRevokedKeys,
  deleteLeftWords,
];

/** Waits for no publication that counts one of them again. */
async function deleteLeftWords(db: Queryable): Promise<void> {
  await db.query(
    `with gone as (
       delete from listing_words where (connector, word) in (
         select connector, word from listing_words where agents = 0 limit ${wordsPerPass} for update skip locked
       ) returning connector, word
     )
     delete from listing_typos using gone cross join lateral typo_shapes(gone.word) of_word (shape)
     where gone.connector = '*' and listing_typos.shape = of_word.shape and listing_typos.word = gone.word`,
  );
}

const wordsPerPass = 20_000;
