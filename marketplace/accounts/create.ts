import { ApiError } from "../../shared/errors.ts";
import { type Database, inTransaction, isUniqueViolation, type Queryable } from "../../shared/postgres.ts";
import { type AccountId, newId } from "../ids.ts";
import { parseHandle } from "./handle.ts";

/** Opens an account with an empty balance. 422 for a bad or reserved handle, 409 for a taken one. */
export async function createAccount(db: Database, input: { handle: string }): Promise<Account> {
  const account: Account = { id: newId("acc"), handle: parseHandle(input.handle), state: "open" };
  try {
    await inTransaction(db, async (tx) => {
      await tx.query("insert into accounts (id, handle) values ($1, $2)", [account.id, account.handle]);
      await tx.query("insert into balances (account_id) values ($1)", [account.id]);
    });
  } catch (error) {
    if (!isUniqueViolation(error, "accounts_handle")) throw error;
    throw new ApiError("conflict", `The handle "${account.handle}" is taken.`);
  }
  return account;
}

/** The account with this handle, in any state. */
export async function findAccount(db: Queryable, handle: string): Promise<Account | undefined> {
  const { rows } = await db.query("select id, handle, state from accounts where lower(handle) = lower($1)", [handle]);
  return rows[0];
}

/** The same, or a 404. */
export async function accountByHandle(db: Queryable, handle: string): Promise<Account> {
  const account = await findAccount(db, handle);
  if (!account) throw new ApiError("not_found", `There is no account "${handle}".`);
  return account;
}

export interface Account {
  readonly id: AccountId;
  readonly handle: string;
  readonly state: "open" | "closed" | "suspended";
}
