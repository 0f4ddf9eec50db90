import type { Queryable } from "../../shared/postgres.ts";
import { legalFor } from "../payment-states.ts";
import type { Claim, Outcome } from "../schemes/scheme.ts";

/** Beyond so many, what else is paid for waits for its next payment to be listed. */
const listingRequestsMax = 10_000;

/** The holder has not seen the end: once the lease is over, the reconciler looks for it. */
export async function finishUnknown(db: Queryable, { id, token }: Claim, leaseSeconds: number): Promise<boolean> {
  const { rowCount } = await db.query({
    name: "finish-unknown",
    text: `update payments set state = 'unknown', lease_until = now() + make_interval(secs => $3)
            where id = $1 and claim_token = $2 and ${legalFor("finishUnknown")}`,
    values: [id, token, leaseSeconds],
  });
  return rowCount === 1;
}

/**
 * Stores how a payment ended, adds it to the public record, and keeps what is to be listed for a success or what a failure
 * cost: all in one statement. False when another daemon has finished the payment meanwhile. What Hedera agreed on is final, so
 * the signed bytes are forgotten; a chain of blocks can take back what is in the newest (schemes/exact-evm/forget-final.ts).
 */
export async function finishPayment(
  db: Queryable,
  { id, token }: Claim,
  outcome: Exclude<Outcome, { outcome: "unknown" }>,
  { totalMs, delivered }: { readonly totalMs: number; readonly delivered: boolean },
): Promise<boolean> {
  const failed = outcome.outcome === "failed" ? outcome : undefined;
  const { rowCount } = await db.query({
    name: "finish-payment",
    text: `
      with held as (
        select offer, offer_digest from payments where id = $1 and claim_token = $2 and offer is not null
      ), ended as (
        update payments
           set state = $3, transaction_id = coalesce(nullif($4, ''), transaction_id), error_reason = $5,
               error_message = $6, retryable = $7, finished_at = now(), offer = null, offer_digest = null,
               landed_by_another = $12, raw_transactions = case when nonce is null then null else raw_transactions end,
               delivered_at = case when $9 then now() end
         where id = $1 and claim_token = $2 and ${legalFor("finish")}
        returning *
      ), offered as (
        insert into discovery_offers (digest, offer)
        select offer_digest, held.offer from held cross join (select from ended where state = 'settled') as settled
         where $10 > (select count(*) from (select from discovery_offers limit $10) as waiting)
            on conflict do nothing
      ), charged as (
        insert into payer_failures (network, payer) select network, payer from ended where $11
      )
      insert into transactions (network, status, kind, payer, pay_to, asset, amount_atomic, resource_url, tx_id,
                                error_reason, total_ms)
      select network, $3, 'settle', payer, pay_to, asset, amount_atomic, resource_url, transaction_id, $5, $8
        from ended`,
    values: [
      id,
      token,
      outcome.outcome,
      outcome.transaction,
      failed?.reason ?? null,
      failed?.message ?? null,
      failed?.retryable ?? false,
      totalMs,
      delivered && outcome.outcome === "settled",
      listingRequestsMax,
      failed?.charged ?? false,
      outcome.outcome === "settled" && outcome.byAnother === true,
    ],
  });
  return rowCount === 1;
}
