import { RecordArchive } from "../../facilitator/archive/record-archive.ts";
import { SchemeRegistry } from "../../facilitator/schemes/registry.ts";
import { createLog } from "../../shared/log.ts";
import type { Environment } from "../../shared/networks.ts";
import type { Database } from "../../shared/postgres.ts";
import type { Bucket } from "../../shared/s3.ts";

/** What reads the public record, of a facilitator that serves no network. */
export function recordNeeds(db: Database, environmentOf: (network: string) => Environment, bucket?: Bucket) {
  const archive = new RecordArchive(bucket, createLog("test", "silent"));
  return { db, archive, schemes: new SchemeRegistry([]), config: { evm: [], hedera: [], environmentOf } };
}

/** One row of the public record, as tests make it up. */
export interface TestRecord {
  readonly network: string;
  readonly status: "settled" | "failed" | "rejected";
  readonly kind: "verify" | "settle";
  readonly payer: string | null;
  readonly asset?: string;
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
    `insert into transactions (network, status, kind, payer, amount_atomic, total_ms, created_at, pay_to, resource_url, error_reason, tx_id, asset)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::numeric[], $6::int[], $7::timestamptz[],
                          $8::text[], $9::text[], $10::text[], $11::text[], $12::text[])`,
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
      column(({ asset = null }) => asset),
    ],
  );
}
