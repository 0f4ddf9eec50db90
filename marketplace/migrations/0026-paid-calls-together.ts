import type { Migration } from "../../shared/migrate.ts";

export const paidCallsTogether: Migration = {
  name: "0026-paid-calls-together",
  sql: `
    -- Steps of several paid calls in one statement, each for the post that still holds the call. They are loops, since a join
    -- with arrays is planned anew each time, or else by the size that the table once had.
    create function keep_paid_results(networks text[], keys text[], holders uuid[], outputs json[], receipts json[])
      returns setof uuid language plpgsql as $$
    begin
      for n in 1 .. cardinality(keys) loop
        return query
          update paid_calls set output = outputs[n], receipt = receipts[n], updated_at = now()
           where network = networks[n] and payment_key = keys[n] and holder = holders[n]
          returning holder;
      end loop;
    end $$;

    create function conclude_paid_calls(networks text[], keys text[], holders uuid[], transactions text[], payers text[],
                                        handed_out timestamptz[])
      returns void language plpgsql as $$
    begin
      for n in 1 .. cardinality(keys) loop
        update paid_calls
           set transaction_id = transactions[n], payer = payers[n], delivered_at = handed_out[n], proof = null,
               holder = null, lease_until = null, updated_at = now()
         where network = networks[n] and payment_key = keys[n] and holder = holders[n];
      end loop;
    end $$;
  `,
};
