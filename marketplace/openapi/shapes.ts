import { z } from "zod";
import { fieldTypes } from "../agents/contract.ts";
import type { AgentDetail } from "../agents/detail.ts";
import type { AgentPage, ListedAgent } from "../agents/list.ts";
import { scopes } from "../api-keys/create.ts";
import { type ConnectorId, connectorIds, type Output } from "../connectors/connector.ts";
import { kinds, purseNames, type Statement } from "../credits/statement.ts";
import { type RunDetail, type RunPage, type RunRecord, runStates } from "../runs/history.ts";
import type { RunResult } from "../runs/run.ts";
import type { SvgResult } from "../svg/products.ts";

/** Every answer of the API in the form it has; the compiler holds them against what the verbs return. */

export const moment = z.iso.datetime().describe("ISO 8601, UTC, with milliseconds.");
const cursor = z.string().nullable().describe("Where the next page begins; null on the last.");
export const wholeCredits = z.int().min(0);
export const anyObject: z.ZodType<object, object> = z.looseObject({});
const receipt = anyObject
  .nullable()
  .describe("Of agents that write to a ledger: identifiers of what was written. Null otherwise.");

export const errorShape = z
  .object({
    error: z.string().describe("For a person to read; wording may change."),
    field: z.string().optional().describe("The input or parameter that was wrong."),
    charged: z
      .boolean()
      .optional()
      .describe(
        "Of what cannot work, known before it was begun: true only for a payment settled before; it stays good.",
      ),
    advice: z.string().optional().describe("What to do with a payment that stays good."),
  })
  .meta({ id: "Error" });

export const unpayableShape = z
  .object({
    error: z.string(),
    credits_required: wholeCredits,
    credits_remaining: wholeCredits,
    limit_source: z
      .enum(["balance", "key", "request"])
      .describe("What is too small: the balance, the key's daily cap, or `max_credits` of this request."),
  })
  .meta({ id: "NotEnoughCredits" });

export const output = covering<Output>()(
  z
    .union([
      z.object({ kind: z.literal("text"), text: z.string() }),
      z.object({ images: z.array(z.string()) }),
      z.object({ kind: z.literal("json"), data: anyObject }),
      z.object({ kind: z.literal("receipt"), status: z.string(), transactionId: z.string() }),
    ])
    .describe("Branch on what is present; a creator may republish an agent with another kind of output.")
    .meta({ id: "Output" }),
);

const runId = z.templateLiteral(["run_", z.string()]);

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

