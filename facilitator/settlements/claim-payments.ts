import { randomUUID } from "node:crypto";
import type { Queryable } from "../../shared/postgres.ts";
import { failuresOfADayWithin, failuresWithin } from "../limits/failure-windows.ts";
import { claimableAgain } from "../payment-states.ts";
import type { Claim, WantedClaim } from "../schemes/scheme.ts";

/**
 * Claims payments, each for one of its callers, in one statement: of several that claim one payment, the first. In the
 * order in which holds are placed and released, so that two copies of the daemon seldom wait for each other.
 */
export async function claimPayments(
  db: Queryable,
  claims: readonly WantedClaim[],
  leaseSeconds: number,
): Promise<ReadonlyArray<Claim | undefined>> {
  const tokens = claims.map(() => randomUUID());
  const { rows } = await db.query({
    name: "claim-payments",
    text: `
      insert into payments (network, payment_key, state, claim_token, scheme, payer, pay_to, asset, amount_atomic, resource_url,
                            expires_at, lease_until, offer, offer_digest, message_digest, terms_digest)
      select network, payment_key, 'claimed', token, scheme, payer, pay_to, asset, amount, resource_url,
             expires_at, now() + make_interval(secs => $1), offer, offer_digest, message_digest, terms_digest
        from (select distinct on (network, payment_key) *
                from unnest($2::text[], $3::text[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[], $9::numeric[],
                            $10::text[], $11::timestamptz[], $12::text[], $13::bytea[], $14::bytea[], $15::text[], $16::integer[],
                            $17::integer[])
                     with ordinality as a (network, payment_key, token, scheme, payer, pay_to, asset, amount,
                                           resource_url, expires_at, offer, offer_digest, message_digest, terms_digest, failures_max,
                                           failures_per_day_max, item)
               where ${payerMay("a")}
               order by network, payment_key, item) as asked
       order by network, payer, asset, payment_key collate "C"
      on conflict (network, payment_key) do update
        set state = 'claimed', claim_token = excluded.claim_token, payer = excluded.payer, pay_to = excluded.pay_to,
            asset = excluded.asset, amount_atomic = excluded.amount_atomic, resource_url = excluded.resource_url,
            expires_at = excluded.expires_at, lease_until = excluded.lease_until, fee_payer = null, nonce = null,
            transaction_id = null, raw_transactions = null, broadcast_at = null, error_reason = null, error_message = null,
            finished_at = null, taken_back_at = null, retryable = false, network_fee = null, offer = excluded.offer, offer_digest = excluded.offer_digest,
            message_digest = excluded.message_digest, terms_digest = excluded.terms_digest
        where ${claimableAgain("payments")}
      returning id, claim_token as token`,
    values: [
      leaseSeconds,
      ...columnsOf(claims, tokens),
      claims.map(({ terms }) => terms.failuresMax),
      claims.map(({ terms }) => terms.failuresPerDayMax),
    ],
  });
  const won = new Map<string, bigint>(rows.map(({ id, token }) => [token, id]));
  return tokens.map((token) => {
    const id = won.get(token);
    return id === undefined ? undefined : { id, token };
  });
}

/** What both statements that claim take of each payment, an array a column. */
export function columnsOf(claims: readonly WantedClaim[], tokens: readonly string[]): readonly unknown[] {
  return [
    claims.map(({ network }) => network),
    claims.map(({ payment }) => payment.key),
    tokens,
    claims.map(({ scheme }) => scheme),
    claims.map(({ payment }) => payment.payer),
    claims.map(({ payment }) => payment.payTo),
    claims.map(({ payment }) => payment.asset),
    claims.map(({ payment }) => payment.amount),
    claims.map(({ terms }) => terms.resourceUrl ?? null),
    claims.map(({ payment }) => payment.expiresAt),
    claims.map(({ terms }) => terms.listingRequest?.text ?? null),
    claims.map(({ terms }) => terms.listingRequest?.digest ?? null),
    claims.map(({ payment }) => payment.messageDigest),
    claims.map(({ terms }) => terms.termsDigest ?? null),
  ];
}

/** SQL: whether not too many settlements of a payer failed at our cost lately. */
export function payerMay(asked: string): string {
  const failed = (within: string) => `select count(*) from payer_failures f
           where f.network = ${asked}.network and f.payer = ${asked}.payer and f.failed_at > now() - interval '${within}'`;
  return `(${asked}.failures_max = 0 or ${asked}.failures_max > (${failed(failuresWithin)}))
      and (${asked}.failures_per_day_max = 0 or ${asked}.failures_per_day_max > (${failed(failuresOfADayWithin)}))`;
}
