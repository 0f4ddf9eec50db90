import { ApiError } from "../../shared/errors.ts";
import type { Queryable } from "../../shared/postgres.ts";
import type { AccountId } from "../ids.ts";

/** So many of those that were revoked are shown. */
export const revokedShown = 100;
/** So many are kept: those that are shown, and those whose calls are. */
const revokedMax = 1_000;
const rowsPerPass = 5_000;

/** Throws ApiError 409 for an account that has revoked as many keys as are kept. */
export async function requireRoomForKeys(db: Queryable, accountId: AccountId): Promise<void> {
  const { rows } = await db.query<{ revoked: number }>(
    "select count(*)::integer as revoked from (select from api_keys where account_id = $1 and revoked_at is not null limit $2) r",
    [accountId, revokedMax],
  );
  if (rows[0]!.revoked < revokedMax) return;
  throw new ApiError(
    "conflict",
    `The account has revoked ${revokedMax} keys lately; make one when the oldest are forgotten.`,
  );
}

/**
 * Deletes keys that were revoked over an hour ago, are not among the `revokedShown` newest of their account, and of which nothing is
 * kept any more that names them.
 */
export async function forgetRevokedKeys(db: Queryable): Promise<void> {
  await db.query(
    `delete from api_keys where id in (
       select k.id from (
         select account_id from api_keys where revoked_at is not null group by account_id having count(*) > ${revokedShown}
       ) many cross join lateral (
         select id, account_id, revoked_at from api_keys where account_id = many.account_id and revoked_at is not null
         order by created_at desc, id desc offset ${revokedShown}
       ) k
       where k.revoked_at < now() - interval '1 hour'
         and not exists (select from runs where account_id = k.account_id and coalesce(key_id, '') = k.id)
         ${naming.map((table) => `and not exists (select from ${table} where key_id = k.id)`).join("\n         ")}
       limit ${rowsPerPass})`,
  );
}

const naming = ["key_days", "cap_alerts", "refused_calls", "oauth_clients", "oauth_secrets"];
