import { isDeepStrictEqual } from "node:util";
import { ApiError } from "../../shared/errors.ts";
import type { Queryable, Transaction } from "../../shared/postgres.ts";
import type { Account } from "../accounts/create.ts";
import { toolNamesOf } from "../agent-address.ts";
import { historyDays } from "../history-days.ts";
import { type AgentId, newId } from "../ids.ts";
import type { Sealer } from "../sealing.ts";
import type { Checked } from "./check.ts";
import { agentsPerAccount } from "./creator-agents.ts";
import { wordsOf } from "./search-words.ts";
import { openAll } from "./version.ts";

/** The locked account's agent under this slug, made as a draft when there is none. 409 when it is suspended. */
export async function lockAgent(tx: Transaction, owner: Account, slug: string): Promise<LockedAgent> {
  const known = await findForUpdate(tx, owner, slug);
  if (known) return known;
  await requireRoom(tx, owner);
  for (const toolName of toolNamesOf(owner.handle, slug)) {
    await tx.query(
      `insert into agents (id, account_id, handle, slug, tool_name)
       select $1, $2, $3, $4, $5 where not exists (select from tool_names where tool_name = $5) on conflict do nothing`,
      [newId("agt"), owner.id, owner.handle, slug, toolName],
    );
    const agent = await findForUpdate(tx, owner, slug);
    if (agent) return agent;
  }
  throw new Error(`every tool name of ${owner.handle}/${slug} is taken`);
}

async function requireRoom(tx: Transaction, owner: Account): Promise<void> {
  const { rows } = await tx.query<{ agents: number }>(
    "select count(*)::integer as agents from (select from agents where account_id = $1 limit $2) counted",
    [owner.id, agentsPerAccount],
  );
  if (rows[0]!.agents < agentsPerAccount) return;
  throw new ApiError("conflict", `An account may have ${agentsPerAccount} agents.`);
}

async function findForUpdate(tx: Transaction, owner: Account, slug: string): Promise<LockedAgent | undefined> {
  const { rows } = await tx.query(
    `select id, state, live_version as "liveVersion",
       (select max(version) from agent_versions where agent_id = agents.id) as "newestVersion"
     from agents where account_id = $1 and lower(slug) = $2 for update`,
    [owner.id, slug],
  );
  const agent = rows[0];
  if (agent?.state === "suspended") throw new ApiError("conflict", `${owner.handle}/${slug} is suspended.`);
  return agent;
}

export interface LockedAgent {
  readonly id: AgentId;
  readonly state: "draft" | "live" | "unpublished";
  readonly liveVersion: number | null;
  readonly newestVersion: number | null;
}

/**
 * The version that says exactly this: the newest one, or a new one. Never an older one, even the live one: what was said last is the
 * newest, which the editor shows and a creator publishes.
 */
export async function versionSaying(
  tx: Queryable,
  sealer: Sealer,
  { id, newestVersion: newest }: LockedAgent,
  checked: Checked,
): Promise<number> {
  if (newest !== null && (await says(tx, sealer, id, newest, checked))) return newest;
  return addVersion(tx, sealer, id, checked);
}

async function says(
  tx: Queryable,
  sealer: Sealer,
  agentId: AgentId,
  version: number,
  { definition }: Checked,
): Promise<boolean> {
  // Through JSON, because that is how the stored one came back.
  return isDeepStrictEqual(await definitionOf(tx, sealer, agentId, version), JSON.parse(JSON.stringify(definition)));
}

/** What a version says, as its creator said it: secrets in the clear. */
export async function definitionOf(
  db: Queryable,
  sealer: Sealer,
  agentId: AgentId,
  version: number,
): Promise<Checked["definition"]> {
  const { rows } = await db.query("select * from agent_versions where agent_id = $1 and version = $2", [
    agentId,
    version,
  ]);
  const row = rows[0];
  if (!row) throw new ApiError("conflict", "The agent was changed meanwhile; try again.");
  return {
    name: row.name,
    description: row.description,
    category: row.category,
    tags: row.tags,
    connector: row.connector,
    price_credits: Number(row.price_credits),
    fields: row.fields,
    accepts_extra_instructions: row.accepts_extra_instructions,
    settings: row.settings,
    secrets: openAll(sealer, agentId, row.sealed_secrets),
  };
}

/** Versions kept of an agent beside the live one, as far as they take so many bytes: enough for any run or page that still reads a replaced one. */
const versionsKept = 100;
const keptBytesMax = 2_000_000;
/**
 * One that was published is kept for longer, since what was paid for is read as it says: until it was replaced so long ago that no
 * result waits any more, and its agent owes nothing.
 */
const replacedKeptDays = historyDays + 20;
const publicationsMax = 1_000;
const publishedBytesMax = 8_000_000;
/** Of all agents of an account: so many as it may have could take twenty times as much. */
const accountBytesMax = 500_000_000;

/** SQL: what a version takes, as it is stored. */
const versionBytes = ["description", "fields", "settings", "sealed_secrets", "search", "tags"]
  .map((column) => `pg_column_size(${column})`)
  .join(" + ");

/** Throws ApiError 409 when as many published versions are kept as may be, or they take as much. */
export async function requireRoomToPublish(tx: Queryable, agentId: AgentId): Promise<void> {
  const { rows } = await tx.query<{ kept: number; bytes: bigint }>(
    `select count(*)::integer as kept, coalesce(sum(${versionBytes}), 0) as bytes from agent_versions
     where agent_id = $1 and published_at is not null`,
    [agentId],
  );
  const { kept, bytes } = rows[0]!;
  const within = `in ${replacedKeptDays} days, or while it owes calls that were paid for.`;
  if (kept >= publicationsMax)
    throw new ApiError("conflict", `An agent may be published ${publicationsMax} times ${within}`);
  if (bytes >= publishedBytesMax) {
    throw new ApiError(
      "conflict",
      `What an agent publishes may take ${publishedBytesMax / 1_000_000} megabytes ${within}`,
    );
  }
}

