import { z } from "zod";

/** What the answers of several nouns have in common. */

export const moment = z.iso.datetime().describe("ISO 8601, UTC, with milliseconds.");
export const cursor = z.string().nullable().describe("Where the next page begins; null on the last.");
export const wholeCredits = z.int().min(0);
export const anyObject: z.ZodType<object, object> = z.looseObject({});
export const runId = z.templateLiteral(["run_", z.string()]);

/** Every refusal, except for those whose endpoint says otherwise. */
export const errorShape = z
  .object({
    error: z.string().describe("For a person to read; wording may change."),
    field: z.string().optional().describe("The input or parameter that was wrong."),
    charged: z
      .union([z.boolean(), z.literal("unknown")])
      .optional()
      .describe(
        "Of what cannot work, known before it was begun: false, nothing was charged; true only for a payment settled, or a run charged, before. " +
          "`unknown`: the run `run_id` was begun, and is charged once or refunded within minutes.",
      ),
    run_id: runId.optional().describe("The run that it is not known of whether it was charged."),
    advice: z.string().optional().describe("What to do with a payment that stays good."),
  })
  .meta({ id: "Error" });
