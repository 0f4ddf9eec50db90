import type { Migration } from "../../shared/migrate.ts";

export const walletKeys: Migration = {
  name: "0118-wallet-keys",
  sql: `
    -- The key of the Hedera account when it signed, in hexadecimal; as it was found later where that was not noted. Null on EVM chains.
    alter table payout_wallets add column proved_key text;
  `,
};
