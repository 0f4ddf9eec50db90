import { ApiError } from "../../shared/errors.ts";
import type { Queryable } from "../../shared/postgres.ts";
import type { Account } from "../accounts/create.ts";
import { findOwnAgent } from "../agents/creator-agents.ts";
import { definitionOf } from "../agents/versions.ts";
import type { AgentId } from "../ids.ts";
import type { DraftDefinition } from "./draft-definition.ts";
import { type DraftNeeds, keepDraft, readDraft } from "./drafts.ts";

/** A version as its creator sees it. */
export interface OwnVersion {
  readonly version: number;
  readonly name: string;
  readonly price_credits: number;
  readonly created_at: string;
  readonly published_at: string | null;
  readonly is_live: boolean;
}

const shownMax = 100;

/** The newest versions of an agent of one's own. */
export async function listVersions(db: Queryable, agentId: AgentId): Promise<OwnVersion[]> {
  const { rows } = await db.query(
    `select v.version, v.name, v.price_credits, v.created_at, v.published_at,
       a.state = 'live' and v.version = a.live_version as is_live
     from agent_versions v join agents a on a.id = v.agent_id
     where v.agent_id = $1 order by v.version desc limit ${shownMax}`,
    [agentId],
  );
  return rows.map((row) => ({
    ...row,
    price_credits: Number(row.price_credits),
    created_at: row.created_at.toISOString(),
    published_at: row.published_at?.toISOString() ?? null,
  }));
}

/** What a version of one's own says, without its secrets' values. 404 where it is not kept. */
export async function readVersion(
  { db, sealer }: DraftNeeds,
  owner: Account,
  slug: string,
  version: number,
): Promise<{ readonly definition: DraftDefinition; readonly secretNames: readonly string[] }> {
  const { definition, secrets } = await saidBy({ db, sealer }, owner, slug, version);
  return { definition, secretNames: Object.keys(secrets).toSorted() };
}

/** Makes the draft say what a version said, its secrets as well; the draft's revision. Nothing is published by it. */
export async function restoreVersion(
  needs: DraftNeeds,
  owner: Account,
  slug: string,
  { version, revision }: { readonly version: number; readonly revision: string },
): Promise<string> {
  const [{ definition, secrets }, draft] = await Promise.all([
    saidBy(needs, owner, slug, version),
    readDraft(needs, owner, slug),
  ]);
  const gone = draft.secretNames.filter((name) => !Object.hasOwn(secrets, name)).map((name) => [name, null]);
  const restored = { ...secrets, ...Object.fromEntries(gone) };
  return keepDraft(needs, owner, slug, { revision, definition, secrets: restored });
}

async function saidBy({ db, sealer }: DraftNeeds, owner: Account, slug: string, version: number) {
  const own = await findOwnAgent(db, owner.id, slug);
  const { secrets, ...said } = await definitionOf(db, sealer, own.id, version).catch((error: unknown) => {
    if (!(error instanceof ApiError && error.code === "conflict")) throw error;
    throw new ApiError("not_found", `There is no version ${version} of "${own.slug}".`);
  });
  return { definition: said as DraftDefinition, secrets };
}
