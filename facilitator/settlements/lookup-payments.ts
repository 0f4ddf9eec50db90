import type { Queryable } from "../../shared/postgres.ts";
import { type PaymentRecord, readPaymentRecord, recordColumns } from "./payment-record.ts";

/** The rows of these payments in the same order; undefined for one that was never claimed. */
export async function lookupPayments(
  db: Queryable,
  keys: ReadonlyArray<{ readonly network: string; readonly key: string }>,
): Promise<ReadonlyArray<PaymentRecord | undefined>> {
  const { rows } = await db.query({
    name: "lookup-payments",
    text: `select p.network, p.payment_key, ${recordColumns}
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
