import type { Migration } from "../../shared/migrate.ts";

export const newWallets: Migration = {
  name: "0112-new-wallets",
  sql: `
    -- Wallets that signed in for the first time in a day (UTC), by who showed them: an address, a /64 network or a site of such.
    create table new_wallets (
      client   text not null,
      day      date not null,
      wallets  integer not null,
      primary key (client, day)
    );
  `,
};
