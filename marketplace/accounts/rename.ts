import { ApiError } from "../../shared/errors.ts";
import { type Database, inTransaction, type Transaction } from "../../shared/postgres.ts";
import type { AgentId } from "../ids.ts";
import { freeToolName } from "../tool-name.ts";
import { type Account, lockOpenAccount, refuseTaken } from "./create.ts";
import { parseHandle } from "./handle.ts";

export const daysBetweenRenames = 30;

/**
 * Gives an account another handle and its agents their new addresses and tool names, at once. The old handle stays the
 * account's: no other account can take it, runs and paid calls of the old addresses reach the same agents, and the account
 * can take it back. 422 for a bad handle, 409 for one that is or was another's, or too soon after the change before.
 */
export async function renameAccount(db: Database, account: Account, text: string): Promise<Account> {
  const handle = parseHandle(text);
  return inTransaction(db, async (tx) => {
    const now = await lockOpenAccount(tx, account.id);
    if (now.handle === handle) return now;
    const { rows } = await tx.query<{ again: Date | null }>(
      `select handle_changed_at + interval '${daysBetweenRenames} days' as again from accounts where id = $1`,
      [account.id],
    );
    const again = rows[0]?.again;
    if (again && again > new Date()) {
      throw new ApiError("conflict", `The handle can be changed again on ${again.toISOString().slice(0, 10)}.`);
    }
    await tx
      .query("update accounts set handle = $2, handle_changed_at = now() where id = $1", [account.id, handle])
      .catch((error) => refuseTaken(error, handle));
    await moveAgents(tx, account, handle);
    return { ...now, handle };
  });
}

async function moveAgents(tx: Transaction, account: Account, handle: string): Promise<void> {
  const { rows } = await tx.query<{ id: AgentId; slug: string }>(
    "select id, slug from agents where account_id = $1 order by id for update",
    [account.id],
  );
  for (const { id, slug } of rows) {
    const free = await freeToolName(tx, id, handle, slug);
    await tx.query("update agents set handle = $2, tool_name = $3, updated_at = now() where id = $1", [
      id,
      handle,
      free,
    ]);
  }
}
