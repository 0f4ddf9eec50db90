import { z } from "zod";
import { covering } from "../../shared/covering.ts";
import { anyObject, cursor, moment, runId, wholeCredits } from "../http/shapes.ts";
import type { Activity } from "./activity.ts";
import type { RunReport, Share } from "./own-run.ts";
import type { OwnRun, OwnRunPage } from "./own-runs.ts";
import { receipt, runRecord } from "./shapes.ts";
import type { SharedRun } from "./share-run.ts";

const key = z
  .object({ id: z.templateLiteral(["key_", z.string()]), name: z.string() })
  .nullable()
  .describe("Null for what was run signed in, without a key.");

const ownRun = { ...runRecord, key };

export const ownRunPageShape = covering<OwnRunPage>()(
  z
    .object({ runs: z.array(covering<OwnRun>()(z.object(ownRun).meta({ id: "OwnRun" }))), cursor })
    .meta({ id: "OwnRuns" }),
);

const input = z
  .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
  .describe("Keyed by the agent's fields, as they were when it ran.");
const output = anyObject.nullable().describe("Null of a run that succeeded when it is no longer kept.");
const hiddenImages = z.array(z.string()).describe("Of its images, those that their creator has taken down.");

export const shareShape = covering<Share>()(
  z
    .object({
      token: z.string().describe("The run is at `/runs/shared/{token}`, for every visitor who knows it."),
      with_input: z.boolean(),
      created_at: moment,
    })
    .meta({ id: "RunShare" }),
);

export const runReportShape = covering<RunReport>()(
  z
    .object({
      ...ownRun,
      agent_name: z.string(),
      agent_version: z.int(),
      agent_is_live: z.boolean(),
      input: input.nullable().describe("Null when it was too long to be kept."),
      output,
      hidden_images: hiddenImages,
      receipt,
      postings: z
        .array(
          z.object({
            kind: z.enum(["hold", "capture", "release", "reward"]),
            credits: wholeCredits,
            created_at: moment,
          }),
        )
        .describe("The credits that it moved, oldest first."),
      transactions: z
        .array(
          z.object({
            network: z.string(),
            transaction_id: z.string(),
            state: z.enum(["open", "done", "void"]).describe("`open`: the chain has not told yet."),
            created_at: moment,
            updated_at: moment,
          }),
        )
        .describe("What it did on a chain."),
      share: shareShape.nullable(),
    })
    .meta({ id: "RunReport" }),
);

export const sharedRunShape = covering<SharedRun>()(
  z
    .object({
      run_id: runId,
      agent: z.string(),
      agent_name: z.string(),
      agent_is_live: z.boolean(),
      success: z.boolean(),
      credits_used: wholeCredits,
      input: input.optional(),
      output,
      hidden_images: hiddenImages,
      receipt,
      error: z.string().optional(),
      created_at: moment,
      finished_at: moment,
    })
    .meta({ id: "SharedRun" }),
);

const sums = { runs: z.int(), failed: z.int().describe("Of those; they cost nothing."), credits: wholeCredits };

export const activityShape = covering<Activity>()(
  z
    .object({
      ...sums,
      average_ms: z.int().nullable(),
      median_ms: z.int().nullable().describe("Of runs that succeeded among the newest thousand."),
      runs_before: z.int().describe("Of as many days before."),
      days: z.array(z.object({ day: z.iso.date(), ...sums })),
      keys: z.array(z.object({ key, ...sums })).describe("The dearest first."),
      agents: z.array(z.object({ agent: z.string(), ...sums })).describe("The dearest hundred."),
    })
    .meta({ id: "Activity" }),
);
