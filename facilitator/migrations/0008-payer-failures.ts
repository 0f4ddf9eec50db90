import type { Migration } from "../../shared/migrate.ts";

export const payerFailures: Migration = {
  name: "0008-payer-failures",
  sql: `
    -- Each time a payer's settlement failed on the chain and cost a network fee. Apart from payments, whose rows begin
    -- anew when a payment is tried again.
    create table payer_failures (
      network    text not null,
      payer      text not null,
      failed_at  timestamptz not null default now()
    );
    create index payer_failures_of_payer on payer_failures (network, payer, failed_at);
    create index payer_failures_over on payer_failures (failed_at);
    insert into payer_failures (network, payer, failed_at)
    select network, payer, finished_at from payments
     where state = 'failed' and transaction_id is not null and finished_at > now() - interval '1 day';
    drop index payments_failed_lately;
  `,
};
