import type { Migration } from "../../shared/migrate.ts";

/** A settlement that waits to be counted says in which token it was: the volume is that in USDC. */
export const assetsCounted: Migration = {
  name: "0050-assets-counted",
  sql: `
    alter table uncounted_settlements add column asset text;
    create or replace function queue_settlements() returns trigger language plpgsql as $$
    begin
      insert into uncounted_settlements (network, day, status, payer, asset, amount_atomic, total_ms, transaction_id)
      select network, (created_at at time zone 'utc')::date, status, payer, asset, coalesce(amount_atomic, 0), greatest(total_ms, 0), id
        from recorded
       where kind = 'settle';
      return null;
    end $$;
  `,
};
