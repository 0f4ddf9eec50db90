import { toSafeNumber } from "../../shared/amounts.ts";
import { ApiError } from "../../shared/errors.ts";
import { type Database, inTransaction, type Transaction } from "../../shared/postgres.ts";
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
