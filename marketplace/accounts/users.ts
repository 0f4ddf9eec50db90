import { randomUUID } from "node:crypto";
import { ApiError } from "../../shared/errors.ts";
import { type Database, inTransaction, isUniqueViolation, type Queryable } from "../../shared/postgres.ts";
import { type Account, createAccount } from "./create.ts";

/** The account a person signs in to, in any state; undefined when they have none. */
export async function accountOfUser(db: Queryable, userId: string): Promise<Account | undefined> {
  const { rows } = await db.query(
    `select a.id, a.handle, a.state from sign_in_users u join accounts a on a.id = u.account_id where u.id = $1`,
    [userId],
  );
  return rows[0];
}

/** Opens an account for a person who has none. 409 when they have one, or the handle is taken; 422 for a bad handle. */
export async function openAccount(db: Database, userId: string, handle: string): Promise<Account> {
  return inTransaction(db, async (tx) => {
    const { rows } = await tx.query<{ account_id: string | null }>(
      "select account_id from sign_in_users where id = $1 for update",
      [userId],
    );
    if (rows[0]?.account_id !== null) throw new ApiError("conflict", "You have an account already.");
    const account = await createAccount(tx, { handle });
    await tx.query("update sign_in_users set account_id = $2, updated_at = now() where id = $1", [userId, account.id]);
    return account;
  });
}

/**
 * Lets whoever shows that an e-mail address is theirs sign in to an account that was made without one. Repeating it
 * changes nothing; 409 when the address or the account leads elsewhere.
 */
export async function linkEmail(db: Queryable, account: Account, email: string): Promise<void> {
  const address = email.trim().toLowerCase();
  if (!/^[^\s@]{1,64}@[^\s@]{1,190}$/.test(address))
    throw new ApiError("invalid_value", '"email" is no e-mail address.');
  const { rows } = await db
    .query(
      `insert into sign_in_users (id, name, email, email_verified, account_id) values ($1, '', $2, true, $3)
       on conflict (email) do update set account_id = excluded.account_id
         where sign_in_users.account_id is null or sign_in_users.account_id = excluded.account_id
       returning account_id`,
      [`usr_${randomUUID()}`, address, account.id],
    )
    .catch((error) => {
      if (!isUniqueViolation(error)) throw error;
      throw new ApiError("conflict", `Somebody signs in to "${account.handle}" with another address.`);
    });
  if (!rows[0]) throw new ApiError("conflict", `${address} signs in to another account.`);
}
