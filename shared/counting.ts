import { z } from "zod";
import type { ValkeyCounts } from "./valkey-counts.ts";

/** Where the limits on requests are counted, as `/health` tells it. */
export interface Counting {
  readonly store: "database" | "valkey";
  readonly shared: boolean;
}

export const countingShape = z
  .object({
    store: z.enum(["database", "valkey"]),
    shared: z.boolean().describe("False while the Valkey does not answer, and each copy counts alone."),
  })
  .describe("Where the limits on requests are counted. Those that guard money are always in the database.")
  .meta({ id: "Counting" });

export function countingOf(valkey: ValkeyCounts | undefined): Counting {
  return valkey ? { store: "valkey", shared: valkey.isShared } : { store: "database", shared: true };
}
