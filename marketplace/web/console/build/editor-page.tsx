/** @jsxRuntime automatic @jsxImportSource preact */
import { ApiError } from "../../../../shared/errors.ts";
import { inTransaction } from "../../../../shared/postgres.ts";
import { moveAgent } from "../../../agents/state.ts";
import { readVersion, restoreVersion } from "../../../drafts/agent-history.ts";
import { draftDefinitionShape } from "../../../drafts/draft-definition.ts";
import { keepYaml } from "../../../drafts/draft-yaml.ts";
import { type Draft, discardDraft, readDraft } from "../../../drafts/drafts.ts";
import { moveDraft } from "../../../drafts/move-draft.ts";
import { admitAccountChange, admitDraftSave } from "../../../sign-in/require-session.ts";
import type { Page } from "../../page.ts";
import { type AccountVisit, type ConsoleView, consolePage, done } from "../console-page.tsx";
import { type Refusal, unchanged, wholeNumber } from "../refusal.ts";
import { edit, gone, isNotFound } from "./edit.ts";
import { type Before, type EditorNeeds, type RefusedYaml, readEditor } from "./editor-state.ts";
import { EditorView } from "./editor-view.tsx";
import { definitionInForm, definitionText, formerRulesIn, lostSecretIn } from "./form-draft.ts";
import { definitionFormBytesMax, FromYaml, refusedYamlIn } from "./from-yaml.tsx";

const here = ({ params }: AccountVisit) => `/build/${params.slug}`;
const slugOf = ({ params }: AccountVisit) => params.slug ?? "";

/** Where one agent is written, tried and published. */
export function editorPage(needs: EditorNeeds): Page {
  return consolePage(needs, {
    path: "/build/{slug}",
    scriptBytesMax: 45_000,
    formBytesMax: definitionFormBytesMax,
    admit: (db, account, form) => (isSave(form) ? admitDraftSave : admitAccountChange)(db, account),
    notices: {
      published: "Published. Buyers get this from the next run on.",
      unpublished: "Unpublished. It answers 404 now.",
      restored: "The draft says what that version said. Nothing is published by it.",
      taken: "The text is the draft now.",
      discarded: "The changes are thrown away.",
      copied: "What you had is a draft of its own.",
      "copied-bare": "What you had is a draft of its own. Secrets that were set before are not in it: set them again.",
      moved: "It has its new address.",
    },
    show: async (visit, refusal) => {
      let draft: Draft;
      try {
        draft = await readDraft(needs, visit.account, slugOf(visit));
      } catch (error) {
        return withoutDraft(needs, visit, error, refusal);
      }
      return viewOf(needs, visit, asTyped(draft, refusal), { against: againstIn(visit), ...saidOf(refusal) });
    },
    acts: {
      edit: async (visit, form) => {
        const edited = await edit(needs, visit.account, slugOf(visit), form);
        return "redirect" in edited ? edited : viewOf(needs, visit, edited.draft, edited.before);
      },
      restore: async (visit, form) => {
        const version = wholeNumber(form, "version") ?? 0;
        await restoreVersion(needs, visit.account, slugOf(visit), {
          version: versionIn(version),
          revision: revisionIn(form),
        });
        return done(here(visit), "restored");
      },
      yaml: async (visit, form) => {
        const over = { slug: slugOf(visit), revision: revisionIn(form) };
        await keepYaml(needs, visit.account, (form.get("yaml") ?? "").replaceAll("\r\n", "\n"), over);
        return done(here(visit), "taken");
      },
      unpublish: async (visit) => {
        const { agent } = await readDraft(needs, visit.account, slugOf(visit));
        if (!agent) throw new ApiError("not_found", "There is no such agent.");
        await inTransaction(needs.db, (tx) => moveAgent(tx, `${agent.handle}/${agent.slug}`, "unpublish"));
        return done(here(visit), "unpublished");
      },
      move: async (visit, form) => {
        const asked = { revision: revisionIn(form), to: form.get("slug") ?? "" };
        if (asked.to.trim().toLowerCase() === slugOf(visit)) throw unchanged("slug", "is its address already");
        return done(`/build/${await moveDraft(needs, visit.account, slugOf(visit), asked)}`, "moved");
      },
      discard: async (visit, form) => {
        const { agent } = await readDraft(needs, visit.account, slugOf(visit));
        await discardDraft(needs, visit.account, slugOf(visit), revisionIn(form));
        return done(agent ? here(visit) : "/build", "discarded");
      },
    },
  });
}

