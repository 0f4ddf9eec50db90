import { ApiError } from "../../shared/errors.ts";
import { type Database, inTransaction, isUniqueViolation } from "../../shared/postgres.ts";
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

/** The account with this handle, in any state, or a 404. */
export async function accountByHandle(db: Database, handle: string): Promise<Account> {
  const { rows } = await db.query("select id, handle, state from accounts where lower(handle) = lower($1)", [handle]);
  if (!rows[0]) throw new ApiError("not_found", `There is no account "${handle}".`);
  return rows[0];
}

export interface Account {
  readonly id: AccountId;
  readonly handle: string;
  readonly state: "open" | "closed" | "suspended";
}
