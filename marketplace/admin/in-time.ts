import { ApiError } from "../../shared/errors.ts";
import { type Database, inTransaction, type Transaction } from "../../shared/postgres.ts";

/** Searches in a transaction of five seconds at most: none may occupy the database for longer. */
export async function inTime<T>(db: Database, work: (tx: Transaction) => Promise<T>): Promise<T> {
  try {
    return await inTransaction(db, async (tx) => {
      await tx.query("set local statement_timeout = '5s'");
      return work(tx);
    });
  } catch (error) {
    if ((error as { code?: string }).code !== "57014") throw error;
    throw new ApiError(
      "unavailable",
      "The search took too long. A payment's key (asset:payer:nonce) finds it at once.",
      {
        cause: error,
      },
    );
  }
}