/** A save, which the editor also does by itself; trying, publishing and copying count like any other change. */
function isSave(form: URLSearchParams): boolean {
  return form.get("act") === "edit" && !["try", "publish", "copy"].includes(form.get("do") ?? "");
}

async function viewOf(
  needs: EditorNeeds,
  { account }: AccountVisit,
  draft: Draft,
  before: Before,
): Promise<ConsoleView> {
  if (before.against !== undefined) await readVersion(needs, account, draft.slug, before.against);
  const editor = await readEditor(needs, account, draft, before);
  return {
    title: `Build: ${draft.definition.name || draft.slug}`,
    frame: "bare",
    islands: ["build.js"],
    status: before.conflict ? 409 : before.isGone ? 404 : undefined,
    body: <EditorView editor={editor} />,
  };
}

/** What was written in a form that was refused, and whose draft is not there any more either, can be kept as another one. */
async function withoutDraft(
  needs: EditorNeeds,
  visit: AccountVisit,
  error: unknown,
  refusal: Refusal | undefined,
): Promise<ConsoleView> {
  if (!refusal || !isNotFound(error)) throw error;
  const { handle } = visit.account;
  const asText = refusedYamlIn(refusal);
  if (asText) return goneAsText(handle, asText);
  if (refusal.act !== "edit") throw error;
  const read = draftDefinitionShape.safeParse(definitionInForm(refusal.form));
  if (!read.success) {
    const text = definitionText(`${handle}/${slugOf(visit)}`, refusal.form);
    if (text === undefined) throw error;
    return goneAsText(handle, { text, problem: refusal.error.message });
  }
  const { draft, before } = gone(slugOf(visit), read.data, refusal.form);
  return viewOf(needs, visit, draft, { ...before, problem: refusal.sentence });
}

/** A text has room for what no form can show. */
function goneAsText(handle: string, refused: RefusedYaml): ConsoleView {
  return {
    title: "This draft was moved or discarded",
    lede: "What you wrote is not lost: it can be a draft of its own.",
    islands: ["typed.js"],
    body: <FromYaml handle={handle} refused={refused} />,
  };
}

/** A draft that was posted and not kept stays in the form. */
function asTyped(draft: Draft, refusal: Refusal | undefined): Draft {
  if (refusal?.act !== "edit") return draft;
  const read = draftDefinitionShape.safeParse(definitionInForm(refusal.form));
  return {
    ...draft,
    revision: refusal.value("revision") ?? draft.revision,
    ...(read.success && { definition: read.data }),
  };
}

function saidOf(refusal: Refusal | undefined): Before {
  if (refusal?.act === "move") {
    return { refusedMove: { slug: refusal.value("slug") ?? "", problem: refusal.sentence } };
  }
  if (refusal && refusal.act !== "yaml") {
    const { form, sentence: problem } = refusal;
    return { problem, refusedSecret: lostSecretIn(form), formerRules: formerRulesIn(form) };
  }
  if (!refusal) return {};
  return { refusedYaml: { text: refusal.value("yaml") ?? "", problem: refusal.sentence } };
}

const revisionIn = (form: URLSearchParams) => form.get("revision") ?? "";

function againstIn({ query }: AccountVisit): number | undefined {
  const text = query.get("against");
  return text === null ? undefined : versionIn(Number(text));
}

function versionIn(version: number): number {
  if (Number.isSafeInteger(version) && version > 0 && version < 2 ** 31) return version;
  throw new ApiError("not_found", "There is no such version.");
}
