import type { Migration } from "../../shared/migrate.ts";

export const unfinishedPayments: Migration = {
  name: "0030-unfinished-payments",
  sql: `
    -- Payments that have not ended, by their ids alone. Kept apart from payments, so that no index there has a column that a payment's
    -- end changes: the row is then updated in its page, and no index is written.
    create table unfinished_payments (
      payment_id  bigint primary key
    );
    -- Rows have room in their page for how they end. For pages that are new.
    alter table payments set (fillfactor = 85);
    -- Signed bytes of lower nonces are forgotten: the chain can no longer take back what was sent with them.
    alter table signer_nonces add column bytes_from bigint not null default 0;

    -- From here on the functions see to the table, and the version before calls them, too. For a moment no copy can claim a payment.
    lock table payments in share row exclusive mode;

    create or replace function hold_claimed_payment() returns trigger language plpgsql as $$
    begin
      insert into unfinished_payments (payment_id)
      select new.id where new.state in ('claimed', 'broadcast', 'unknown') on conflict do nothing;
      insert into payment_holds as h (place, network, payment_key, payer, asset, amount, until, releasable, counted)
      values (place_of(new.network, new.payment_key, new.payer, new.asset), new.network, new.payment_key, new.payer, new.asset, new.amount_atomic, 'infinity', false, false)
      on conflict (place) do update
        set until = 'infinity', releasable = false, settled_at = null, transaction_id = null,
            amount = greatest(h.amount, excluded.amount), counted = h.counted and h.amount >= excluded.amount;
      return null;
    end $$;

    create or replace function end_hold() returns trigger language plpgsql as $$
    begin
      delete from unfinished_payments where payment_id = new.id;
      update payment_holds h
         set settled_at = case when new.state = 'settled' then clock_timestamp() end,
             transaction_id = new.transaction_id,
             releasable = new.state = 'failed',
             until = case
               when new.state = 'settled' then clock_timestamp() + interval '1 minute'
               when new.retryable and cardinality(h.holders) > 0 then least(new.expires_at, now() + interval '180 seconds')
               else now() end
       where h.place = place_of(new.network, new.payment_key, new.payer, new.asset);
      return null;
    end $$;

    -- Found by the index payments_unfinished: no more than is under way.
    insert into unfinished_payments select id from payments where state in ('claimed', 'broadcast', 'unknown');
  `,
};
