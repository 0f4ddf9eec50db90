import type { Migration } from "../../shared/migrate.ts";

export const newPaymentsUnfinished: Migration = {
  name: "0036-new-payments-unfinished",
  sql: `
    -- A new payment's id is in unfinished_payments for the first time: there is no other row to look out for, and to write of that it was not found.
    create or replace function hold_claimed_payment() returns trigger language plpgsql as $$
    begin
      if tg_op = 'INSERT' then
        if new.state in ('claimed', 'broadcast', 'unknown') then insert into unfinished_payments (payment_id) values (new.id); end if;
      else
        insert into unfinished_payments (payment_id) values (new.id) on conflict do nothing;
      end if;
      insert into payment_holds as h (place, network, payment_key, payer, asset, amount, until, releasable, counted)
      values (place_of(new.network, new.payment_key, new.payer, new.asset), new.network, new.payment_key, new.payer, new.asset, new.amount_atomic, 'infinity', false, false)
      on conflict (place) do update
        set until = 'infinity', releasable = false, settled_at = null, transaction_id = null,
            amount = greatest(h.amount, excluded.amount), counted = h.counted and h.amount >= excluded.amount;
      return null;
    end $$;
  `,
};
