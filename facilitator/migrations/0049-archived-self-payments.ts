import type { Migration } from "../../shared/migrate.ts";

/** What self-payers paid and left for the archive is taken out of the self scopes too when its payer ceases to be one. */
export const archivedSelfPayments: Migration = {
  name: "0049-archived-self-payments",
  sql: `
    -- Of payers who are self-payers; a span is the whole square root of the milliseconds.
    create table archived_self_payments (
      payer          text not null,
      network        text not null,
      day            date not null,
      status         text not null,
      span           integer not null,
      settlements    bigint not null,
      volume_atomic  numeric not null,
      primary key (payer, network, day, status, span)
    );
  `,
};
