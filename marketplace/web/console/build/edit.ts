import { isDeepStrictEqual } from "node:util";
import { ApiError } from "../../../../shared/errors.ts";
import type { Account } from "../../../accounts/create.ts";
import type { DraftDefinition, DraftSecrets } from "../../../drafts/draft-definition.ts";
import { type Draft, keepDraft, readDraft } from "../../../drafts/drafts.ts";
import { lineDiff } from "../../../drafts/line-diff.ts";
import { publishDraft, tryDraft } from "../../../drafts/publish-draft.ts";
import { definitionYaml } from "../../../drafts/shown-definition.ts";
import { keepAsCopy } from "../../../drafts/start-draft.ts";
import { inputOfForm } from "../../agent/form-input.ts";
import type { Told } from "../../agent/result-card.tsx";
import type { Redirect } from "../../page.ts";
import { done } from "../console-page.tsx";
import { isForForm } from "../refusal.ts";
import type { Before, EditorNeeds, Tried } from "./editor-state.ts";
import {
  changedFields,
  draftOfForm,
  type FieldChange,
  type FormerRules,
  formerRulesIn,
  inNewOrder,
  lostSecretIn,
  refusedSecretIn,
  secretNamesIn,
} from "./form-draft.ts";
import { previewFields } from "./shown-draft.ts";

/** The editor after its form was posted: what is in it is saved first, whatever was pressed. */
export async function edit(
  needs: EditorNeeds,
  owner: Account,
  slug: string,
  form: URLSearchParams,
): Promise<Redirect | Edited> {
  const pressed = form.get("do") ?? "save";
  const revision = (pressed === "over" && form.get("over")) || (form.get("revision") ?? "");
  const written = { ...writtenIn(form, pressed), revision };
  const refusedSecret = refusedSecretIn(form);
  if (pressed === "copy" && !refusedSecret) return copied(needs, owner, { slug, written, shown: secretNamesIn(form) });
  return editKept(needs, owner, slug, { form, pressed, written }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
    return gone(slug, written.definition, form);
  });
}

async function editKept(
  needs: EditorNeeds,
  owner: Account,
  slug: string,
  { form, pressed, written }: Asked,
): Promise<Redirect | Edited> {
  const refusedSecret = refusedSecretIn(form);
  const kept = await readDraft(needs, owner, slug);
  const tried: Tried = { values: inputOfForm(previewFields(written.definition), form) };
  const before: Before = { tried, formerRules: written.formerRules };
  if (pressed === "copy") return conflicting(owner, kept, written, { ...before, refusedSecret });
  try {
    await keepIfChanged(needs, owner, kept, written);
  } catch (error) {
    if (!isConflict(error)) throw error;
    const saved = await readDraft(needs, owner, slug);
    return conflicting(owner, saved, written, { ...before, refusedSecret: lostSecretIn(form) });
  }
  const draft = await readDraft(needs, owner, slug);
  if (refusedSecret) return { draft, before: { ...before, refusedSecret } };
  if (pressed === "publish") return publish(needs, owner, draft, before);
  if (pressed !== "try") return { draft, before };
  const told = await tryWith(needs, owner, draft, tried);
  // Read again: its checks say that it was tried.
  return { draft: await readDraft(needs, owner, slug), before: { ...before, tried: told } };
}

interface Asked {
  readonly form: URLSearchParams;
  readonly pressed: string;
  readonly written: Written & { revision: string };
}

interface Edited {
  readonly draft: Draft;
  readonly before: Before;
}

interface Written {
  readonly definition: DraftDefinition;
  readonly secrets: DraftSecrets;
  readonly formerRules: readonly FormerRules[];
}

function writtenIn(form: URLSearchParams, pressed: string): Written {
  const { definition, secrets } = draftOfForm(form);
  const formerRules = formerRulesIn(form);
  const [, move, at] = /^(add|remove|up|down)\.(\d{1,3})$/.exec(pressed) ?? [];
  if (move === undefined) return { definition, secrets, formerRules };
  const change = { move: move as FieldChange["move"], at: Number(at) };
  const fields = changedFields(definition.fields, change);
  return { definition: { ...definition, fields }, secrets, formerRules: inNewOrder(formerRules, change) };
}

