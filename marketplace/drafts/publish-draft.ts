import { ApiError } from "../../shared/errors.ts";
import type { Queryable } from "../../shared/postgres.ts";
import type { Account } from "../accounts/create.ts";
import { withKeptSecrets } from "../agents/kept-secrets.ts";
import { type Published, type PublishNeeds, publishAgent, saveDraft } from "../agents/publish.ts";
import type { Outcome } from "../runs/execute.ts";
import { type TryNeeds, tryAgent } from "../runs/try.ts";
import { type Draft, type DraftReadNeeds, discardDraft, readDraft, requireRevision } from "./drafts.ts";

/**
 * Makes this state of the draft what buyers get; nothing is left of the draft then. 409 where it was changed since, 422 naming the
 * field where it does not fit together.
 */
export async function publishDraft(
  needs: PublishNeeds,
  owner: Account,
  slug: string,
  revision: string,
): Promise<Published> {
  const draft = await draftAt(needs, owner, slug, revision);
  const isStillAsked = (db: Queryable) => draftAt({ ...needs, db }, owner, slug, revision);
  const published = await publishAgent(needs, owner, draft.slug, await wholeOf(needs, owner, draft), isStillAsked);
  // What another page wrote meanwhile stays as a draft.
  if (draft.savedAt) await discardDraft(needs, owner, draft.slug, revision).catch(unlessChanged);
  return published;
}

/** Runs this state of the draft once, for free, as `tryAgent` does; it becomes a version that no buyer sees. */
export async function tryDraft(
  needs: PublishNeeds & TryNeeds,
  owner: Account,
  slug: string,
  { revision, input }: { readonly revision: string; readonly input: Readonly<Record<string, unknown>> },
): Promise<Outcome & { version: number }> {
  const draft = await draftAt(needs, owner, slug, revision);
  const isStillAsked = (db: Queryable) => draftAt({ ...needs, db }, owner, slug, revision);
  const { version } = await saveDraft(needs, owner, draft.slug, await wholeOf(needs, owner, draft), isStillAsked);
  const outcome = await tryAgent(needs, owner, draft.slug, input, version);
  await needs.db.query(
    `update agent_drafts set tried_revision = revision, tried_well = $4
     where account_id = $1 and slug = $2 and 'draft-' || revision = $3`,
    [owner.id, draft.slug, revision, outcome.success],
  );
  return outcome;
}

/** The draft with all its secrets, as publishing takes it. */
export async function wholeOf(needs: PublishNeeds, owner: Account, draft: Draft): Promise<object> {
  return withKeptSecrets(needs, owner, draft.slug, { ...draft.definition, secrets: draft.secrets });
}

async function draftAt(needs: DraftReadNeeds, owner: Account, slug: string, revision: string): Promise<Draft> {
  const draft = await readDraft(needs, owner, slug);
  requireRevision(revision, draft.revision);
  return draft;
}

function unlessChanged(error: unknown): void {
  if (!(error instanceof ApiError && error.code === "conflict")) throw error;
}
