import { randomUUID } from "node:crypto";
import type { Queryable } from "../../shared/postgres.ts";
import type { Claim, SignedClaim, WantedClaim } from "../schemes/scheme.ts";
import { columnsOf, payerMay } from "./claim-payments.ts";

/** Which of these payments have no claim yet, and payers that may settle; of several that are one payment, the first. */
export async function claimable(db: Queryable, wanted: readonly WantedClaim[]): Promise<readonly boolean[]> {
  const { rows } = await db.query({
    name: "claimable-payments",
    text: `
      select distinct on (network, payment_key) item
        from unnest($1::text[], $2::text[], $3::text[], $4::integer[], $5::integer[])
             with ordinality as a (network, payment_key, payer, failures_max, failures_per_day_max, item)
       where not exists (select from payments p where p.network = a.network and p.payment_key = a.payment_key)
         and ${payerMay("a")}
       order by network, payment_key, item`,
    values: [
      wanted.map(({ network }) => network),
      wanted.map(({ payment }) => payment.key),
      wanted.map(({ payment }) => payment.payer),
      wanted.map(({ terms }) => terms.failuresMax),
      wanted.map(({ terms }) => terms.failuresPerDayMax),
    ],
  });
  const found = new Set(rows.map(({ item }) => Number(item)));
  return wanted.map((_, index) => found.has(index + 1));
}

/**
 * Claims payments that have no claim yet, with what was signed for them: their rows are written once, not claimed first and then written
 * anew with all their indexes. Another caller's claim of one of them is a unique violation. In the order of claimPayments.
 */
export async function claimSigned(
  db: Queryable,
  signed: readonly SignedClaim[],
  leaseSeconds: number,
): Promise<readonly Claim[]> {
  return (await insertSigned(db, signed, leaseSeconds, all)) as readonly Claim[];
}

/** Like claimSigned, but skips payments that another caller has claimed and payers that may not settle: undefined for those. */
export function claimSignedIfFree(
  db: Queryable,
  signed: readonly SignedClaim[],
  leaseSeconds: number,
): Promise<ReadonlyArray<Claim | undefined>> {
  return insertSigned(db, signed, leaseSeconds, thoseFree);
}

const all = { name: "claim-signed-payments", where: "true", onConflict: "" };
const thoseFree = {
  name: "claim-signed-payments-if-free",
  where: payerMay("a"),
  onConflict: "on conflict (network, payment_key) do nothing",
};

async function insertSigned(
  db: Queryable,
  signed: readonly SignedClaim[],
  leaseSeconds: number,
  which: typeof all,
): Promise<ReadonlyArray<Claim | undefined>> {
  const tokens = signed.map(() => randomUUID());
  const wanted = signed.map((one) => one.wanted);
  const lasts: number[] = [];
  for (const { broadcast } of signed) lasts.push((lasts.at(-1) ?? 0) + broadcast.raw.length);
  const { rows } = await db.query({
    name: which.name,
    text: `
      insert into payments (network, payment_key, state, claim_token, scheme, payer, pay_to, asset, amount_atomic, resource_url,
                            expires_at, lease_until, offer, offer_digest, message_digest, terms_digest, transaction_id,
                            raw_transactions, fee_payer, nonce, broadcast_at, signed_transactions)
      select network, payment_key, 'broadcast', token, scheme, payer, pay_to, asset, amount, resource_url,
             expires_at, now() + make_interval(secs => $1), offer, offer_digest, message_digest, terms_digest, transaction_id,
             ($16::bytea[])[first_raw:last_raw], fee_payer, nonce, now(), array[transaction_id]
        from unnest($2::text[], $3::text[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[], $9::numeric[], $10::text[],
                    $11::timestamptz[], $12::text[], $13::bytea[], $14::bytea[], $15::text[], $17::text[], $18::integer[],
                    $19::integer[], $20::text[], $21::bigint[], $22::integer[], $23::integer[])
             as a (network, payment_key, token, scheme, payer, pay_to, asset, amount, resource_url, expires_at, offer, offer_digest,
                   message_digest, terms_digest, transaction_id, first_raw, last_raw, fee_payer, nonce, failures_max, failures_per_day_max)
       where ${which.where}
       order by network, payer, asset, payment_key collate "C"
      ${which.onConflict}
      returning id, claim_token as token`,
    values: [
      leaseSeconds,
      ...columnsOf(wanted, tokens),
      signed.flatMap(({ broadcast }) => broadcast.raw),
      signed.map(({ broadcast }) => broadcast.transaction),
      signed.map(({ broadcast }, index) => (lasts[index] as number) - broadcast.raw.length + 1),
      lasts,
      signed.map(({ broadcast }) => broadcast.feePayer),
      signed.map(({ broadcast }) => broadcast.nonce ?? null),
      wanted.map(({ terms }) => terms.failuresMax),
      wanted.map(({ terms }) => terms.failuresPerDayMax),
    ],
  });
  const ids = new Map<string, bigint>(rows.map(({ id, token }) => [token, id]));
  return tokens.map((token) => {
    const id = ids.get(token);
    return id === undefined ? undefined : { id, token };
  });
}
