import type { Migration } from "../../shared/migrate.ts";

export const paidCalls: Migration = {
  name: "0005-paid-calls",
  sql: `
    -- One row a payment on the per-call rail, whatever its encoding. What is missing of the two, output and
    -- transaction_id, is what remains to be done; the post that holds the lease does it.
    create table paid_calls (
      network         text not null,
      payment_key     text not null,
      -- An agent's id, or the name of what the platform sells itself.
      product         text not null,
      -- SHA-256 of product and input: a payment buys the call it was first used for.
      call_digest     bytea not null,
      -- The terms it was first used under; later settlements repeat them although the price may have moved.
      requirements    json not null,
      -- The payment itself, where it must go on although the buyer does not come back: bought credits.
      proof           json,
      payer           text,
      run_id          text not null,
      output          json,
      receipt         json,
      transaction_id  text,
      holder          uuid,
      lease_until     timestamptz,
      delivered_at    timestamptz,
      created_at      timestamptz not null default now(),
      updated_at      timestamptz not null default now(),
      primary key (network, payment_key),
      check ((holder is null) = (lease_until is null))
    );
    create index paid_calls_to_go_on on paid_calls (updated_at)
      where proof is not null and (output is null or transaction_id is null);
  `,
};
