import type { Migration } from "../../shared/migrate.ts";

export const payments: Migration = {
  name: "0001-payments",
  sql: `
    -- One row a payment, whatever its encoding. The unique key is what stops a second settlement.
    create table payments (
      id                bigint generated always as identity primary key,
      network           text not null,
      payment_key       text not null,
      state             text not null check (state in ('claimed', 'broadcast', 'unknown', 'settled', 'failed')),
      claim_token       uuid not null,
      scheme            text not null,
      payer             text not null,
      pay_to            text not null,
      asset             text not null,
      amount_atomic     numeric(78, 0) not null check (amount_atomic > 0),
      fee_payer         text,
      resource_url      text,
      transaction_id    text,
      raw_transactions  bytea[],
      nonce             bigint,
      error_reason      text,
      error_message     text,
      retryable         boolean not null default false,
      expires_at        timestamptz not null,
      lease_until       timestamptz not null,
      delivered_at      timestamptz,
      created_at        timestamptz not null default now(),
      finished_at       timestamptz,
      unique (network, payment_key),
      check (state = 'claimed' or state = 'failed' or transaction_id is not null)
    );
    create index payments_unfinished on payments (lease_until) where state in ('claimed', 'broadcast', 'unknown');
    create index payments_nonce on payments (network, fee_payer, nonce) where nonce is not null;
    create index payments_transaction on payments (transaction_id) where transaction_id is not null;

    -- The next free account nonce of each EVM signer: allocated in the transaction that stores what was signed with it.
    create table signer_nonces (
      network     text not null,
      address     text not null,
      next_nonce  bigint not null check (next_nonce >= 0),
      vacant      bigint[] not null default '{}',
      primary key (network, address)
    );

    -- The public settlement record: every settlement that ended, and every refusal.
    create table transactions (
      id             bigint generated always as identity primary key,
      network        text not null,
      status         text not null check (status in ('settled', 'failed', 'rejected')),
      kind           text not null check (kind in ('verify', 'settle')),
      payer          text,
      pay_to         text,
      asset          text,
      amount_atomic  numeric(78, 0),
      resource_url   text,
      tx_id          text,
      error_reason   text,
      total_ms       integer not null,
      created_at     timestamptz not null default now()
    );
    create index transactions_recent on transactions (created_at desc, id desc);
  `,
};
