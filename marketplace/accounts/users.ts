import { randomUUID } from "node:crypto";
import { z } from "zod";
import { ApiError } from "../../shared/errors.ts";
import { type Database, inTransaction, type Queryable } from "../../shared/postgres.ts";
import { type Account, createAccount, lockOpenAccount } from "./create.ts";

/** The account a person signs in to, in any state; undefined when they have none. */
export async function accountOfUser(db: Queryable, userId: string): Promise<Account | undefined> {
  const { rows } = await db.query(
    `select a.id, a.handle, a.state from sign_in_users u join accounts a on a.id = u.account_id
     where u.id = $1 and u.email_verified`,
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
    if (!rows[0]) throw new ApiError("unauthenticated", "The session has ended; sign in again.");
    if (rows[0].account_id !== null) throw new ApiError("conflict", "You have an account already.");
    const account = await createAccount(tx, { handle });
    await tx.query("update sign_in_users set account_id = $2, updated_at = now() where id = $1", [userId, account.id]);
    return account;
  });
}

/**
 * Opens an account for the person who is signed in. 403 for a wallet alone, and for an e-mail address not shown to be theirs: without the first
 * the account could never be reached again, and with the second another person could reach it.
 */
export async function openAccountFor(db: Database, person: SignedIn, handle: string): Promise<Account> {
  if (person.wallet) throw new ApiError("forbidden", "A session signed in with a wallet can have no account.");
  if (!person.email) {
    throw new ApiError("forbidden", "Show first that the e-mail address is yours: sign in with a link to it.");
  }
  return openAccount(db, person.userId, handle);
}

interface SignedIn {
  readonly userId: string;
  readonly wallet: object | undefined;
  readonly email: string | undefined;
}

/**
 * Lets the person who proves an e-mail address theirs sign in to an account that was made without one. A user who signed
 * in with that address before without proving it is signed out. Repeating it changes nothing. 409 when the address belongs
 * to another account, the account has another address, or it is not open.
 */
export async function linkEmail(db: Database, { id, handle }: Account, email: string): Promise<void> {
  const address = email.trim().toLowerCase();
  if (!isMailAddress(address)) throw new ApiError("invalid_value", '"email" is no e-mail address.');
  await inTransaction(db, async (tx) => {
    await lockOpenAccount(tx, id);
    const { rows } = await tx.query<{ id: string; account_id: string | null; email: string; email_verified: boolean }>(
      "select id, account_id, email, email_verified from sign_in_users where email = $1 or account_id = $2 for update",
      [address, id],
    );
    const user = rows.find((row) => row.email === address);
    if (user?.account_id === id) return;
    if (user?.account_id) throw new ApiError("conflict", `${address} signs in to another account.`);
    if (rows.some((row) => row.account_id === id)) {
      throw new ApiError("conflict", `Another address signs in to "${handle}" already.`);
    }
    if (user && !user.email_verified) await tx.query("delete from sign_in_users where id = $1", [user.id]);
    await tx.query(
      `insert into sign_in_users (id, name, email, email_verified, account_id) values ($1, '', $2, true, $3)
       on conflict (email) do update set account_id = excluded.account_id`,
      [`usr_${randomUUID()}`, address, id],
    );
  });
}

/** Mail to `.invalid` is never delivered (RFC 2606); such addresses stand for wallets here. */
export function isMailAddress(address: string): boolean {
  return z.email().max(254).safeParse(address).success && !address.toLowerCase().endsWith(".invalid");
}

/**
 * The mailbox that an address delivers to, as far as the address shows it: a tag after a plus only sorts, and Google's
 * mail ignores dots. For limits only: signing in goes by the whole address.
 */
export function mailboxOf(address: string): string {
  const [local = "", domain = ""] = address.toLowerCase().split("@");
  const box = local.replace(/(?<=.)\+.*/, "");
  if (domain !== "gmail.com" && domain !== "googlemail.com") return `${box}@${domain}`;
  return `${box.replaceAll(".", "")}@gmail.com`;
}
