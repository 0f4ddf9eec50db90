import { jsonAnswer, requestBody } from "../../shared/endpoint.ts";
import { ApiError } from "../../shared/errors.ts";
import { inTransaction } from "../../shared/postgres.ts";
import { definitionBody } from "../http/body-limits.ts";
import { accountOf } from "../http/callers.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { exampleAgent } from "../http/examples.ts";
import { refusals } from "../http/refusals.ts";
import { checkDefinition } from "./check.ts";
import { findOwnAgent } from "./creator-agents.ts";
import { agentStateShape, agentVersionShape, problemsShape } from "./creator-shapes.ts";
import { definitionRequest } from "./definition-request.ts";
import { withKeptSecrets } from "./kept-secrets.ts";
import { type PublishNeeds, publishAgent, saveDraft } from "./publish.ts";
import { agentPathParameters } from "./shapes.ts";
import { moveAgent } from "./state.ts";
import { definitionOf } from "./versions.ts";

/** How an agent comes to the market and leaves it. */
export function publishingEndpoints(needs: PublishNeeds): Endpoint[] {
  return [checkEndpoint(needs), draftEndpoint(needs), publishEndpoint(needs), unpublishEndpoint(needs)];
}

const pathParameters = { slug: agentPathParameters.slug };

const definition = requestBody(
  definitionRequest,
  {
    name: "Summarizer",
    description: "The gist of a text in one sentence.",
    category: "writing",
    tags: ["summary", "meeting-notes"],
    connector: "llm",
    price_credits: 5,
    fields: [{ name: "text", type: "text", required: true, max_length: 20_000 }],
    settings: { prompt: "Sum up: {{text}}" },
  },
  definitionBody,
);

function checkEndpoint({ tools }: PublishNeeds): Endpoint {
  return {
    method: "post",
    path: "/api/account/agent-definitions/check",
    id: "checkAgentDefinition",
    tag: "Publishing",
    summary: "Everything that keeps a definition from being published.",
    description:
      "Answers all problems at once, each with the field it is about, and keeps nothing. None means it can go.",
    access: "account",
    body: definition,
    answers: {
      200: jsonAnswer(problemsShape, { problems: [{ field: "settings.prompt", message: "is required" }] }),
    },
    handler: async (request, response) => {
      const checked = await checkDefinition(tools, accountOf(response).id, objectIn(request.body));
      const problems = "problems" in checked ? checked.problems : [];
      response.json({ problems: problems.map(({ path, message }) => ({ field: path.join(".") || null, message })) });
    },
  };
}

function draftEndpoint(needs: PublishNeeds): Endpoint {
  return {
    method: "put",
    path: "/api/account/agents/{slug}",
    id: "saveAgentVersion",
    tag: "Publishing",
    summary: "Keep a definition as the agent's next version; what is live stays live.",
    description:
      "A slug that is new makes a new agent. Secrets that the definition does not name stay as the newest version has them.",
    access: "account",
    pathParameters,
    body: definition,
    answers: {
      200: jsonAnswer(agentVersionShape, { agent: exampleAgent, version: 3, state: "live" }),
      ...refusals({
        409: "ada/summarizer is suspended.",
        422: { error: '"price_credits" must be at least 0.', field: "price_credits" },
      }),
    },
    handler: async (request, response) => {
      const owner = accountOf(response);
      const slug = String(request.params.slug);
      const definition = await withKeptSecrets(needs, owner, slug, objectIn(request.body));
      const { address, version, state } = await saveDraft(needs, owner, slug, definition);
      response.json({ agent: address, version, state });
    },
  };
}

function publishEndpoint(needs: PublishNeeds): Endpoint {
  const { db, sealer } = needs;
  return {
    method: "post",
    path: "/api/account/agents/{slug}/publish",
    id: "publishAgent",
    tag: "Publishing",
    summary: "Make the newest version what the agent is from the next run on.",
    description: "Runs under way end as they began. Publishing what is live already changes nothing.",
    access: "account",
    pathParameters,
    answers: {
      200: jsonAnswer(agentVersionShape, { agent: exampleAgent, version: 3, state: "live", changed: true }),
      ...refusals({
        404: 'There is no agent "summariser" of this account.',
        409: "ada/summarizer is suspended.",
        422: {
          error: '"settings.model" must be one of the models that are offered here: gpt-4o-mini.',
          field: "settings.model",
        },
      }),
    },
    handler: async (request, response) => {
      const owner = accountOf(response);
      const own = await findOwnAgent(db, owner.id, String(request.params.slug));
      const definition = await definitionOf(db, sealer, own.id, own.newestVersion);
      const { address, version, changed } = await publishAgent(needs, owner, own.slug, definition);
      response.json({ agent: address, version, state: "live", changed });
    },
  };
}

function unpublishEndpoint({ db }: PublishNeeds): Endpoint {
  return {
    method: "post",
    path: "/api/account/agents/{slug}/unpublish",
    id: "unpublishAgent",
    tag: "Publishing",
    summary: "Take the agent off the market.",
    description: "It can be published again. Payments that were settled for it stay owed; listDebts names them.",
    access: "account",
    pathParameters,
    answers: {
      200: jsonAnswer(agentStateShape, { agent: exampleAgent, state: "unpublished" }),
      ...refusals({
        404: 'There is no agent "summariser" of this account.',
        409: 'There is no agent "ada/second" that could be unpublished.',
      }),
    },
    handler: async (request, response) => {
      const own = await findOwnAgent(db, accountOf(response).id, String(request.params.slug));
      response.json(await inTransaction(db, (tx) => moveAgent(tx, `${own.handle}/${own.slug}`, "unpublish")));
    },
  };
}

function objectIn(body: unknown): object {
  if (typeof body === "object" && body !== null && !Array.isArray(body)) return body;
  throw new ApiError("bad_request", "The body must be a JSON object: the agent's definition.");
}
