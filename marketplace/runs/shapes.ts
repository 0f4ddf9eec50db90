import { z } from "zod";
import { covering } from "../../shared/covering.ts";
import { type Answers, jsonAnswer } from "../../shared/endpoint.ts";
import type { Output } from "../connectors/result.ts";
import { exampleAgent, exampleRunId, exampleTime } from "../http/examples.ts";
import { anyObject, cursor, moment, runId, wholeCredits } from "../http/shapes.ts";
import type { RunResult } from "./asked-run.ts";
import { type RunDetail, type RunPage, type RunRecord, runStates } from "./history.ts";

const stand_in = z.literal(true).optional().describe("A mock model made it, since this service has no real one.");

export const output = covering<Output>()(
  z
    .union([
      z.object({ kind: z.literal("text"), text: z.string(), stand_in }),
      z.object({ images: z.array(z.string()), stand_in }),
      z.object({ kind: z.literal("json"), data: anyObject, stand_in }),
      z.object({ kind: z.literal("receipt"), status: z.string(), transactionId: z.string() }),
    ])
    .describe("Branch on what is present; a creator may republish an agent with another kind of output.")
    .meta({ id: "Output" }),
);

export const receipt = anyObject
  .nullable()
  .describe("Of agents that write to a chain: identifiers of what was written. Null otherwise.");

export const runResultShape = covering<RunResult>()(
  z
    .object({
      success: z.boolean().describe("True when the agent worked; read it besides the status."),
      run_id: runId,
      output: output.optional(),
      credits_used: wholeCredits.describe("0 on failure and for free agents."),
      credits_remaining: wholeCredits,
      receipt,
      error: z.string().optional().describe("Present when `success` is false."),
    })
    .meta({ id: "RunResult" }),
);

export const runRecord = {
  run_id: runId,
  agent: z.string(),
  state: z.enum(runStates).describe("`lost`: the service was interrupted; nothing was charged."),
  success: z.boolean().nullable().describe("Null while it runs."),
  credits_used: wholeCredits,
  credits_remaining: wholeCredits.nullable().describe("The balance after the run; null while it runs."),
  error: z.string().optional(),
  created_at: moment,
  finished_at: moment.nullable(),
};

export const exampleKeptRun = {
  run_id: exampleRunId,
  agent: exampleAgent,
  state: "succeeded",
  success: true,
  credits_used: 5,
  credits_remaining: 935,
  created_at: exampleTime,
  finished_at: exampleTime,
} as const;

export const runPageShape = covering<RunPage>()(
  z
    .object({ runs: z.array(covering<RunRecord>()(z.object(runRecord).meta({ id: "Run" }))), cursor })
    .meta({ id: "Runs" }),
);

export const runDetailShape = covering<RunDetail>()(
  z.object({ ...runRecord, output: anyObject.optional(), receipt }).meta({ id: "RunDetail" }),
);

/** Why a run paid with credits cannot begin. */
const unpayableShape = z
  .object({
    error: z.string(),
    credits_required: wholeCredits,
    credits_remaining: wholeCredits,
    limit_source: z
      .enum(["balance", "key", "request"])
      .describe("What is too small: the balance, a cap of the key, or `max_credits` of this request."),
  })
  .meta({ id: "NotEnoughCredits" });

/** The 402 of whatever is paid with credits. */
export const notEnoughCredits: Answers = {
  402: jsonAnswer(unpayableShape, {
    error: "The run costs more than 4 credits.",
    credits_required: 5,
    credits_remaining: 935,
    limit_source: "request",
  }),
};
