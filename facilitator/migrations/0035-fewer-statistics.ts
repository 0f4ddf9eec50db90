import type { Migration } from "../../shared/migrate.ts";

export const fewerStatistics: Migration = {
  name: "0035-fewer-statistics",
  sql: `
    -- ANALYZE keeps samples of a column's values. Of what no query looks for it keeps none, above all no signed bytes; of what is different
    -- in each row it keeps few, since they say nothing but how many there are.
    alter table payments
      alter column claim_token set statistics 0, alter column raw_transactions set statistics 0,
      alter column signed_transactions set statistics 0, alter column error_message set statistics 0,
      alter column offer set statistics 0, alter column offer_digest set statistics 0,
      alter column message_digest set statistics 0, alter column terms_digest set statistics 0,
      alter column broadcast_at set statistics 0, alter column delivered_at set statistics 0,
      alter column payment_key set statistics 5, alter column transaction_id set statistics 5,
      alter column lease_until set statistics 5, alter column finished_at set statistics 5;
    alter index payments_by_signed_nonce alter column 1 set statistics 5;
    alter table payment_holds
      alter column holders set statistics 0,
      alter column place set statistics 5, alter column payment_key set statistics 5, alter column transaction_id set statistics 5;
    alter table transactions alter column tx_id set statistics 5;
  `,
};
