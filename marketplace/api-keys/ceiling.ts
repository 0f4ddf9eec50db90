import { ApiError } from "../../shared/errors.ts";
import type { Queryable } from "../../shared/postgres.ts";
import type { AccountId } from "../ids.ts";

/** Calls a minute of a new account, until an operator changes them. */
export const ceilingUsual = 600;
export const ceilingMax = 100_000;

/** How many calls a minute all keys of an account may make together. */
export async function readCallCeiling(db: Queryable, accountId: AccountId): Promise<number> {
  const { rows } = await db.query<{ ceiling: number }>(
    "select calls_per_minute_max as ceiling from accounts where id = $1",
    [accountId],
  );
  if (!rows[0]) throw new Error(`${accountId} does not exist`);
  return rows[0].ceiling;
}

/** Changes it, for keys that are there too, from their next call on. 422 outside 1 to `ceilingMax`. */
export async function setCallCeiling(db: Queryable, accountId: AccountId, ceiling: number): Promise<void> {
  if (!Number.isInteger(ceiling) || ceiling < 1 || ceiling > ceilingMax) {
    throw new ApiError("invalid_value", `The ceiling must be a whole number between 1 and ${ceilingMax}.`);
  }
  await db.query("update accounts set calls_per_minute_max = $2 where id = $1", [accountId, ceiling]);
}
