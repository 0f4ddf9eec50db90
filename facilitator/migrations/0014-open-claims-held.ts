import type { Migration } from "../../shared/postgres.ts";

export const openClaimsHeld: Migration = {
  name: "0014-open-claims-held",
  sql: `
    -- A claim that anybody may take over, since whoever made it is gone, holds no longer than a verification: nobody may
    -- ever come back to it, and an authorization can be good for years.
    create function hold_open_claim() returns trigger language plpgsql as $$
    begin
      update payment_holds h
         set releasable = true, until = least(new.expires_at, now() + interval '180 seconds')
       where h.network = new.network and h.payment_key = new.payment_key and h.payer = new.payer and h.asset = new.asset;
      return null;
    end $$;
    create trigger hold_open_claim after update of retryable on payments
      for each row when (new.state = 'claimed' and new.retryable and not old.retryable) execute function hold_open_claim();

    drop trigger hold_reclaimed_payment on payments;
    create trigger hold_reclaimed_payment after update of state on payments
      for each row when (new.state = 'claimed' and not new.retryable and (old.state = 'failed' or old.retryable))
      execute function hold_claimed_payment();
  `,
};
