import type { Migration } from "../../shared/migrate.ts";

export const signedWallets: Migration = {
  name: "0054-signed-wallets",
  sql: `
    -- When a proposed wallet signed that could not be paid then. It takes the place of the one before as soon as it can be.
    alter table payout_wallets add column proved_at timestamptz;
  `,
};
