import { z } from "zod";
import { covering } from "../../shared/covering.ts";
import type { Shapes } from "../../shared/endpoint.ts";
import { connectorIds } from "../connectors/connector.ts";
import { anyObject, cursor, moment, wholeCredits } from "../http/shapes.ts";
import { fieldTypes } from "../input.ts";
import { categories } from "./category.ts";
import { figuresDays } from "./count-runs.ts";
import type { AgentDetail } from "./detail.ts";
import type { Figures } from "./figures.ts";
import type { AgentPage, ListedAgent, UnderstoodSearch } from "./list.ts";
import type { PerCall } from "./per-call.ts";

/** Where an agent is addressed by its two names. */
export const agentPathParameters = {
  handle: z.string().meta({ description: "The creator's handle, in any case.", examples: ["ada"] }),
  slug: z.string().meta({ description: "The agent's name part, in any case.", examples: ["summarizer"] }),
} satisfies Shapes;

const perCall = covering<PerCall>()(
  z.object({ url: z.string(), price_usd: z.number(), networks: z.array(z.string()) }).meta({ id: "PerCall" }),
)
  .nullable()
  .describe("Where the agent can be called without an account; null when it cannot be paid so, or needs an account.");

const figures = covering<Figures>()(
  z
    .object({
      runs_30d: z
        .int()
        .describe(`Runs of the last ${figuresDays} days, on all payment methods, except for the creator's own.`),
      success_rate: z.number().min(0).max(1).nullable().describe("Of those runs; null without any."),
      median_ms: z.int().nullable().describe("Time of a run that succeeded, within 5 %."),
      p95_ms: z.int().nullable().describe("Nineteen of twenty runs that succeeded took no longer, within 5 %."),
      last_success_at: moment.nullable(),
    })
    .meta({ id: "AgentFigures" }),
);

const listedAgent = {
  agent: z.string().describe("`handle/slug`; the id passed to run."),
  name: z.string(),
  description: z.string(),
  connector: z.enum(connectorIds),
  connector_name: z.string(),
  category: z.enum(categories),
  tags: z.array(z.string()),
  price_credits: wholeCredits.describe("Cost of one run; 0 means free."),
  per_call: perCall,
  figures,
  created_at: moment,
};

const understoodSearch = covering<UnderstoodSearch>()(
  z
    .object({
      all_words: z.boolean().describe("Whether the agents found have every word of `q`."),
      read_as: z
        .array(z.object({ word: z.string(), as: z.array(z.string()) }))
        .describe("Words that no agent has, and the nearest ones that were searched for instead."),
      unknown: z.array(z.string()).describe("Words that nothing is near to; they were left out."),
    })
    .meta({ id: "UnderstoodSearch" }),
)
  .nullable()
  .describe("How the words of `q` were taken; null without any.");

export const agentPageShape = covering<AgentPage>()(
  z
    .object({
      agents: z.array(covering<ListedAgent>()(z.object(listedAgent).meta({ id: "Agent" }))),
      total: z.int().describe("All matches, whatever the page."),
      total_exact: z.boolean().describe("False when there are more matches than `total`."),
      limit: z.int(),
      offset: z.int(),
      cursor,
      search: understoodSearch,
    })
    .meta({ id: "Agents" }),
);

const fieldValue = z.union([z.string(), z.number(), z.boolean()]).nullable();

const inputField = z
  .object({
    name: z.string().describe("The key in `input`."),
    label: z.string().describe("What people see."),
    type: z.enum(fieldTypes),
    required: z.boolean().describe("Without a default it must be given, and a text must not be empty."),
    default: fieldValue.describe("What it is when it is not given; null for none."),
    description: z.string().nullable(),
    max_length: z.int().nullable().describe("Characters of a string or text."),
    min: z.number().nullable().describe("The least a number or integer may be."),
    max: z.number().nullable().describe("The most a number or integer may be."),
    choices: z.array(z.string()).nullable().describe("What a choice may be."),
    pattern: z
      .string()
      .nullable()
      .describe("A regular expression that must match somewhere in a string or text; ^ and $ ask for the whole of it."),
    example: fieldValue,
  })
  .meta({ id: "InputField" });

export const agentDetailShape = covering<AgentDetail>()(
  z
    .object({
      ...listedAgent,
      inputs: z.array(inputField),
      input_schema: anyObject.describe("The same as JSON Schema 2020-12."),
      accepts_extra_instructions: z.boolean(),
      output_kind: z.enum(["text", "image", "json", "receipt"]),
      mcp_tool: z.string(),
      page_url: z.string(),
      updated_at: moment,
    })
    .meta({ id: "AgentDetail" }),
);
