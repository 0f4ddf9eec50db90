import { ApiError } from "../../shared/errors.ts";
import { type Database, inTransaction, type Transaction } from "../../shared/postgres.ts";
import { requireFreshFor, type SignedIn } from "../fresh-session.ts";
import type { AccountId } from "../ids.ts";
import { type ByHolder, readClosing, refuseToClose } from "./closing.ts";
import type { Account } from "./create.ts";

const moves = {
  suspend: { from: ["open"], to: "suspended" },
  restore: { from: ["suspended"], to: "open" },
  close: { from: ["open", "suspended"], to: "closed" },
} as const;

export type AccountMove = keyof typeof moves;
export const accountMoves = Object.keys(moves) as AccountMove[];

/**
 * Suspends, restores or closes an account. Its keys are refused and its agents cannot be run from the next call on,
 * on every copy of the service. Closing is for good: keys are revoked, agents unpublished (suspended ones, once they are restored),
 * wallets removed, drafts and the people who sign in deleted. The account's postings in the ledger and its handles stay. 409 from
 * another state, and for closing while closing.ts refuses it.
 */
export async function moveAccount(
  db: Database,
  account: Account,
  move: AccountMove,
  { byHolder, record }: MoveOptions = {},
): Promise<Account> {
  const { from, to } = moves[move];
  // Asked first without a lock: runs that keep it from being closed wait for nothing.
  if (move === "close") refuseToClose(account, await readClosing(db, account), byHolder);
  return inTransaction(db, async (tx) => {
    // Locks the account first, as every change of it and every purchase does.
    if (move === "close") await lockAgainstRuns(tx, account.id);
    else await tx.query("select from accounts where id = $1 for no key update", [account.id]);
    await tx.query("select from balances where account_id = $1 for update", [account.id]);
    if (move === "close") {
      refuseToClose(account, await readClosing(tx, account), byHolder);
      await tx.query("update api_keys set revoked_at = now() where account_id = $1 and revoked_at is null", [
        account.id,
      ]);
      await tx.query(
        `update agents set updated_at = now(), state = case state when 'live' then 'unpublished' else state end,
           suspended_from = case state when 'suspended' then 'unpublished' end
         where account_id = $1 and (state = 'live' or suspended_from = 'live')`,
        [account.id],
      );
      await tx.query("update payout_wallets set state = 'retired' where account_id = $1 and state <> 'retired'", [
        account.id,
      ]);
      await tx.query("delete from agent_drafts where account_id = $1", [account.id]);
      await tx.query("delete from sign_in_users where account_id = $1", [account.id]);
    }
    const { rows } = await tx.query(
      "update accounts set state = $2 where id = $1 and state = any($3) returning id, handle, state",
      [account.id, to, from],
    );
    if (rows[0]) {
      await record?.(tx);
      return rows[0];
    }
    throw new ApiError("conflict", `"${account.handle}" is not ${from.join(" or ")}.`);
  });
}

/** The rows that a new run refers to (credits/holds.ts): one that is just beginning is waited for, and the next ones wait. */
async function lockAgainstRuns(tx: Transaction, id: AccountId): Promise<void> {
  await tx.query("select from accounts where id = $1 for update", [id]);
  await tx.query("select from agents where account_id = $1 order by id for update", [id]);
}

interface MoveOptions {
  /** Set where the account's own holder closes it. */
  readonly byHolder?: ByHolder;
  /** Written in the same transaction, once the account has moved. */
  readonly record?: (tx: Transaction) => Promise<void>;
}

/**
 * Closes an account for its holder, for good. Its own handle is asked for, to be sure: 422 for another. 403 for a session that is not
 * fresh: whoever took one would end the agents and lose the credits.
 */
export async function closeOwnAccount(
  db: Database,
  session: SignedIn,
  account: Account,
  asked: AskedClosing,
): Promise<Account> {
  if (asked.handle.trim().toLowerCase() !== account.handle) {
    throw new ApiError("invalid_value", '"handle" must be the account\'s own, to be sure.', {
      body: { field: "handle" },
    });
  }
  await requireFreshFor(db, session, account.id);
  return moveAccount(db, account, "close", { byHolder: asked });
}

interface AskedClosing extends ByHolder {
  readonly handle: string;
}
