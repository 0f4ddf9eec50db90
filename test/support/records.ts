import type { Database } from "../../shared/postgres.ts";

/** One row of the public record, as tests make it up. */
export interface TestRecord {
  readonly network: string;
  readonly status: "settled" | "failed" | "rejected";
  readonly kind: "verify" | "settle";
  readonly payer: string | null;
  readonly amount: bigint;
  readonly totalMs: number;
  readonly createdAt: Date;
  readonly payTo?: string;
  readonly resourceUrl?: string;
  readonly errorReason?: string;
  readonly txId?: string;
}

export async function insertRecords(db: Database, records: readonly TestRecord[]): Promise<void> {
  const column = (value: (record: TestRecord) => unknown) => records.map(value);
  await db.query(
    `insert into transactions (network, status, kind, payer, amount_atomic, total_ms, created_at, pay_to, resource_url, error_reason, tx_id)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::numeric[], $6::int[], $7::timestamptz[],
                          $8::text[], $9::text[], $10::text[], $11::text[])`,
    [
      column(({ network }) => network),
      column(({ status }) => status),
      column(({ kind }) => kind),
      column(({ payer }) => payer),
      column(({ amount }) => amount),
      column(({ totalMs }) => totalMs),
      column(({ createdAt }) => createdAt),
      column(({ payTo = null }) => payTo),
      column(({ resourceUrl = null }) => resourceUrl),
      column(({ errorReason = null }) => errorReason),
      column(({ txId = null }) => txId),
    ],
  );
}
