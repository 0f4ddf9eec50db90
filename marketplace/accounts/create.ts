import { ApiError } from "../../shared/errors.ts";
import { isUniqueViolation, type Queryable, type Transaction } from "../../shared/postgres.ts";
import { ceilingUsual } from "../api-keys/ceiling.ts";
import { type AccountId, newId } from "../ids.ts";
import { parseHandle } from "./handle.ts";

/** Opens an account with an empty balance. 422 for a bad or reserved handle, 409 for one that is or was another's. */
export async function createAccount(db: Queryable, input: { handle: string }): Promise<Account> {
  const account: Account = { id: newId("acc"), handle: parseHandle(input.handle), state: "open" };
  await db
    .query(
      `with opened as (insert into accounts (id, handle, calls_per_minute_max) values ($1, $2, $3) returning id)
       insert into balances (account_id) select id from opened`,
      [account.id, account.handle, ceilingUsual],
    )
    .catch((error) => refuseTaken(error, account.handle));
  return account;
}

/** Throws 409 for a handle that is taken; any other error as it is. */
export function refuseTaken(error: unknown, handle: string): never {
  if (!isUniqueViolation(error, "accounts_handle")) throw error;
  throw new ApiError("conflict", `The handle "${handle}" is taken.`, { body: { field: "handle" } });
}

/** The account that has this handle, or had it once, in any state. */
export async function findAccount(db: Queryable, handle: string): Promise<Account | undefined> {
  const { rows } = await db.query(
    `select a.id, a.handle, a.state from handles h join accounts a on a.id = h.account_id where h.handle = lower($1)`,
    [handle],
  );
  return rows[0];
}

/**
 * The account as it is now, and stays until the transaction ends. 409 unless it is open. What a request knew of it when
 * it came in can be out of date: it may have been renamed or closed since.
 */
export async function lockOpenAccount(tx: Transaction, id: AccountId): Promise<Account> {
  // Not "for update": that would wait for every transaction that only refers to the account, as each run does.
  const { rows } = await tx.query("select id, handle, state from accounts where id = $1 for no key update", [id]);
  const account: Account = rows[0];
  if (account.state === "open") return account;
  throw new ApiError("conflict", `The account "${account.handle}" is not open.`);
}

/** Keeps the account from being closed until the transaction ends. 409 where it is closed already. */
export async function lockUnclosedAccount(tx: Transaction, { id, handle }: Account): Promise<void> {
  const { rows } = await tx.query("select state from accounts where id = $1 for share", [id]);
  if (rows[0]?.state === "closed") throw new ApiError("conflict", `The account "${handle}" is closed.`);
}

/** The account with this handle, or a 404. */
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
