import { isDeepStrictEqual } from "node:util";
import { ApiError } from "../../shared/errors.ts";
import { inTransaction, type Queryable, type Transaction } from "../../shared/postgres.ts";
import type { Account } from "../accounts/create.ts";
import { type Connector, connectorNames, type PublishTools } from "../connectors/connector.ts";
import { connectors } from "../connectors/registry.ts";
import type { Context } from "../context.ts";
import { type AccountId, type AgentId, newId } from "../ids.ts";
import { parse } from "../parse.ts";
import { parseSlug, toolNameOf } from "./address.ts";
import { type Definition, definitionSchema } from "./definition.ts";
import { wordsOf } from "./search-words.ts";
import { openAll } from "./version.ts";

/**
 * Makes `definition` what the agent `handle/slug` is from now on, creating the agent when there is none. 422 naming
 * the field when something does not fit together; 409 for an agent the operator has suspended. Publishing what is live
 * already changes nothing.
 */
export async function publishAgent(
  context: Needs,
  owner: Account,
  slugText: string,
  given: unknown,
): Promise<Published> {
  const slug = parseSlug(slugText);
  const definition = parse(definitionSchema, given, "invalid_value");
  const connector = connectors.get(definition.connector);
  if (!connector) {
    throw invalid("connector", `${connectorNames[definition.connector]} agents cannot be published here yet.`);
  }
  const settings = readSettings(connector, definition);
  await refuseProblems(connector, settings, definition, context.tools, owner.id);
  const outputKind = connector.outputKind(settings);

  const published = await inTransaction(context.db, async (tx) => {
    const agentId = await lockAgent(tx, owner, slug);
    const version = await liveTwin(tx, context, agentId, { ...definition, settings });
    if (version !== undefined) return { agentId, version, changed: false };
    return {
      agentId,
      version: await addVersion(tx, context, agentId, definition, settings, outputKind),
      changed: true,
    };
  });
  const address = `${owner.handle}/${slug}`;
  if (published.changed) context.events.agentPublished({ agent: address, version: published.version });
  return { ...published, address };
}

export interface Published {
  readonly agentId: AgentId;
  readonly address: string;
  readonly version: number;
  /** False when this very definition was live already. */
  readonly changed: boolean;
}

export interface Needs extends Pick<Context, "db" | "sealer" | "events"> {
  readonly tools: PublishTools;
}

function readSettings(connector: Connector<unknown>, { settings }: Definition): unknown {
  try {
    return parse(connector.settings, settings, "invalid_value");
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new ApiError(error.code, `In "settings": ${error.message}`, { body: { field: "settings" } });
  }
}

async function refuseProblems(
  connector: Connector<unknown>,
  settings: unknown,
  definition: Definition,
  tools: Needs["tools"],
  ownerId: AccountId,
) {
  const known = new Set(definition.fields.map(({ name }) => name));
  if (definition.accepts_extra_instructions) known.add("extraInstructions");
  const { fields, secrets } = connector.slots(settings);
  const unknownField = fields.find((name) => !known.has(name));
  if (unknownField) throw invalid("settings", `"settings" uses {{${unknownField}}}, which is not a declared field.`);
  const unknownSecret = secrets.find((name) => !Object.hasOwn(definition.secrets, name));
  if (unknownSecret)
    throw invalid("secrets", `"settings" uses {{secret.${unknownSecret}}}, which "secrets" does not hold.`);
  const [problem] = (await connector.publishProblems?.(settings, tools, ownerId)) ?? [];
  if (problem) throw invalid("settings", problem);
}

function invalid(field: string, message: string): ApiError {
  return new ApiError("invalid_value", message, { body: { field } });
}

async function lockAgent(tx: Transaction, owner: Account, slug: string): Promise<AgentId> {
  await tx.query(
    `insert into agents (id, account_id, handle, slug, tool_name) values ($1, $2, $3, $4, $5)
     on conflict (lower(handle), lower(slug)) do nothing`,
    [newId("agt"), owner.id, owner.handle, slug, toolNameOf(owner.handle, slug)],
  );
  const { rows } = await tx.query(
    "select id, account_id, state from agents where lower(handle) = $1 and lower(slug) = $2 for update",
    [owner.handle, slug],
  );
  const agent = rows[0];
  if (agent.account_id !== owner.id)
    throw new ApiError("conflict", `${owner.handle}/${slug} belongs to another account.`);
  if (agent.state === "suspended") throw new ApiError("conflict", `${owner.handle}/${slug} is suspended.`);
  return agent.id;
}

/** The live version, when it says exactly this. */
async function liveTwin(
  tx: Queryable,
  { sealer }: Needs,
  agentId: AgentId,
  definition: Omit<Definition, "settings"> & { settings: unknown },
): Promise<number | undefined> {
  const { rows } = await tx.query(
    `select v.* from agents a join agent_versions v on v.agent_id = a.id and v.version = a.live_version
     where a.id = $1 and a.state = 'live'`,
    [agentId],
  );
  const live = rows[0];
  if (!live) return undefined;
  const said: Definition = {
    name: live.name,
    description: live.description,
    connector: live.connector,
    price_credits: Number(live.price_credits),
    fields: live.fields,
    accepts_extra_instructions: live.accepts_extra_instructions,
    settings: live.settings,
    secrets: openAll(sealer, agentId, live.sealed_secrets),
  };
  // Through JSON, because that is how the stored one came back.
  return isDeepStrictEqual(said, JSON.parse(JSON.stringify(definition))) ? live.version : undefined;
}

async function addVersion(
  tx: Queryable,
  { sealer }: Needs,
  agentId: AgentId,
  definition: Definition,
  settings: unknown,
  outputKind: string,
): Promise<number> {
  const sealed = Object.fromEntries(
    Object.entries(definition.secrets).map(([name, secret]) => [name, sealer.seal(secret, `${agentId}/${name}`)]),
  );
  const { rows } = await tx.query(
    `insert into agent_versions (agent_id, version, name, description, connector, price_credits, fields,
       accepts_extra_instructions, output_kind, settings, sealed_secrets, search)
     select $1, coalesce(max(version), 0) + 1, $2, $3, $4, $5, $6, $7, $8, $9, $10,
       setweight(to_tsvector('simple', $11), 'A') || setweight(to_tsvector('simple', $12), 'B')
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
      JSON.stringify(settings),
      JSON.stringify(sealed),
      wordsOf(definition.name).join(" "),
      wordsOf(definition.description).join(" "),
    ],
  );
  const version: number = rows[0].version;
  await tx.query("update agents set state = 'live', live_version = $2, updated_at = now() where id = $1", [
    agentId,
    version,
  ]);
  return version;
}
