import type { Queryable } from "../../shared/postgres.ts";
import { urlLengthMax } from "../../shared/x402.ts";
import { legalFor } from "../payment-states.ts";
import type { Claim, Outcome } from "../schemes/scheme.ts";

/** While so many listing requests wait, another paid resource is listed only after its next payment. */
const listingRequestsMax = 10_000;
/** How many of them may be for one wallet on one host. */
export const sellersRequestsMax = 100;

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
 * Stores how payments ended, adds them to the public record, and keeps what is to be listed for a success or what a failure
 * cost: all in one statement, for a block of a chain ends many payments at once. Of each payment, false when another daemon
 * has finished it meanwhile. What Hedera agreed on is final, so the signed bytes are forgotten; a chain of blocks can take back
 * what is in the newest (schemes/exact-evm/forget-final.ts).
 */
export async function finishPayments(db: Queryable, ended: readonly EndedPayment[]): Promise<readonly boolean[]> {
  const failures = ended.map(({ outcome }) => (outcome.outcome === "failed" ? outcome : undefined));
  const { rows } = await db.query({
    name: "finish-payments",
    text: `
      with given as (
        select distinct on (id, token) *
          from unnest($1::bigint[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::boolean[], $8::boolean[],
                      $9::boolean[], $10::boolean[], $11::integer[], $13::text[])
               with ordinality as g (id, token, outcome, sent, reason, message, may_retry, is_charged, by_another, is_delivered,
                                     took_ms, judged, item)
         order by id, token, item
      ), held as materialized (
        select given.*, p.offer as held_offer, p.offer_digest as held_digest
          from payments p join given on p.id = given.id and p.claim_token = given.token
         where ${legalFor("finish", "p")} and (given.judged is null or given.judged = coalesce(p.transaction_id, ''))
         order by p.id for update of p
      ), ended as (
        update payments p
           set state = held.outcome, transaction_id = coalesce(nullif(held.sent, ''), p.transaction_id),
               error_reason = held.reason, error_message = held.message, retryable = held.may_retry, finished_at = now(),
               network_fee = case when coalesce(nullif(held.sent, ''), p.transaction_id) is not distinct from p.transaction_id
                                  then p.network_fee end,
               offer = null, offer_digest = null, landed_by_another = held.by_another,
               raw_transactions = case when p.nonce is null then null else p.raw_transactions end,
               delivered_at = case when held.is_delivered then now() end
          from held where p.id = held.id
        returning p.*, held.item, held.held_offer, held.held_digest, held.is_charged, held.took_ms
      ), offered as (
        insert into discovery_offers (digest, offer, seller)
        select held_digest, held_offer, seller
          from ended cross join lateral (
                 select lower(pay_to) || ' ' || substring(held_offer from '"resource":"https?://([^/"]+)') as seller) as of_seller
         where state = 'settled' and held_offer is not null
           and $12 > (select count(*) from (select from discovery_offers limit $12) as waiting)
           and $14 > (select count(*) from (select from discovery_offers o where o.seller = of_seller.seller limit $14) as its)
            on conflict do nothing
      ), charged as (
        insert into payer_failures (network, payer) select network, payer from ended where is_charged
      ), recorded as (
        insert into transactions (network, status, kind, payer, pay_to, asset, amount_atomic, resource_url, tx_id,
                                  error_reason, total_ms)
        select network, state, 'settle', payer, pay_to, asset, amount_atomic, left(resource_url, ${urlLengthMax}), transaction_id,
               error_reason, took_ms
          from ended order by item
      )
      select item from ended`,
    values: [
      ended.map(({ claim }) => claim.id),
      ended.map(({ claim }) => claim.token),
      ended.map(({ outcome }) => outcome.outcome),
      ended.map(({ outcome }) => outcome.transaction),
      failures.map((failed) => failed?.reason ?? null),
      failures.map((failed) => failed?.message ?? null),
      failures.map((failed) => failed?.retryable ?? false),
      failures.map((failed) => failed?.charged ?? false),
      ended.map(({ outcome }) => outcome.outcome === "settled" && outcome.byAnother === true),
      ended.map(({ outcome, delivered }) => delivered && outcome.outcome === "settled"),
      ended.map(({ totalMs }) => Math.min(Math.max(0, totalMs), totalMsMax)),
      listingRequestsMax,
      ended.map(({ claim, outcome }) => (outcome.outcome === "failed" ? claim.transaction : undefined) ?? null),
      sellersRequestsMax,
    ],
  });
  const finished = new Set(rows.map(({ item }) => Number(item)));
  return ended.map((_, index) => finished.has(index + 1));
}

/** What the column holds: 24 days, and a payment may be unknown for longer. */
export const totalMsMax = 2_147_483_647;

/** `transaction`: what the chain was asked about. Where another was signed meanwhile, its failure is not the payment's. */
export type JudgedClaim = Claim & { readonly transaction?: string };

export interface EndedPayment {
  readonly claim: JudgedClaim;
  readonly outcome: Exclude<Outcome, { outcome: "unknown" }>;
  readonly totalMs: number;
  /** This caller is told of the success. */
  readonly delivered: boolean;
}
