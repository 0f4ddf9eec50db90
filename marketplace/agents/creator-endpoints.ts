import { z } from "zod";
import { toSafeNumber } from "../../shared/amounts.ts";
import { jsonAnswer, requestBody } from "../../shared/endpoint.ts";
import type { Database } from "../../shared/postgres.ts";
import { settingsBody } from "../http/body-limits.ts";
import { accountOf } from "../http/callers.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { exampleAgent, exampleTime } from "../http/examples.ts";
import { refusals } from "../http/refusals.ts";
import { budgetMax, setModelBudget } from "../models/budget.ts";
import { parse } from "../parse.ts";
import type { Sealer } from "../sealing.ts";
import { findOwnAgent, listOwnAgents, type OwnAgent } from "./creator-agents.ts";
import { modelBudgetShape, ownAgentShape, ownAgentsShape } from "./creator-shapes.ts";
import { noticesOf } from "./notices.ts";
import { type OwnModelNeeds, ownModelState } from "./own-model-state.ts";
import { agentPathParameters } from "./shapes.ts";
import { definitionOf } from "./versions.ts";

/** A creator's own agents, and the limits on what their models may cost. */
export function creatorEndpoints(needs: CreatorNeeds): Endpoint[] {
  return [listEndpoint(needs), detailEndpoint(needs), modelBudgetEndpoint(needs)];
}

interface CreatorNeeds extends OwnModelNeeds {
  readonly db: Database;
  readonly sealer: Sealer;
}

const pathParameters = { slug: agentPathParameters.slug };

const listed = {
  agent: exampleAgent,
  state: "live",
  name: "Summarizer",
  connector: "llm",
  price_credits: 5,
  live_version: 2,
  newest_version: 3,
  created_at: exampleTime,
  updated_at: exampleTime,
} as const;

const model = { credits_per_run: 1, credits_per_day: 200, credits_used_today: 12, stopped_for: null };

function listEndpoint({ db }: CreatorNeeds): Endpoint {
  return {
    method: "get",
    path: "/api/account/agents",
    id: "listOwnAgents",
    tag: "Publishing",
    summary: "The account's agents, in any state.",
    description: "Answers drafts, live agents and those off the market, the last touched first.",
    access: "account",
    answers: { 200: jsonAnswer(ownAgentsShape, { agents: [listed] }) },
    handler: async (_request, response) => {
      const agents = await listOwnAgents(db, accountOf(response).id);
      response.json({ agents: agents.map(shown) });
    },
  };
}

function detailEndpoint(needs: CreatorNeeds): Endpoint {
  const { db, sealer } = needs;
  const definition = {
    name: "Summarizer",
    description: "The gist of a text in one sentence.",
    connector: "llm",
    price_credits: 5,
    fields: [{ name: "text", type: "text", required: true }],
    settings: { prompt: "Sum up: {{text}}" },
  };
  return {
    method: "get",
    path: "/api/account/agents/{slug}",
    id: "getOwnAgent",
    tag: "Publishing",
    summary: "One of them with its definition, except for its secrets.",
    description:
      "Answers all that its creator said of the agent, of secrets the names alone, what its models cost today, and what " +
      "went wrong lately.",
    access: "account",
    pathParameters,
    answers: {
      200: jsonAnswer(ownAgentShape, { ...listed, definition, secret_names: ["token"], model, notices: [] }),
      ...refusals({ 404: 'There is no agent "summariser" of this account.' }),
    },
    handler: async (request, response) => {
      const own = await findOwnAgent(db, accountOf(response).id, String(request.params.slug));
      const { secrets, ...definition } = await definitionOf(db, sealer, own.id, own.newestVersion);
      const notices = await noticesOf(db, own.id);
      const model = await ownModelState(needs, own);
      response.json({ ...shown(own), definition, secret_names: Object.keys(secrets), model, notices });
    },
  };
}

const modelBudgetRequest = z.strictObject({
  credits_per_day: z
    .int()
    .min(0)
    .max(budgetMax)
    .nullable()
    .describe("What the agent's models may cost in a day (UTC); null is the operator's default."),
});

function modelBudgetEndpoint(needs: CreatorNeeds): Endpoint {
  const { db } = needs;
  return {
    method: "put",
    path: "/api/account/agents/{slug}/model-budget",
    id: "setModelBudget",
    tag: "Publishing",
    summary: "Say what the agent's models may cost you in a day, so that strangers cannot use up what others live on.",
    description: "When the day's budget is spent, the agent answers 503 until the next day (UTC).",
    access: "account",
    pathParameters,
    body: requestBody(modelBudgetRequest, { credits_per_day: 200 }, settingsBody),
    answers: {
      200: jsonAnswer(modelBudgetShape, { agent: exampleAgent, model }),
      ...refusals({ 404: 'There is no agent "summariser" of this account.' }),
    },
    handler: async (request, response) => {
      const { credits_per_day } = parse(modelBudgetRequest, request.body ?? {}, "bad_request");
      const own = await findOwnAgent(db, accountOf(response).id, String(request.params.slug));
      await setModelBudget(db, own.id, credits_per_day);
      response.json({ agent: `${own.handle}/${own.slug}`, model: await ownModelState(needs, own) });
    },
  };
}

function shown(own: OwnAgent) {
  return {
    agent: `${own.handle}/${own.slug}`,
    state: own.state,
    name: own.name,
    connector: own.connector,
    price_credits: toSafeNumber(own.priceCredits),
    live_version: own.state === "live" ? own.liveVersion : null,
    newest_version: own.newestVersion,
    created_at: own.createdAt,
    updated_at: own.updatedAt,
  };
}