const runRecord = {
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

export const runPageShape = covering<RunPage>()(
  z
    .object({ runs: z.array(covering<RunRecord>()(z.object(runRecord).meta({ id: "Run" }))), cursor })
    .meta({ id: "Runs" }),
);

export const runDetailShape = covering<RunDetail>()(
  z.object({ ...runRecord, output: anyObject.optional(), receipt }).meta({ id: "RunDetail" }),
);

const listedAgent = {
  agent: z.string().describe("`handle/slug`; the id passed to run."),
  name: z.string(),
  description: z.string(),
  connector: z.enum(connectorIds as [ConnectorId, ...ConnectorId[]]),
  connector_name: z.string(),
  price_credits: wholeCredits.describe("Cost of one run; 0 means free."),
  created_at: moment,
};

export const agentPageShape = covering<AgentPage>()(
  z
    .object({
      agents: z.array(covering<ListedAgent>()(z.object(listedAgent).meta({ id: "Agent" }))),
      total: z.int().describe("All matches, whatever the page."),
      limit: z.int(),
      offset: z.int(),
    })
    .meta({ id: "Agents" }),
);

const fieldValue = z.union([z.string(), z.number(), z.boolean()]).nullable();

export const agentDetailShape = covering<AgentDetail>()(
  z
    .object({
      ...listedAgent,
      inputs: z.array(
        z
          .object({
            name: z.string(),
            label: z.string(),
            type: z.enum(fieldTypes),
            required: z.boolean(),
            default: fieldValue,
            description: z.string().nullable(),
            max_length: z.int().nullable(),
            min: z.number().nullable(),
            max: z.number().nullable(),
            choices: z.array(z.string()).nullable(),
            pattern: z.string().nullable(),
            example: fieldValue,
          })
          .meta({ id: "InputField" }),
      ),
      input_schema: anyObject.describe("The same as JSON Schema 2020-12."),
      accepts_extra_instructions: z.boolean(),
      output_kind: z.enum(["text", "image", "json", "receipt"]),
      per_call: z
        .object({ url: z.string(), price_usd: z.number(), networks: z.array(z.string()) })
        .nullable()
        .describe(
          "Where the agent can be called without an account; null when it cannot be paid so, or needs an account.",
        ),
      mcp_tool: z.string(),
      page_url: z.string(),
      updated_at: moment,
    })
    .meta({ id: "AgentDetail" }),
);

export const balanceShape = z
  .object({
    credits: wholeCredits.describe("What can be spent now."),
    held_credits: wholeCredits.describe("Set aside for runs that are running."),
    earned_credits: wholeCredits,
    account: z.object({ handle: z.string() }),
    key: z.object({
      name: z.string(),
      start: z.string(),
      scope: z.enum(scopes),
      rate_limit_per_minute: z.int(),
      max_credits_per_day: z.int().nullable(),
    }),
  })
  .meta({ id: "Balance" });

export const statementShape = covering<Statement>()(
  z
    .object({
      postings: z.array(
        z
          .object({
            id: z.string(),
            kind: z.enum(kinds),
            credits: z.int().min(1),
            from: z.enum(purseNames),
            to: z.enum(purseNames),
            run_id: runId.nullable().describe("Of the account's own run."),
            agent: z.string().nullable().describe("Known for as long as the run is kept."),
            note: z.string().nullable(),
            created_at: moment,
          })
          .meta({ id: "Posting" }),
      ),
      cursor,
    })
    .meta({ id: "Statement" }),
);

export const transferShape = z.object({ credits: wholeCredits, earned_credits: wholeCredits }).meta({ id: "Moved" });

export const filesShape = z
  .object({
    files: z.array(
      z
        .object({
          name: z.string(),
          url: z.string(),
          agent: z.string().nullable(),
          run_id: runId.nullable(),
          bytes: z.int(),
          created_at: moment,
          hidden_at: moment.nullable(),
        })
        .meta({ id: "File" }),
    ),
    limit: z.int(),
    offset: z.int(),
  })
  .meta({ id: "Files" });

export const rewardsShape = z
  .object({
    rewards: z.array(
      z
        .object({
          agent: z.string(),
          run_id: runId,
          post_id: z.string(),
          author_id: z.string(),
          username: z.string(),
          recipient: z.string().describe("A ledger account, or the handle of the account that got credits."),
          asset: z.string().describe("`hbar`, a token id, or `credits`."),
          amount: z.string().describe("Whole base units."),
          state: z
            .enum(["claimed", "paid", "void"])
            .describe("`claimed`: the ledger has not told yet. `void`: not paid."),
          network: z.string().nullable(),
          transaction_id: z.string().nullable(),
          created_at: moment,
        })
        .meta({ id: "Reward" }),
    ),
    limit: z.int(),
    offset: z.int(),
  })
  .meta({ id: "Rewards" });

export const fileVisibilityShape = z.object({ name: z.string(), hidden: z.boolean() }).meta({ id: "FileVisibility" });

export const healthShape = z
  .object({ status: z.enum(["ok", "degraded"]), database: z.boolean(), time: moment })
  .meta({ id: "Health" });

export const paidResultShape = z
  .object({ success: z.literal(true), run_id: runId, output, receipt })
  .meta({ id: "PaidResult" });

export const paidFailureShape = z
  .union([
    z.object({
      success: z.literal(false),
      run_id: runId,
      error: z.string(),
      charged: z.boolean().optional(),
      advice: z.string().optional(),
    }),
    errorShape,
  ])
  .meta({ id: "PaidFailure" });

export const svgShape = covering<SvgResult & { svg: string }>()(
  z
    .object({
      svg: z.string().describe("The markup."),
      url: z.string().describe("The same, stored."),
      files: z.record(z.string(), z.string()).describe("By kind; `png` is always there."),
      width: z.int(),
      height: z.int(),
      paths: z.int(),
      colors: z.int(),
      bytes: z.int(),
      layers: z.array(z.object({ id: z.string(), fill: z.array(z.string()) })),
      score: z
        .number()
        .min(0)
        .max(1)
        .describe(
          "Likeness of the drawing, rendered, to its source: the image, the picture traced, or what a chat model wrote. How well it answers a prompt is not measured.",
        ),
      metrics: z.object({ ssim: z.number(), psnr: z.number() }),
      cost_usd: z.number(),
      ms: z.int(),
      stand_in: z
        .literal(true)
        .optional()
        .describe("There is no model behind this service: a stand-in drew it, and it costs nothing."),
    })
    .meta({ id: "VectorGraphics" }),
);

export const rpcMessageShape = z
  .object({
    jsonrpc: z.literal("2.0"),
    id: z.union([z.string(), z.int()]).optional().describe("Absent in notifications."),
    method: z.string().describe("Such as initialize, tools/list or tools/call."),
    params: anyObject.optional(),
  })
  .meta({ id: "RpcMessage" });

export const rpcErrorShape = z
  .object({
    jsonrpc: z.literal("2.0"),
    error: z.object({ code: z.int(), message: z.string(), data: z.string().optional() }),
    id: z.null(),
  })
  .meta({ id: "RpcError" });

export const quoteShape = z
  .object({
    x402Version: z.int(),
    error: z.string(),
    accepts: z.array(
      z.looseObject({
        scheme: z.literal("exact"),
        network: z.string().describe("CAIP-2, such as `hedera:mainnet`."),
        asset: z.string(),
        amount: z.string().describe("Atomic units; the asset has 6 decimals."),
        payTo: z.string(),
        resource: z.string(),
        maxTimeoutSeconds: z.int(),
        extra: z
          .looseObject({ quoteId: z.string() })
          .describe(
            "What a wallet must know to sign. Settle with it whole: `quoteId` is what makes the payment yours here.",
          ),
      }),
    ),
    extensions: z
      .looseObject({ "sign-in-with-x": z.looseObject({}) })
      .optional()
      .describe(
        "Beside a settled payment that is taken only from who shows the wallet that paid: what that wallet is to sign " +
          "(EIP-4361; on Hedera the same text), for the SIGN-IN-WITH-X header.",
      ),
  })
  .meta({ id: "PaymentQuote" });

/** Lets the compiler refuse a shape that lacks a field of `Answer` or has it of another type. */
export function covering<Answer>() {
  return <S extends z.ZodType>(
    shape: Answer extends DeepReadonly<z.input<S>>
      ? Answer extends object
        ? KeysOf<Answer> extends KeysOf<z.input<S>>
          ? S
          : never
        : never
      : never,
  ): S => shape;
}

type KeysOf<T> = T extends T ? keyof T : never;
type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;
