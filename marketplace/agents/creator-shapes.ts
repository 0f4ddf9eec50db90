import { z } from "zod";
import { covering } from "../../shared/covering.ts";
import { connectorIds } from "../connectors/connector.ts";
import { anyObject, moment, wholeCredits } from "../http/shapes.ts";
import { type ModelState, stops } from "../models/model-funds.ts";
import { noticeKinds } from "./notices.ts";

/** What a creator is told of the account's own agents. */

const agentState = z.enum(["draft", "live", "unpublished", "suspended"]);

const ownAgent = {
  agent: z.string(),
  state: agentState,
  name: z.string(),
  connector: z.enum(connectorIds),
  price_credits: wholeCredits,
  live_version: z.int().nullable(),
  newest_version: z.int(),
  created_at: moment,
  updated_at: moment,
};

export const ownAgentsShape = z
  .object({ agents: z.array(z.object(ownAgent).meta({ id: "OwnAgent" })) })
  .meta({ id: "OwnAgents" });

const ownModel = covering<ModelState>()(
  z.object({
    credits_per_run: wholeCredits.describe("What you bear of a run; a run paid with credits pays it out of its price."),
    credits_per_day: wholeCredits.describe("What the agent's models may cost you in a day (UTC)."),
    credits_used_today: wholeCredits,
    stopped_for: z.enum(stops).nullable().describe("Why the agent answers 503 at the moment."),
  }),
)
  .nullable()
  .describe("Of the live version, or else the newest; null where it calls no model of the platform's.");

export const modelBudgetShape = z.object({ agent: z.string(), model: ownModel }).meta({ id: "AgentModel" });

export const ownAgentShape = z
  .object({
    ...ownAgent,
    definition: anyObject.describe("Of the newest version, as it was sent, except for the secrets."),
    secret_names: z.array(z.string()),
    model: ownModel,
    notices: z
      .array(
        z
          .object({
            kind: z.enum(noticeKinds),
            text: z.string(),
            version: z.int().describe("Of the agent, when it happened last."),
            times: z.int(),
            first_at: moment,
            last_at: moment,
          })
          .meta({ id: "AgentNotice" }),
      )
      .describe("What its creator should know of what went wrong, the latest first."),
  })
  .meta({ id: "OwnAgentDetail" });

export const problemsShape = z
  .object({ problems: z.array(z.object({ field: z.string().nullable(), message: z.string() })) })
  .meta({ id: "Problems" });

export const agentVersionShape = z
  .object({
    agent: z.string(),
    version: z.int(),
    state: agentState,
    changed: z.boolean().optional().describe("False when this very version was live already."),
  })
  .meta({ id: "AgentVersion" });

export const agentStateShape = z.object({ agent: z.string(), state: agentState }).meta({ id: "AgentState" });
