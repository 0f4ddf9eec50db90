import { z } from "zod";
import { covering } from "../../shared/covering.ts";
import { jsonAnswer } from "../../shared/endpoint.ts";
import { connectorIds } from "../connectors/connector.ts";
import { connectorKinds } from "../connectors/guide.ts";
import { anyObject, moment, wholeCredits } from "../http/shapes.ts";
import type { OwnVersion } from "./agent-history.ts";
import type { Check } from "./checks.ts";

/** What is told of drafts, templates and versions. */

export const revision = z
  .string()
  .regex(/^(draft|version)-\d{1,19}$/, 'must be as it was answered: "draft-17" or "version-0"')
  .describe("The state that the change is made of; another since then is a 409, and nothing is lost.");

const check = covering<Check>()(
  z
    .object({
      state: z.enum(["ok", "bad", "warn", "wait"]),
      text: z.string(),
      detail: z.string().nullable(),
      field: z.string().nullable().describe("A path in the definition."),
      remedy: z.enum(["wallets", "try"]).nullable(),
    })
    .meta({ id: "DraftCheck" }),
);

export const draftShape = z
  .object({
    agent: z.string(),
    revision: z.string(),
    definition: anyObject.describe("As it was written, whole or not, except for the secrets."),
    secret_names: z.array(z.string()),
    saved_at: moment.nullable().describe("Null where nothing is kept beside the versions."),
    live_version: z.int().nullable(),
    newest_version: z.int().nullable(),
    checks: z.array(check),
    can_publish: z.boolean(),
  })
  .meta({ id: "AgentDraft" });

const conflictShape = z
  .object({
    error: z.string(),
    field: z.string().optional(),
    revision: z.string().optional().describe("The state that there is now, where the draft was changed elsewhere."),
  })
  .meta({ id: "DraftConflict" });

/** Nothing was done, and what was sent is still the sender's. */
export const draftConflict = {
  409: jsonAnswer(conflictShape, {
    error: "The draft was changed elsewhere since. Nothing was saved here.",
    field: "revision",
    revision: "draft-18",
  }),
};

export const keptDraftShape = z.object({ agent: z.string(), revision: z.string() }).meta({ id: "KeptDraft" });

export const draftsShape = z
  .object({
    drafts: z.array(
      z
        .object({ agent: z.string(), name: z.string(), connector: z.enum(connectorIds), saved_at: moment })
        .meta({ id: "ListedDraft" }),
    ),
  })
  .meta({ id: "AgentDrafts" });

export const templatesShape = z
  .object({
    templates: z.array(
      z
        .object({
          connector: z.enum(connectorIds),
          connector_name: z.string(),
          kind: z.enum(Object.keys(connectorKinds) as [keyof typeof connectorKinds]),
          does: z.string(),
          brings: z.string().nullable().describe("What only you can have, before it runs."),
          cannot_be_undone: z.boolean(),
          definition: anyObject,
        })
        .meta({ id: "AgentTemplate" }),
    ),
  })
  .meta({ id: "AgentTemplates" });

const version = covering<OwnVersion>()(
  z
    .object({
      version: z.int(),
      name: z.string(),
      price_credits: wholeCredits,
      created_at: moment,
      published_at: moment.nullable(),
      is_live: z.boolean(),
    })
    .meta({ id: "OwnVersion" }),
);

export const versionsShape = z.object({ versions: z.array(version) }).meta({ id: "OwnVersions" });

export const versionShape = z
  .object({ version: z.int(), definition: anyObject, secret_names: z.array(z.string()) })
  .meta({ id: "OwnVersionDetail" });
