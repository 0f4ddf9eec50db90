import type { RequestHandler } from "express";
import { z } from "zod";
import { ApiError } from "../../shared/errors.ts";
import { toSafeNumber } from "../../shared/units.ts";
import type { Account } from "../accounts/create.ts";
import type { Context } from "../context.ts";
import { budgetMax, setModelBudget } from "../models/budget.ts";
import type { ModelState } from "../models/model-funds.ts";
import { parse } from "../parse.ts";
import { accountOf } from "../sign-in/require-session.ts";
import { checkDefinition } from "./check.ts";
import { definitionSchema, secretName } from "./definition.ts";
import { noticesOf } from "./notices.ts";
import { findOwnAgent, listOwnAgents, type OwnAgent } from "./own.ts";
import { publishAgent, saveDraft } from "./publish.ts";
import { moveAgent } from "./state.ts";
import { tryAgent } from "./try.ts";
import { definitionOf } from "./versions.ts";

/** A definition as it is sent: a secret that is not named stays as the newest version has it, null takes it away. */
export const definitionBody = definitionSchema.extend({
  secrets: z
    .record(secretName, z.string().max(4_000).nullable())
    .default({})
    .describe("Named in settings as {{secret.name}}. What is not named here stays as it is; null takes it away."),
});
export const tryBody = z.strictObject({ input: z.record(z.string(), z.unknown()).default({}) });

/** GET /api/account/agents */
export function getOwnAgents({ db }: Context): RequestHandler {
  return async (_request, response) => {
    const agents = await listOwnAgents(db, accountOf(response).id);
    response.json({ agents: agents.map(shown) });
  };
}

/** GET /api/account/agents/{slug}: all its creator said of it, but for the secrets, of which only the names are told. */
export function getOwnAgent(context: Context): RequestHandler {
  const { db, sealer } = context;
  return async (request, response) => {
    const own = await findOwnAgent(db, accountOf(response).id, String(request.params.slug));
    const { secrets, ...definition } = await definitionOf(db, sealer, own.id, own.newestVersion);
    const notices = await noticesOf(db, own.id);
    const model = await modelStateOf(context, own);
    response.json({ ...shown(own), definition, secret_names: Object.keys(secrets), model, notices });
  };
}

/** POST /api/account/agent-definitions/check: what keeps a definition from being published, all at once. */
export function postDefinitionCheck({ tools }: Context): RequestHandler {
  return async (request, response) => {
    const checked = await checkDefinition(tools, accountOf(response).id, objectIn(request.body));
    const problems = "problems" in checked ? checked.problems : [];
    response.json({ problems: problems.map(({ path, message }) => ({ field: path.join(".") || null, message })) });
  };
}

/** PUT /api/account/agents/{slug}: keeps the next version; what is live stays live. */
export function putDraft(context: Context): RequestHandler {
  return async (request, response) => {
    const owner = accountOf(response);
    const slug = String(request.params.slug);
    const definition = await withKeptSecrets(context, owner, slug, objectIn(request.body));
    const { address, version, state } = await saveDraft(context, owner, slug, definition);
    response.json({ agent: address, version, state });
  };
}

/** POST /api/account/agents/{slug}/publish: makes the newest version what the agent is from the next run on. */
export function postPublish(context: Context): RequestHandler {
  return async (request, response) => {
    const owner = accountOf(response);
    const own = await findOwnAgent(context.db, owner.id, String(request.params.slug));
    const definition = await definitionOf(context.db, context.sealer, own.id, own.newestVersion);
    const { address, version, changed } = await publishAgent(context, owner, own.slug, definition);
    response.json({ agent: address, version, state: "live", changed });
  };
}

/** POST /api/account/agents/{slug}/unpublish */
export function postUnpublish({ db }: Context): RequestHandler {
  return async (request, response) => {
    const own = await findOwnAgent(db, accountOf(response).id, String(request.params.slug));
    response.json(await moveAgent(db, `${own.handle}/${own.slug}`, "unpublish"));
  };
}

export const modelBudgetBody = z.strictObject({
  credits_per_day: z
    .int()
    .min(0)
    .max(budgetMax)
    .nullable()
    .describe("What the agent's models may cost in a day (UTC); null is the operator's default."),
});

/** PUT /api/account/agents/{slug}/model-budget {credits_per_day} */
export function putModelBudget(context: Context): RequestHandler {
  const { db } = context;
  return async (request, response) => {
    const { credits_per_day } = parse(modelBudgetBody, request.body ?? {}, "bad_request");
    const own = await findOwnAgent(db, accountOf(response).id, String(request.params.slug));
    await setModelBudget(db, own.id, credits_per_day);
    response.json({ agent: `${own.handle}/${own.slug}`, model: await modelStateOf(context, own) });
  };
}

/** POST /api/account/agents/{slug}/try {input}: a free run of the newest version. */
export function postTry(context: Context): RequestHandler {
  return async (request, response) => {
    const { input } = parse(tryBody, request.body ?? {}, "bad_request");
    const { version, ...outcome } = await tryAgent(context, accountOf(response), String(request.params.slug), input);
    const told = outcome.success
      ? { output: outcome.output, receipt: outcome.receipt ?? null }
      : { error: outcome.error };
    response.json({ success: outcome.success, version, ...told });
  };
}

async function modelStateOf({ versions, modelFunds }: Context, own: OwnAgent): Promise<ModelState | null> {
  const shown = own.state === "live" ? own.liveVersion : own.newestVersion;
  return modelFunds.stateOf(own.id, await versions.load(own.id, shown));
}

/** Secrets are never told, so whoever sends a definition again cannot send them again. */
async function withKeptSecrets({ db, sealer }: Context, owner: Account, slug: string, given: object): Promise<object> {
  const { secrets = {}, ...definition } = given as { secrets?: unknown };
  if (typeof secrets !== "object" || secrets === null || Array.isArray(secrets)) return given;
  const own = await findOwnAgent(db, owner.id, slug).catch(unlessAbsent);
  const kept = own ? (await definitionOf(db, sealer, own.id, own.newestVersion)).secrets : {};
  const merged = Object.entries({ ...kept, ...secrets }).filter(([, secret]) => secret !== null);
  return { ...definition, secrets: Object.fromEntries(merged) };
}

function unlessAbsent(error: unknown): undefined {
  if (error instanceof ApiError && error.code === "not_found") return undefined;
  throw error;
}

function objectIn(body: unknown): object {
  if (typeof body === "object" && body !== null && !Array.isArray(body)) return body;
  throw new ApiError("bad_request", "The body must be a JSON object: the agent's definition.");
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
