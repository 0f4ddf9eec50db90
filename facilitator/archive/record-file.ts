import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { z } from "zod";

/** One row of the public record as the archive has it: whole numbers as text, the moment to the microsecond. */
const recordShape = z.object({
  id: z.string().regex(/^\d{1,19}$/),
  network: z.string(),
  status: z.enum(["settled", "failed"]),
  kind: z.enum(["verify", "settle"]),
  payer: z.string().nullable(),
  pay_to: z.string().nullable(),
  asset: z.string().nullable(),
  amount_atomic: z
    .string()
    .regex(/^\d{1,78}$/)
    .nullable(),
  resource_url: z.string().nullable(),
  tx_id: z.string().nullable(),
  error_reason: z.string().nullable(),
  total_ms: z.int(),
  created_at: z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
});
export type ArchivedRecord = z.infer<typeof recordShape>;

/** The columns of `transactions t` as they are archived. */
export const recordColumns = `
  t.id::text, t.network, t.status, t.kind, t.payer, t.pay_to, t.asset, t.amount_atomic::text, t.resource_url, t.tx_id,
  t.error_reason, t.total_ms, to_char(t.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as created_at`;

const unpackedMax = 64_000_000;

/** A line of JSON a record, compressed. The same records are the same bytes. */
export function packRecords(records: readonly ArchivedRecord[]): Promise<Buffer> {
  const lines = records.map((record) => `${JSON.stringify(record, Object.keys(recordShape.shape))}\n`);
  return promisify(gzip)(Buffer.from(lines.join("")));
}

/** Throws when the bytes are no such file. */
export async function unpackRecords(bytes: Buffer): Promise<readonly ArchivedRecord[]> {
  const unpacked = await promisify(gunzip)(bytes, { maxOutputLength: unpackedMax });
  const lines = unpacked.toString("utf8").split("\n");
  if (lines.pop() !== "") throw new Error("the file ends in the middle of a record");
  return lines.map((line) => recordShape.parse(JSON.parse(line)));
}

export function digestOf(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}

/** A record's place in the record: what is newer is greater, and of one moment what has the greater id. */
export interface Place {
  readonly micros: bigint;
  readonly id: bigint;
}

export function placeOf({ created_at: at, id }: Pick<ArchivedRecord, "created_at" | "id">): Place {
  const seconds = BigInt(Date.parse(`${at.slice(0, 19)}Z`));
  return { micros: seconds * 1_000n + BigInt(at.slice(20, 26)), id: BigInt(id) };
}

export function isBefore(one: Place, other: Place): boolean {
  return one.micros === other.micros ? one.id < other.id : one.micros < other.micros;
}
