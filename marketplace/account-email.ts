import type { Queryable } from "../shared/postgres.ts";
import type { AccountId } from "./ids.ts";

/** Where an account's holder is written to; undefined for one who signs in without e-mail. */
export async function emailOf(db: Queryable, accountId: AccountId): Promise<string | undefined> {
  const { rows } = await db.query<{ email: string }>(
    "select email from sign_in_users where account_id = $1 and email_verified order by created_at limit 1",
    [accountId],
  );
  return rows[0]?.email;
}
