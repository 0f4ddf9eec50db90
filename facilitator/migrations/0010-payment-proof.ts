import type { Migration } from "../../shared/migrate.ts";

export const paymentProof: Migration = {
  name: "0010-payment-proof",
  sql: `
    -- What was claimed, so that only a caller who can present a payment is told of it: the digest of what the payer signed,
    -- and that of the quote's terms (shared/x402.ts). Payments claimed before this have neither.
    alter table payments
      add column message_digest bytea,
      add column terms_digest text,
      -- Settled in a transaction that was not one of ours.
      add column landed_by_another boolean not null default false,
      -- Every transaction that was ever signed for the payment, also those that were taken back.
      add column signed_transactions text[] not null default '{}';
  `,
};
