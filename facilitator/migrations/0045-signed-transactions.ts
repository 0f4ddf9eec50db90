import type { Migration } from "../../shared/migrate.ts";

/** Payments are found by what was signed for them besides the transaction that they have; few have more. */
export const signedTransactions: Migration = {
  name: "0045-signed-transactions",
  online: [
    "drop index concurrently if exists payments_signed",
    `create index concurrently if not exists payments_signed on payments using gin (signed_transactions)
      where signed_transactions <> '{}' and signed_transactions <> array[transaction_id]`,
  ],
};
