import { ApiError } from "../../shared/errors.ts";
import { type Database, inTransaction, type Queryable } from "../../shared/postgres.ts";
import { type Account, lockOpenAccount } from "../accounts/create.ts";
import { parseSlug } from "../agent-address.ts";
import { findOwnAgent, type OwnAgent } from "../agents/creator-agents.ts";
import { secretsMax } from "../agents/definition.ts";
import { definitionOf } from "../agents/versions.ts";
import type { AccountId } from "../ids.ts";
import type { Sealer } from "../sealing.ts";
import type { DraftDefinition, DraftSecrets } from "./draft-definition.ts";

const draftsPerAccount = 200;

export interface DraftNeeds {
  readonly db: Database;
  readonly sealer: Sealer;
}

export interface DraftReadNeeds {
  readonly db: Queryable;
  readonly sealer: Sealer;
}

/** An agent as its creator has written it: the draft that was kept, or else its newest version. */
export interface Draft {
  readonly slug: string;
  /** `draft-17`, or `version-3` where nothing is kept beside the versions. Saying it, a change is known to be of this very state. */
  readonly revision: string;
  readonly definition: DraftDefinition;
  /** What is changed of the newest version's secrets. */
  readonly secrets: DraftSecrets;
  /** The names of all that it would have. */
  readonly secretNames: readonly string[];
  /** Undefined where nothing is kept beside the versions. */
  readonly savedAt: Date | undefined;
  /** Whether the last try worked; undefined where this state was not tried. */
  readonly triedWell: boolean | undefined;
  /** The agent that has versions already. */
  readonly agent: OwnAgent | undefined;
}

/** 404 where the account has neither a draft nor an agent under the slug. */
export async function readDraft({ db, sealer }: DraftReadNeeds, owner: Account, slugText: string): Promise<Draft> {
  const slug = slugIn(slugText);
  const [row, agent] = await Promise.all([rowOf(db, owner.id, slug), ownAgent(db, owner.id, slug)]);
  if (!row && !agent) throw new ApiError("not_found", `There is no draft "${slug}" of this account.`);
  const newest = agent && (await definitionOf(db, sealer, agent.id, agent.newestVersion));
  const { secrets: had = {}, ...said } = newest ?? {};
  const secrets = row ? opened(sealer, owner.id, slug, row.sealed_secrets) : {};
  const names = Object.entries({ ...had, ...secrets }).filter(([, secret]) => secret !== null);
  return {
    slug,
    revision: revisionOf(row, agent),
    definition: row?.definition ?? (said as DraftDefinition),
    secrets,
    secretNames: names.map(([name]) => name).toSorted(),
    savedAt: row?.saved_at,
    triedWell: row?.tried_revision === row?.revision ? (row?.tried_well ?? undefined) : undefined,
    agent,
  };
}

/**
 * Keeps what the creator wrote, over the state that was read before; answers its revision. 409 where that state is not the newest
 * any more: then the kept draft stays, and nothing of the sent one is kept.
 */
export async function keepDraft(
  { db, sealer }: DraftNeeds,
  owner: Account,
  slugText: string,
  { revision, definition, secrets }: Kept,
): Promise<string> {
  const slug = parseSlug(slugText);
  return inTransaction(db, async (tx) => {
    await lockOpenAccount(tx, owner.id);
    const [row, agent] = [await rowOf(tx, owner.id, slug), await ownAgent(tx, owner.id, slug)];
    requireRevision(revision, revisionOf(row, agent));
    if (!row) await requireRoom(tx, owner.id);
    const sealed = { ...row?.sealed_secrets, ...sealedAt(sealer, owner.id, slug, secrets) };
    const kept = await onlyNeeded(tx, agent, sealed);
    const { rows } = await tx.query<{ revision: string }>(
      `insert into agent_drafts (account_id, slug, definition, sealed_secrets) values ($1, $2, $3, $4)
       on conflict (account_id, slug) do update set definition = excluded.definition, saved_at = now(),
         sealed_secrets = excluded.sealed_secrets, revision = excluded.revision
       returning revision::text as revision`,
      [owner.id, slug, JSON.stringify(definition), JSON.stringify(kept)],
    );
    return `draft-${rows[0]!.revision}`;
  });
}

interface Kept {
  /** The state that was read before. */
  readonly revision: string;
  readonly definition: DraftDefinition;
  /** Only those that change. */
  readonly secrets: DraftSecrets;
}

