import type { Migration } from "../../shared/migrate.ts";

export const paymentAsItIs: Migration = {
  name: "0024-payment-as-it-is",
  sql: `
    -- A payment as it is when this is called. What a statement joins is as it was when the statement began: beside place_holds,
    -- which waits for locks, that can be before the claim that place_holds has seen.
    create function payment_as_it_is(wanted bigint) returns setof payments strict volatile rows 1 language plpgsql as $$
    begin
      return query select * from payments where id = wanted;
    end $$;
  `,
};
