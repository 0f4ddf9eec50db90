import { z } from "zod";
import { jsonAnswer, requestBody } from "../../shared/endpoint.ts";
import { agentVersionShape } from "../agents/creator-shapes.ts";
import { secretName } from "../agents/definition.ts";
import type { PublishNeeds } from "../agents/publish.ts";
import { agentPathParameters } from "../agents/shapes.ts";
import { connectorIds } from "../connectors/connector.ts";
import { definitionBody, smallBody } from "../http/body-limits.ts";
import { accountOf } from "../http/callers.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { exampleAgent, exampleTime } from "../http/examples.ts";
import { refusals } from "../http/refusals.ts";
import { parse } from "../parse.ts";
import { checkDraft } from "./checks.ts";
import { draftDefinitionShape } from "./draft-definition.ts";
import { keepYaml, yamlLengthMax } from "./draft-yaml.ts";
import { discardDraft, keepDraft, listDrafts, readDraft } from "./drafts.ts";
import { moveDraft } from "./move-draft.ts";
import { publishDraft } from "./publish-draft.ts";
import { draftConflict, draftShape, draftsShape, keptDraftShape, revision } from "./shapes.ts";
import { definitionYaml } from "./shown-definition.ts";
import { type StartNeeds, startDraft } from "./start-draft.ts";
import { exampleDefinition as definition, templatesEndpoint } from "./template-endpoint.ts";

/** What creators write before it is a version: begun from a template or a text, kept as it stands, published. */
export function draftEndpoints(needs: EndpointNeeds): Endpoint[] {
  return [
    templatesEndpoint(needs),
    listEndpoint(needs),
    startEndpoint(needs),
    readEndpoint(needs),
    keepEndpoint(needs),
    discardEndpoint(needs),
    moveEndpoint(needs),
    yamlEndpoint(needs),
    publishEndpoint(needs),
  ];
}

type EndpointNeeds = PublishNeeds & StartNeeds;

const pathParameters = { slug: agentPathParameters.slug };
const kept = { agent: exampleAgent, revision: "draft-17" };

function listEndpoint({ db }: EndpointNeeds): Endpoint {
  return {
    method: "get",
    path: "/api/account/agent-drafts",
    id: "listAgentDrafts",
    tag: "Publishing",
    summary: "The account's drafts, the last touched first.",
    description: "Answers what is kept beside the agents' versions.",
    access: "account",
    answers: {
      200: jsonAnswer(draftsShape, {
        drafts: [{ agent: exampleAgent, name: "Summarizer", connector: "llm", saved_at: exampleTime }],
      }),
    },
    handler: async (_request, response) => {
      const { id, handle } = accountOf(response);
      const drafts = (await listDrafts(db, id)).map(({ slug, name, connector, savedAt }) => ({
        agent: `${handle}/${slug}`,
        name,
        connector,
        saved_at: savedAt.toISOString(),
      }));
      response.json({ drafts });
    },
  };
}

const startRequest = z.union([
  z.strictObject({ connector: z.enum(connectorIds).describe("Starts from its template.") }),
  z.strictObject({ yaml: z.string().max(yamlLengthMax).describe("A definition as `npm run agents` reads it.") }),
]);

function startEndpoint(needs: EndpointNeeds): Endpoint {
  return {
    method: "post",
    path: "/api/account/agent-drafts",
    id: "startAgentDraft",
    tag: "Publishing",
    summary: "Begin an agent: from a connector's template, or from YAML.",
    description: "Nothing is published by it. A text names the agent; one that is there already is a 409.",
    access: "account",
    body: requestBody(startRequest, { connector: "llm" }, definitionBody),
    answers: {
      201: jsonAnswer(keptDraftShape, kept),
      ...refusals({ 422: { error: "Line 1: an agent's file must hold a mapping.", field: "yaml" } }),
      ...draftConflict,
    },
    handler: async (request, response) => {
      const owner = accountOf(response);
      const asked = parse(startRequest, request.body, "bad_request");
      const slug =
        "yaml" in asked ? await keepYaml(needs, owner, asked.yaml) : await startDraft(needs, owner, asked.connector);
      const draft = await readDraft(needs, owner, slug);
      response.status(201).json({ agent: `${owner.handle}/${slug}`, revision: draft.revision });
    },
  };
}

function readEndpoint(needs: EndpointNeeds): Endpoint {
  return {
    method: "get",
    path: "/api/account/agent-drafts/{slug}",
    id: "getAgentDraft",
    tag: "Publishing",
    summary: "A draft with its checks; without one, what the newest version says.",
    description: "Secrets are not told. `checks` says what keeps it from being published, and where.",
    access: "account",
    pathParameters,
    answers: {
      200: jsonAnswer(draftShape, {
        ...kept,
        definition,
        secret_names: [],
        saved_at: exampleTime,
        live_version: 2,
        newest_version: 3,
        checks: [{ state: "ok", text: "Every slot has a field", detail: null, field: null, remedy: null }],
        can_publish: true,
      }),
      ...refusals({ 404: 'There is no draft "summariser" of this account.' }),
    },
    handler: async (request, response) => {
      const owner = accountOf(response);
      const draft = await readDraft(needs, owner, String(request.params.slug));
      const { checks, problems } = await checkDraft(needs, owner, draft);
      const { agent } = draft;
      response.json({
        agent: `${owner.handle}/${draft.slug}`,
        revision: draft.revision,
        definition: draft.definition,
        secret_names: draft.secretNames,
        saved_at: draft.savedAt?.toISOString() ?? null,
        live_version: agent?.state === "live" ? agent.liveVersion : null,
        newest_version: agent?.newestVersion ?? null,
        checks,
        can_publish: problems.length === 0,
      });
    },
  };
}

