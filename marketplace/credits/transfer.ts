import { toSafeNumber } from "../../shared/amounts.ts";
import { ApiError } from "../../shared/errors.ts";
import { type Database, inTransaction, type Queryable, type Transaction } from "../../shared/postgres.ts";
import { historyDays } from "../history-days.ts";
import { usedForAnother } from "../http/idempotency-key.ts";
import type { AccountId } from "../ids.ts";
import type { Credits } from "./amount.ts";
import { readBalances } from "./balance.ts";
import { transfer } from "./ledger.ts";

/** Makes earned credits spendable. 422 when there are fewer. Answers what the account has then. */
export async function moveEarnings(db: Database, accountId: AccountId, amount: Credits): Promise<Moved> {
  return inTransaction(db, async (tx) => {
    await lockBalance(tx, accountId);
    return moveLocked(tx, accountId, amount);
  });
}

/**
 * The same, once for each `idempotencyKey` of the account: an equal request moves nothing and is answered as the first. 409 when the key
 * was used for another amount. A request that was refused leaves no trace.
 */
export async function moveEarningsNamed(
  db: Database,
  accountId: AccountId,
  amount: Credits,
  idempotencyKey: string,
): Promise<{ readonly moved: Moved; readonly replayed: boolean }> {
  return inTransaction(db, async (tx) => {
    await lockBalance(tx, accountId);
    const { rows } = await tx.query<Record<"amount" | "credits" | "earned_credits", bigint>>(
      "select amount, credits, earned_credits from moved_earnings where account_id = $1 and idempotency_key = $2",
      [accountId, idempotencyKey],
    );
    const [before] = rows;
    if (before && before.amount !== amount) throw usedForAnother();
    if (before) {
      const { credits, earned_credits: earned } = before;
      return { moved: { credits: toSafeNumber(credits), earned_credits: toSafeNumber(earned) }, replayed: true };
    }
    const moved = await moveLocked(tx, accountId, amount);
    await tx.query(
      `insert into moved_earnings (account_id, idempotency_key, amount, credits, earned_credits)
       values ($1, $2, $3, $4, $5)`,
      [accountId, idempotencyKey, amount, moved.credits, moved.earned_credits],
    );
    return { moved, replayed: false };
  });
}

/** Names of requests are kept as long as those of runs. */
export async function forgetMovedEarnings(db: Queryable): Promise<void> {
  await db.query(`delete from moved_earnings where moved_at < now() - interval '${historyDays} days'`);
}

/** The same, once for each `reference` of the account, such as a form's: false the second time, when nothing is moved. */
export async function moveEarningsOnce(
  db: Database,
  accountId: AccountId,
  amount: Credits,
  reference: string,
): Promise<boolean> {
  const named = `transfer ${accountId} ${reference}`;
  return inTransaction(db, async (tx) => {
    await lockBalance(tx, accountId);
    const { rowCount } = await tx.query("select from postings where reference = $1", [named]);
    if (rowCount === 1) return false;
    await moveLocked(tx, accountId, amount, named);
    return true;
  });
}

interface Moved {
  readonly credits: number;
  readonly earned_credits: number;
}

/** All that spends an account's earnings waits for this row, so what is read after it stays true. */
async function lockBalance(tx: Transaction, accountId: AccountId): Promise<void> {
  await tx.query("select from balances where account_id = $1 for update", [accountId]);
}

async function moveLocked(tx: Transaction, accountId: AccountId, amount: Credits, reference?: string): Promise<Moved> {
  const [balance] = await readBalances(tx, [accountId]);
  const { earned } = balance!;
  if (earned < amount) {
    throw new ApiError("invalid_value", `"credits" must be at most ${earned}, which is what was earned.`, {
      body: { field: "credits" },
    });
  }
  const spendable = await transfer(tx, accountId, amount, reference);
  return { credits: toSafeNumber(spendable), earned_credits: toSafeNumber(earned) - toSafeNumber(amount) };
}
