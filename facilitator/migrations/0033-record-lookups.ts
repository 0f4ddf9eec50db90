import type { Migration } from "../../shared/migrate.ts";

/** For the pages of who is paid most, and of a payment of which only its nonce is known. */
export const recordLookups: Migration = {
  name: "0033-record-lookups",
  online: [
    "drop index concurrently if exists accounts_by_payments",
    "create index concurrently if not exists accounts_by_payments on accounts (env, received desc, account) where received > 0",
    "drop index concurrently if exists accounts_by_volume",
    "create index concurrently if not exists accounts_by_volume on accounts (env, received_volume desc, account) where received > 0",
    "drop index concurrently if exists accounts_by_payers",
    "create index concurrently if not exists accounts_by_payers on accounts (env, payers desc, account) where received > 0",
    "drop index concurrently if exists payments_by_signed_nonce",
    // What it has of a payment never changes, and a hash is four bytes.
    "create index concurrently if not exists payments_by_signed_nonce on payments using hash (right(payment_key, 66)) where network like 'eip155:%'",
  ],
};
