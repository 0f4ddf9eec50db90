import { toSafeNumber } from "../../shared/amounts.ts";
import { ApiError } from "../../shared/errors.ts";
import { type Database, inTransaction } from "../../shared/postgres.ts";
import type { AccountId } from "../ids.ts";
import type { Credits } from "./amount.ts";
import { readBalances } from "./balance.ts";
import { transfer } from "./ledger.ts";

/** Makes earned credits spendable. 422 when there are fewer. Answers what the account has then. */
export async function moveEarnings(
  db: Database,
  accountId: AccountId,
  amount: Credits,
): Promise<{ credits: number; earned_credits: number }> {
  return inTransaction(db, async (tx) => {
    // All that spends an account's earnings waits for this row, so what is read after it stays true.
    await tx.query("select from balances where account_id = $1 for update", [accountId]);
    const [balance] = await readBalances(tx, [accountId]);
    const { earned } = balance!;
    if (earned < amount) {
      throw new ApiError("invalid_value", `"credits" must be at most ${earned}, which is what was earned.`, {
        body: { field: "credits" },
      });
    }
    const spendable = await transfer(tx, accountId, amount);
    return { credits: toSafeNumber(spendable), earned_credits: toSafeNumber(earned) - toSafeNumber(amount) };
  });
}
