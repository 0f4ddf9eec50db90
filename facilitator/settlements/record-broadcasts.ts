import type { Queryable } from "../../shared/postgres.ts";
import { legalFor } from "../payment-states.ts";
import type { Broadcast, Claim } from "../schemes/scheme.ts";

/** A payment is signed for again only when what was signed before is void: older ones than these cannot land. */
const signedMax = 100;

/** Stores what was signed for claimed payments, in one statement. Of each, false when its claim was lost meanwhile. */
export async function recordBroadcasts(
  db: Queryable,
  sent: readonly ClaimedBroadcast[],
  leaseSeconds: number,
): Promise<readonly boolean[]> {
  const raws = sent.flatMap(({ broadcast }) => broadcast.raw);
  const lasts: number[] = [];
  for (const { broadcast } of sent) lasts.push((lasts.at(-1) ?? 0) + broadcast.raw.length);
  const { rows } = await db.query({
    name: "record-broadcasts",
    text: `
      with given as (
        select distinct on (id, token) *
          from unnest($1::bigint[], $2::uuid[], $3::text[], $4::integer[], $5::integer[], $6::text[], $7::bigint[])
               with ordinality as g (id, token, transaction_id, first_raw, last_raw, fee_payer, nonce, item)
         order by id, token, item
      ), held as materialized (
        select given.* from payments p join given on p.id = given.id and p.claim_token = given.token
         where ${legalFor("recordBroadcast", "p")} order by p.id for update of p
      )
      update payments p
         set state = 'broadcast', transaction_id = held.transaction_id, broadcast_at = now(),
             raw_transactions = ($8::bytea[])[held.first_raw:held.last_raw], fee_payer = held.fee_payer, nonce = held.nonce,
             lease_until = now() + make_interval(secs => $9), retryable = false,
             signed_transactions = (p.signed_transactions || held.transaction_id)
                                   [greatest(1, cardinality(p.signed_transactions) + 2 - $10):]
        from held where p.id = held.id
      returning held.item`,
    values: [
      sent.map(({ claim }) => claim.id),
      sent.map(({ claim }) => claim.token),
      sent.map(({ broadcast }) => broadcast.transaction),
      sent.map(({ broadcast }, index) => (lasts[index] as number) - broadcast.raw.length + 1),
      lasts,
      sent.map(({ broadcast }) => broadcast.feePayer),
      sent.map(({ broadcast }) => broadcast.nonce ?? null),
      raws,
      leaseSeconds,
      signedMax,
    ],
  });
  const recorded = new Set(rows.map(({ item }) => Number(item)));
  return sent.map((_, index) => recorded.has(index + 1));
}

export interface ClaimedBroadcast {
  readonly claim: Claim;
  readonly broadcast: Broadcast;
}
