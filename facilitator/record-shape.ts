import { z } from "zod";
import { type Explorers, explorerUrl } from "./explorer.ts";
import { unfinishedStates } from "./payment-states.ts";
import { statuses } from "./settlements/scope.ts";

/** A row of the public record, as callers read it. */
export const recordShape = z
  .object({
    network: z.string(),
    status: z
      .enum([...statuses, ...unfinishedStates])
      .describe("The last three only where payments that have not ended were asked for; unknown is no failure."),
    kind: z.enum(["verify", "settle"]).describe("What was asked for."),
    payer: z.string().nullable(),
    pay_to: z.string().nullable(),
    asset: z.string().nullable(),
    amount_atomic: z.string().nullable().describe("Whole base units of the asset."),
    resource_url: z.string().nullable().describe("Without query and user name, where secrets live."),
    tx_id: z.string().nullable(),
    error_reason: z.string().nullable(),
    total_ms: z.int().describe("From request to answer; of a payment that has not ended, up to now."),
    created_at: z.iso
      .datetime()
      .describe("When it was recorded; of a payment that has not ended, when it was claimed."),
    explorer: z.string().nullable().describe("Where people look it up; null on a network without a public explorer."),
  })
  .meta({ id: "TransactionRecord" });

type TransactionRecord = z.infer<typeof recordShape>;
type Column = Exclude<keyof TransactionRecord, "explorer">;

/** The columns of `transactions` it is made of. */
export const columnsShown = Object.keys(recordShape.shape).filter((name) => name !== "explorer") as readonly Column[];

/** What a row `t` of `payments` that has not ended has in place of columns that it lacks. */
const ofUnfinished: Partial<Record<Column, string>> = {
  status: "t.state",
  kind: "'settle'",
  tx_id: "t.transaction_id",
  error_reason: "null",
  total_ms: "least(extract(epoch from now() - t.created_at) * 1000, 2147483647)::int",
};

/** SQL: the record's columns of such a row. */
export const unfinishedColumns = columnsShown.map((name) => `${ofUnfinished[name] ?? `t.${name}`} as ${name}`).join();

/** A record, from the database or the archive. */
export interface Row extends Omit<TransactionRecord, "amount_atomic" | "created_at" | "explorer"> {
  readonly id: bigint;
  readonly amount_atomic: bigint | null;
  readonly created_at: Date;
  readonly created_micros: bigint;
}

export function recordOf(config: Explorers, row: Row): TransactionRecord {
  const shown = Object.fromEntries(columnsShown.map((name) => [name, row[name]])) as Pick<Row, Column>;
  return {
    ...shown,
    amount_atomic: row.amount_atomic?.toString() ?? null,
    created_at: row.created_at.toISOString(),
    explorer: explorerUrl(config, row.network, row.tx_id),
  };
}