/** Saving what is saved already changes nothing, so that a form posted twice is no conflict with itself. */
async function keepIfChanged(
  needs: EditorNeeds,
  owner: Account,
  kept: Draft,
  { definition, secrets, revision }: Written & { revision: string },
): Promise<void> {
  const changed = Object.fromEntries(
    Object.entries(secrets).filter(([name, secret]) => {
      if (secret === null) return kept.secretNames.includes(name);
      return kept.secrets[name] !== secret;
    }),
  );
  const same = isDeepStrictEqual(JSON.parse(JSON.stringify(definition)), JSON.parse(JSON.stringify(kept.definition)));
  if (same && Object.keys(changed).length === 0) return;
  await keepDraft(needs, owner, kept.slug, { revision, definition, secrets: changed });
}

/** The typed text stays in the form, under the state that it was made of. */
function conflicting(owner: Account, saved: Draft, written: Written & { revision: string }, before: Before): Edited {
  const mine: Draft = { ...saved, definition: written.definition, revision: written.revision };
  const lines = lineDiff(definitionYaml(owner, saved.slug, saved), definitionYaml(owner, saved.slug, mine));
  return { draft: mine, before: { ...before, conflict: { revision: saved.revision, lines } } };
}

/** What was typed for a draft that was moved or discarded elsewhere stays in the form, which can still make a draft of it. */
export function gone(slug: string, definition: DraftDefinition, form: URLSearchParams): Edited {
  const draft: Draft = {
    slug,
    revision: form.get("revision") ?? "",
    definition,
    secrets: {},
    // A copy is told by these that it lacks them.
    secretNames: secretNamesIn(form),
    savedAt: undefined,
    triedWell: undefined,
    agent: undefined,
  };
  const tried: Tried = { values: inputOfForm(previewFields(definition), form) };
  const formerRules = formerRulesIn(form);
  return { draft, before: { isGone: true, tried, formerRules, refusedSecret: lostSecretIn(form) } };
}

/** Secrets that were kept before stay with the draft that they were typed for. */
async function copied(needs: EditorNeeds, owner: Account, { slug, written, shown }: Copied): Promise<Redirect> {
  const copy = await keepAsCopy(needs, owner, slug, written);
  // What it is a copy of may be gone by now, but not from the form.
  const { secretNames } = await readDraft(needs, owner, slug).catch(() => ({ secretNames: [] }));
  const isBare = [...secretNames, ...shown].some((name) => written.secrets[name] === undefined);
  return done(`/build/${copy}`, isBare ? "copied-bare" : "copied");
}

interface Copied {
  readonly slug: string;
  readonly written: Written;
  /** The names of the secrets that were set when the form was shown. */
  readonly shown: readonly string[];
}

async function publish(needs: EditorNeeds, owner: Account, draft: Draft, before: Before): Promise<Redirect | Edited> {
  try {
    await publishDraft(needs, owner, draft.slug, draft.revision);
    return done(`/build/${draft.slug}`, "published");
  } catch (error) {
    if (!isForForm(error)) throw error;
    return { draft, before: { ...before, problem: `Not published: ${error.message}` } };
  }
}

async function tryWith(needs: EditorNeeds, owner: Account, draft: Draft, tried: Tried): Promise<Tried> {
  try {
    const asked = { revision: draft.revision, input: tried.values };
    const outcome = await tryDraft(needs, owner, draft.slug, asked);
    const runId = `version ${outcome.version}, a try`;
    const told: Told = outcome.success
      ? { outcome: "success", runId, output: outcome.output, paid: "Free." }
      : { outcome: "failed", runId, error: outcome.error };
    return { ...tried, told };
  } catch (error) {
    if (!isForForm(error)) throw error;
    const { field } = error.body as { field?: unknown };
    const isInput = typeof field === "string" && !/^(settings|fields|secrets|name|description|price)/.test(field);
    const wrong = isInput ? { field, problem: error.message } : undefined;
    return { ...tried, ...(wrong && { wrong }), told: { outcome: "refused", message: error.message } };
  }
}

export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.code === "not_found";
}

function isConflict(error: unknown): boolean {
  return error instanceof ApiError && error.code === "conflict" && error.body.field === "revision";
}
