import type { Migration } from "../../shared/migrate.ts";

export const walletReasons: Migration = {
  name: "0056-wallet-reasons",
  sql: `
    -- Why a wallet cannot be paid, as a word beside the sentence; the next check fills it for those that were unpayable before.
    alter table payout_wallets add column reason text;
  `,
};