async function addVersion(
  tx: Queryable,
  sealer: Sealer,
  agentId: AgentId,
  { definition, outputKind, needsAccount }: Checked,
): Promise<number> {
  const sealed = Object.fromEntries(
    Object.entries(definition.secrets).map(([name, secret]) => [name, sealer.seal(secret, `${agentId}/${name}`)]),
  );
  const { rows } = await tx.query(
    `insert into agent_versions (agent_id, version, name, description, connector, price_credits, fields,
       accepts_extra_instructions, output_kind, settings, sealed_secrets, category, tags, needs_account, search)
     select $1, coalesce(max(version), 0) + 1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13,
       setweight(to_tsvector('simple', $14), 'A') || setweight(to_tsvector('simple', $15), 'B')
         || setweight(to_tsvector('simple', $16), 'C')
     from agent_versions where agent_id = $1
     returning version`,
    [
      agentId,
      definition.name,
      definition.description,
      definition.connector,
      definition.price_credits,
      JSON.stringify(definition.fields),
      definition.accepts_extra_instructions,
      outputKind,
      JSON.stringify(definition.settings),
      JSON.stringify(sealed),
      definition.category,
      definition.tags,
      needsAccount,
      ...[definition.name, definition.description, definition.tags.join(" ")].map((text) => wordsOf(text).join(" ")),
    ],
  );
  const { version } = rows[0];
  await deleteOldVersions(tx, agentId, version);
  await requireRoomOfAccount(tx, agentId);
  return version;
}

/** Throws ApiError 409 where the agent's versions take more than before, and all of the account's too much. */
async function requireRoomOfAccount(tx: Queryable, agentId: AgentId): Promise<void> {
  const { grew, bytes } = await countBytes(tx, agentId);
  if (!grew || bytes <= accountBytesMax) return;
  await deleteLongReplaced(tx, agentId);
  if ((await countBytes(tx, agentId)).bytes <= accountBytesMax) return;
  throw new ApiError(
    "conflict",
    `What an account's agents say, in all versions that are kept, may take ${accountBytesMax / 1_000_000} megabytes; published ones are ` +
      `kept for ${replacedKeptDays} days after they were replaced, or while their agent owes calls that were paid for.`,
  );
}

/** Counts what the agent's versions take now; `bytes` is what all of the account's take. */
async function countBytes(tx: Queryable, agentId: AgentId): Promise<{ grew: boolean; bytes: bigint }> {
  const { rows } = await tx.query<{ grew: boolean; bytes: bigint }>(
    `with own as (
       select account_id, coalesce(definition_bytes, 0) as before,
         (select coalesce(sum(${versionBytes}), 0)::bigint from agent_versions where agent_id = agents.id) as bytes
       from agents where id = $1
     ), counted as (
       update agents set definition_bytes = own.bytes from own where id = $1
     )
     select bytes > before as grew, bytes + (
       select coalesce(sum(definition_bytes), 0) from agents other where other.account_id = own.account_id and other.id <> $1
     ) as bytes from own`,
    [agentId],
  );
  return rows[0]!;
}

/** Of the account's other agents: however little they take, no result waits for these any more. */
async function deleteLongReplaced(tx: Queryable, agentId: AgentId): Promise<void> {
  await tx.query(
    `with others as (
       select id, live_version from agents
       where account_id = (select account_id from agents where id = $1) and id <> $1 for no key update skip locked
     ), old as (
       select v.agent_id, v.version from others a join agent_versions v on v.agent_id = a.id
       where v.version is distinct from a.live_version and ${longReplaced("$2")} limit ${deletedAtOnce}
     ), deleted as (
       delete from agent_versions v using old where v.agent_id = old.agent_id and v.version = old.version
       returning v.agent_id, ${versionBytes} as bytes
     )
     update agents set definition_bytes = greatest(definition_bytes - freed.bytes, 0)
     from (select agent_id, sum(bytes)::bigint as bytes from deleted group by agent_id) freed where id = freed.agent_id`,
    [agentId, replacedKeptDays],
  );
}

const deletedAtOnce = 1_000;

async function deleteOldVersions(tx: Queryable, agentId: AgentId, newest: number): Promise<void> {
  await tx.query(
    `with sized as (
       select version, sum(${versionBytes}) over (partition by published_at is null order by version desc) as through
       from agent_versions where agent_id = $1
     )
     delete from agent_versions v using agents a where v.agent_id = $1 and a.id = v.agent_id
       and v.version < $2 and v.version is distinct from a.live_version
       and (v.version <= $2 - ${versionsKept} or v.version in (select version from sized where through > ${keptBytesMax}))
       and (v.published_at is null
         or (${longReplaced("$3")}))`,
    [agentId, newest, replacedKeptDays],
  );
}

/** SQL: of agent_versions v, a published one that was replaced more than so many days ago, of an agent that owes nothing. */
const longReplaced = (days: string) => `v.published_at is not null
  and exists (select from agent_versions next where next.agent_id = v.agent_id and next.version > v.version
                and next.published_at < now() - make_interval(days => ${days}))
  and not exists (select from debts where agent_id = v.agent_id)`;
