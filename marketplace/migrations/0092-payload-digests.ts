import type { Migration } from "../../shared/migrate.ts";

export const payloadDigests: Migration = {
  name: "0092-payload-digests",
  sql: `
    -- Of the message that a payment's payer signed, and of the signature: what else comes under its id is not that payment.
    alter table paid_calls add column payload_digest bytea;
  `,
};
