import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { z } from "zod";
import { recordShape } from "../record-shape.ts";

const { explorer: _, ...columns } = recordShape.shape;

/** One row of the public record as the archive has it: whole numbers as text, the moment to the microsecond. */
const archivedShape = z.object({
  id: z.string().regex(/^\d{1,19}$/),
  ...columns,
  status: z.enum(["settled", "failed"]),
  amount_atomic: z
    .string()
    .regex(/^\d{1,78}$/)
    .nullable(),
  created_at: z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
});
export type ArchivedRecord = z.infer<typeof archivedShape>;

const asText: Readonly<Record<string, string>> = {
  id: "t.id::text",
  amount_atomic: "t.amount_atomic::text",
  created_at: `to_char(t.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`,
};
const names = Object.keys(archivedShape.shape);

/** SQL: the columns of a row `t` of `transactions` as they are archived. */
export const archivedColumns = names.map((name) => `${asText[name] ?? `t.${name}`} as ${name}`).join();

/** What files lack that are older than a column: it is null there. */
const absent = Object.fromEntries(names.map((name) => [name, null]));

const unpackedMax = 64_000_000;

/** A line of JSON a record, compressed. The same records are the same bytes. */
export function packRecords(records: readonly ArchivedRecord[]): Promise<Buffer> {
  const lines = records.map((record) => `${JSON.stringify(record, names)}\n`);
  return promisify(gzip)(Buffer.from(lines.join("")));
}

/** Throws when the bytes are no such file. */
export async function unpackRecords(bytes: Buffer): Promise<readonly ArchivedRecord[]> {
  const unpacked = await promisify(gunzip)(bytes, { maxOutputLength: unpackedMax });
  const lines = unpacked.toString("utf8").split("\n");
  if (lines.pop() !== "") throw new Error("the file ends in the middle of a record");
  return lines.map((line) => archivedShape.parse({ ...absent, ...JSON.parse(line) }));
}

export function digestOf(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}

/** A record's place in the record: newer records are greater, and of one moment the one with the greater id. */
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