/** Takes the draft away; what the agent's versions say stays. */
export async function discardDraft(
  { db }: Pick<DraftNeeds, "db">,
  owner: Account,
  slug: string,
  revision: string,
): Promise<void> {
  const { rowCount } = await db.query(
    "delete from agent_drafts where account_id = $1 and slug = $2 and 'draft-' || revision = $3",
    [owner.id, slugIn(slug), revision],
  );
  if (rowCount === 0) throw changedMeanwhile();
}

/** The drafts that are kept, the last touched first. */
export async function listDrafts(db: Queryable, accountId: AccountId): Promise<ListedDraft[]> {
  const { rows } = await db.query<ListedDraft>(
    `select slug, definition->>'name' as name, definition->>'connector' as connector, saved_at as "savedAt"
     from agent_drafts where account_id = $1 order by saved_at desc limit ${draftsPerAccount}`,
    [accountId],
  );
  return rows;
}

export interface ListedDraft {
  readonly slug: string;
  readonly name: string;
  readonly connector: string;
  readonly savedAt: Date;
}

/** 409 unless both are the same state. */
export function requireRevision(asked: string, kept: string): void {
  if (asked !== kept) throw changedMeanwhile(kept);
}

const changedMeanwhile = (revision?: string) =>
  new ApiError("conflict", "The draft was changed elsewhere since. Nothing was saved here.", {
    body: { field: "revision", ...(revision === undefined ? {} : { revision }) },
  });

/** A word that can be no slug is a draft that is not there. */
const slugIn = (text: string) => text.toLowerCase().replaceAll("\0", "");

type SealedSecrets = Readonly<Record<string, string | null>>;

interface Row {
  readonly revision: string;
  readonly definition: DraftDefinition;
  readonly sealed_secrets: SealedSecrets;
  readonly tried_revision: string | null;
  readonly tried_well: boolean | null;
  readonly saved_at: Date;
}

async function rowOf(db: Queryable, accountId: AccountId, slug: string): Promise<Row | undefined> {
  const { rows } = await db.query<Row>(
    `select revision::text as revision, definition, sealed_secrets, tried_revision::text as tried_revision, tried_well, saved_at
     from agent_drafts where account_id = $1 and slug = $2`,
    [accountId, slug],
  );
  return rows[0];
}

async function ownAgent(db: Queryable, accountId: AccountId, slug: string): Promise<OwnAgent | undefined> {
  return findOwnAgent(db, accountId, slug).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === "not_found") return undefined;
    throw error;
  });
}

const revisionOf = (row: Row | undefined, agent: OwnAgent | undefined) =>
  row ? `draft-${row.revision}` : `version-${agent?.newestVersion ?? 0}`;

async function requireRoom(db: Queryable, accountId: AccountId): Promise<void> {
  const { rows } = await db.query<{ drafts: number }>(
    "select count(*)::integer as drafts from agent_drafts where account_id = $1",
    [accountId],
  );
  if (rows[0]!.drafts < draftsPerAccount) return;
  throw new ApiError("conflict", `An account may have ${draftsPerAccount} drafts.`);
}

/** Without those taken away that the agent's newest version does not have either. 422 for more than an agent may have. */
async function onlyNeeded(tx: Queryable, agent: OwnAgent | undefined, sealed: SealedSecrets): Promise<SealedSecrets> {
  const all = Object.entries(sealed);
  if (all.length <= secretsMax) return sealed;
  if (all.filter(([, secret]) => secret !== null).length > secretsMax) {
    throw new ApiError("invalid_value", `"secrets" may be ${secretsMax} at most.`, { body: { field: "secrets" } });
  }
  const { rows } = await tx.query<{ names: readonly string[] }>(
    "select array(select jsonb_object_keys(sealed_secrets)) as names from agent_versions where agent_id = $1 and version = $2",
    [agent?.id ?? null, agent?.newestVersion ?? null],
  );
  const had = new Set(rows[0]?.names);
  return Object.fromEntries(all.filter(([name, secret]) => secret !== null || had.has(name)));
}

const placeOf = (accountId: AccountId, slug: string, name: string) => `draft/${accountId}/${slug}/${name}`;

/** Bound to the draft's address, so that none opens under another. */
export function sealedAt(sealer: Sealer, accountId: AccountId, slug: string, secrets: DraftSecrets) {
  return Object.fromEntries(
    Object.entries(secrets).map(([name, secret]) => [
      name,
      secret === null ? null : sealer.seal(secret, placeOf(accountId, slug, name)),
    ]),
  );
}

function opened(sealer: Sealer, accountId: AccountId, slug: string, sealed: Row["sealed_secrets"]): DraftSecrets {
  return Object.fromEntries(
    Object.entries(sealed).map(([name, text]) => [
      name,
      text === null ? null : sealer.open(text, placeOf(accountId, slug, name)),
    ]),
  );
}