const keepRequest = z.strictObject({
  revision: revision.describe('The state that was read before; "version-0" for a new draft.'),
  definition: draftDefinitionShape,
  secrets: z
    .record(secretName, z.string().max(4_000).nullable())
    .default({})
    .describe("Only those that change; null takes one away."),
});

function keepEndpoint(needs: EndpointNeeds): Endpoint {
  return {
    method: "put",
    path: "/api/account/agent-drafts/{slug}",
    id: "updateAgentDraft",
    tag: "Publishing",
    summary: "Keep a draft as it stands, whole or not.",
    description:
      "Of two that were made of the same state, the first is kept and the second is a 409 that says which state there is now.",
    access: "account",
    pathParameters,
    body: requestBody(keepRequest, { revision: "version-0", definition }, definitionBody),
    answers: {
      200: jsonAnswer(keptDraftShape, kept),
      ...refusals({
        422: { error: '"slug" must be 3 to 48 of a-z, 0-9 and -, and neither begin nor end with -.', field: "slug" },
      }),
      ...draftConflict,
    },
    handler: async (request, response) => {
      const owner = accountOf(response);
      const asked = parse(keepRequest, request.body, "bad_request");
      const slug = String(request.params.slug);
      const made = await keepDraft(needs, owner, slug, asked);
      response.json({ agent: `${owner.handle}/${slug.toLowerCase()}`, revision: made });
    },
  };
}

const revisionRequest = z.strictObject({ revision });

function discardEndpoint(needs: EndpointNeeds): Endpoint {
  return {
    method: "post",
    path: "/api/account/agent-drafts/{slug}/discard",
    id: "discardAgentDraft",
    tag: "Publishing",
    summary: "Throw a draft away; the agent's versions stay.",
    description: "It cannot be had back.",
    access: "account",
    pathParameters,
    body: requestBody(revisionRequest, { revision: "draft-17" }, smallBody),
    answers: { 204: { description: "It is gone." }, ...draftConflict },
    handler: async (request, response) => {
      const asked = parse(revisionRequest, request.body, "bad_request");
      await discardDraft(needs, accountOf(response), String(request.params.slug), asked.revision);
      response.status(204).end();
    },
  };
}

const moveRequest = z.strictObject({
  revision,
  slug: z.string().max(100).describe("The part of the address after the handle."),
});

function moveEndpoint(needs: EndpointNeeds): Endpoint {
  return {
    method: "post",
    path: "/api/account/agent-drafts/{slug}/move",
    id: "moveAgentDraft",
    tag: "Publishing",
    summary: "Give what is not published yet another address.",
    description: "Once it was published its address stays, since buyers call it there.",
    access: "account",
    pathParameters,
    body: requestBody(moveRequest, { revision: "draft-17", slug: "summarizer" }, smallBody),
    answers: {
      200: jsonAnswer(keptDraftShape, kept),
      ...refusals({
        404: 'There is no draft "summariser" of this account.',
        422: { error: '"slug" must be 3 to 48 of a-z, 0-9 and -, and neither begin nor end with -.', field: "slug" },
      }),
      ...draftConflict,
    },
    handler: async (request, response) => {
      const owner = accountOf(response);
      const asked = parse(moveRequest, request.body, "bad_request");
      const to = await moveDraft(needs, owner, String(request.params.slug), { ...asked, to: asked.slug });
      response.json({ agent: `${owner.handle}/${to}`, revision: asked.revision });
    },
  };
}

function yamlEndpoint(needs: EndpointNeeds): Endpoint {
  return {
    method: "get",
    path: "/api/account/agent-drafts/{slug}/yaml",
    id: "getAgentDraftAsYaml",
    tag: "Publishing",
    summary: "The draft as a file that `npm run agents` reads.",
    description: "Secrets are not in it; a comment names them.",
    access: "account",
    pathParameters,
    answers: {
      200: { content: ["application/yaml"], example: `agent: ${exampleAgent}\n` },
      ...refusals({ 404: 'There is no draft "summariser" of this account.' }),
    },
    handler: async (request, response) => {
      const owner = accountOf(response);
      const draft = await readDraft(needs, owner, String(request.params.slug));
      response.setHeader("content-disposition", `attachment; filename="${draft.slug}.yaml"`);
      response.setHeader("cache-control", "no-store");
      response.type("application/yaml").send(definitionYaml(owner, draft.slug, draft));
    },
  };
}

function publishEndpoint(needs: EndpointNeeds): Endpoint {
  return {
    method: "post",
    path: "/api/account/agent-drafts/{slug}/publish",
    id: "publishAgentDraft",
    tag: "Publishing",
    summary: "Make a draft what the agent is from the next run on.",
    description: "Refused as it is for any definition; then the draft stays.",
    access: "account",
    pathParameters,
    body: requestBody(revisionRequest, { revision: "draft-17" }, smallBody),
    answers: {
      200: jsonAnswer(agentVersionShape, { agent: exampleAgent, version: 3, state: "live", changed: true }),
      ...refusals({
        404: 'There is no draft "summariser" of this account.',
        422: { error: '"settings.prompt" is required.', field: "settings.prompt" },
      }),
      ...draftConflict,
    },
    handler: async (request, response) => {
      const asked = parse(revisionRequest, request.body, "bad_request");
      const slug = String(request.params.slug);
      const { address, version, changed } = await publishDraft(needs, accountOf(response), slug, asked.revision);
      response.json({ agent: address, version, state: "live", changed });
    },
  };
}
