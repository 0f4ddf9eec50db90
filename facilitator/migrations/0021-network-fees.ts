import type { Migration } from "../../shared/migrate.ts";

export const networkFees: Migration = {
  name: "0021-network-fees",
  sql: `
    -- What the fee payer paid for the transaction that ended the payment, base units of the network's own token.
    alter table payments add column network_fee numeric(78,0);

    -- Why a network did not settle, as the copies saw it, by hour.
    create table outage_causes (
      subject  text not null,
      hour     timestamptz not null,
      cause    text not null check (cause in ('away', 'empty')),
      primary key (subject, hour, cause)
    );
  `,
};
