import type { Migration } from "../../shared/migrate.ts";

/** What of a payee's payments came from self-payers: each of them paid that one payee alone. */
export const selfPayersOfPayees: Migration = {
  name: "0034-self-payers-of-payees",
  online: [
    "drop index concurrently if exists accounts_self_payers",
    "create index concurrently if not exists accounts_self_payers on accounts (env, first_payee) where is_self_payer",
  ],
};
