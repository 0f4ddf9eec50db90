import { z } from "zod";
import { jsonAnswer, requestBody } from "../../shared/endpoint.ts";
import { findOwnAgent } from "../agents/creator-agents.ts";
import type { PublishNeeds } from "../agents/publish.ts";
import { agentPathParameters } from "../agents/shapes.ts";
import { runBody, smallBody } from "../http/body-limits.ts";
import { accountOf } from "../http/callers.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { exampleAgent, exampleTime } from "../http/examples.ts";
import { refusals } from "../http/refusals.ts";
import { parse } from "../parse.ts";
import type { TryNeeds } from "../runs/try.ts";
import { triedAnswer, triedOf } from "../runs/try-endpoint.ts";
import { listVersions, readVersion, restoreVersion } from "./agent-history.ts";
import { tryDraft } from "./publish-draft.ts";
import { draftConflict, keptDraftShape, revision, versionShape, versionsShape } from "./shapes.ts";

/** A draft's try, and the versions that it can go back to. */
export function versionEndpoints(needs: PublishNeeds & TryNeeds): Endpoint[] {
  return [tryEndpoint(needs), listEndpoint(needs), readEndpoint(needs), restoreEndpoint(needs)];
}

const pathParameters = { slug: agentPathParameters.slug };
const versionNumber = z
  .string()
  .regex(/^[1-9]\d{0,9}$/, "must be a whole number from 1")
  .transform(Number)
  .pipe(z.int().max(2_147_483_647))
  .describe("The version's number, as the list of versions has it.");
const inPath = z.object({ version: versionNumber });

const tryRequest = z.strictObject({ revision, input: z.record(z.string(), z.unknown()).default({}) });

function tryEndpoint(needs: PublishNeeds & TryNeeds): Endpoint {
  return {
    method: "post",
    path: "/api/account/agent-drafts/{slug}/try",
    id: "tryAgentDraft",
    tag: "Publishing",
    summary: "Run a draft once, for free, as tryAgent does.",
    description: "The draft becomes a version that no buyer sees. What cannot be taken back is a 409.",
    access: "account",
    pathParameters,
    body: requestBody(tryRequest, { revision: "draft-17", input: { text: "Buyers pay per call." } }, runBody),
    answers: {
      200: triedAnswer,
      ...refusals({
        404: 'There is no draft "summariser" of this account.',
        422: { error: '"text" must be a text.', field: "text" },
      }),
      ...draftConflict,
    },
    handler: async (request, response) => {
      const asked = parse(tryRequest, request.body, "bad_request");
      response.json(triedOf(await tryDraft(needs, accountOf(response), String(request.params.slug), asked)));
    },
  };
}

function listEndpoint({ db }: PublishNeeds): Endpoint {
  const version = { version: 3, name: "Summarizer", price_credits: 5, created_at: exampleTime };
  return {
    method: "get",
    path: "/api/account/agents/{slug}/versions",
    id: "listOwnVersions",
    tag: "Publishing",
    summary: "An agent's versions, the newest first.",
    description: "Answers the newest hundred that are kept, published or not.",
    access: "account",
    pathParameters,
    answers: {
      200: jsonAnswer(versionsShape, { versions: [{ ...version, published_at: exampleTime, is_live: true }] }),
      ...refusals({ 404: 'There is no agent "summariser" of this account.' }),
    },
    handler: async (request, response) => {
      const own = await findOwnAgent(db, accountOf(response).id, String(request.params.slug));
      response.json({ versions: await listVersions(db, own.id) });
    },
  };
}

function readEndpoint(needs: PublishNeeds): Endpoint {
  return {
    method: "get",
    path: "/api/account/agents/{slug}/versions/{version}",
    id: "getOwnVersion",
    tag: "Publishing",
    summary: "What a version says.",
    description: "As its creator said it, except for the secrets.",
    access: "account",
    pathParameters: { ...pathParameters, version: versionNumber },
    answers: {
      200: jsonAnswer(versionShape, { version: 3, definition: { name: "Summarizer" }, secret_names: [] }),
      ...refusals({ 404: 'There is no agent "summariser" of this account.' }),
    },
    handler: async (request, response) => {
      const { version } = parse(inPath, { version: request.params.version }, "bad_request");
      const said = await readVersion(needs, accountOf(response), String(request.params.slug), version);
      response.json({ version, definition: said.definition, secret_names: said.secretNames });
    },
  };
}

const restoreRequest = z.strictObject({ revision, version: z.int().min(1).max(2_147_483_647) });

function restoreEndpoint(needs: PublishNeeds): Endpoint {
  return {
    method: "post",
    path: "/api/account/agent-drafts/{slug}/restore",
    id: "restoreAgentVersion",
    tag: "Publishing",
    summary: "Make the draft say what a version said.",
    description: "Its secrets come back too. Nothing is published by it.",
    access: "account",
    pathParameters,
    body: requestBody(restoreRequest, { revision: "draft-17", version: 2 }, smallBody),
    answers: {
      200: jsonAnswer(keptDraftShape, { agent: exampleAgent, revision: "draft-18" }),
      ...refusals({ 404: 'There is no agent "summariser" of this account.' }),
      ...draftConflict,
    },
    handler: async (request, response) => {
      const owner = accountOf(response);
      const asked = parse(restoreRequest, request.body, "bad_request");
      const slug = String(request.params.slug);
      const made = await restoreVersion(needs, owner, slug, asked);
      response.json({ agent: `${owner.handle}/${slug.toLowerCase()}`, revision: made });
    },
  };
}
