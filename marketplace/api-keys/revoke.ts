import { ApiError } from "../../shared/errors.ts";
import type { Queryable } from "../../shared/postgres.ts";
import type { AccountId } from "../ids.ts";

/** Ends a key at once, on every copy of the service. 404 when it is absent, revoked already or another account's. */
export async function revokeKey(db: Queryable, accountId: AccountId, id: string): Promise<void> {
  const { rowCount } = await db.query(
    "update api_keys set revoked_at = now() where id = $1 and account_id = $2 and revoked_at is null",
    [id, accountId],
  );
  if (rowCount === 0) throw new ApiError("not_found", `There is no active key "${id}".`);
}
