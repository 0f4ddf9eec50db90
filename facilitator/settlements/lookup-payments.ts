import type { Queryable } from "../../shared/postgres.ts";
import { type PaymentRecord, readPaymentRecord } from "./payment-record.ts";

/** The rows of these payments in the same order; undefined for one that was never claimed. */
export async function lookupPayments(
  db: Queryable,
  keys: ReadonlyArray<{ readonly network: string; readonly key: string }>,
): Promise<ReadonlyArray<PaymentRecord | undefined>> {
  const { rows } = await db.query({
    name: "lookup-payments",
    text: `select p.network, p.payment_key, p.state, p.payer, p.pay_to, p.asset, p.amount_atomic, p.transaction_id,
                  p.error_reason, p.error_message, p.retryable, p.expires_at, p.message_digest, p.terms_digest,
                  p.resource_url, p.landed_by_another
             from payments p
             join unnest($1::text[], $2::text[]) as asked (network, payment_key)
               on p.network = asked.network and p.payment_key = asked.payment_key`,
    values: [keys.map(({ network }) => network), keys.map(({ key }) => key)],
  });
  const found = new Map<string, PaymentRecord>(
    rows.map((row) => [`${row.network} ${row.payment_key}`, readPaymentRecord(row)]),
  );
  return keys.map(({ network, key }) => found.get(`${network} ${key}`));
}
