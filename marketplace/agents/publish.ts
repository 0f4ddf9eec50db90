import { type Database, inTransaction, type Transaction } from "../../shared/postgres.ts";
import { type Account, lockOpenAccount } from "../accounts/create.ts";
import { parseSlug } from "../agent-address.ts";
import type { PublishTools } from "../connectors/connector.ts";
import type { Events } from "../events.ts";
import type { AgentId } from "../ids.ts";
import type { Sealer } from "../sealing.ts";
import { checkDefinition, refusalOf } from "./check.ts";
import { lockAgent, requireRoomToPublish, versionSaying } from "./versions.ts";

/**
 * Makes `definition` the live version of the agent `handle/slug`, creating the agent when there is none. Runs that are
 * under way end on the version they began with. 422 naming the field when something does not fit together; 409 for an
 * agent that the operator has suspended. Publishing the live definition again changes nothing, unless
 * something else was kept since: then it is the newest version, too.
 */
export async function publishAgent(
  context: PublishNeeds,
  owner: Account,
  slugText: string,
  given: unknown,
  isStillAsked?: StillAsked,
) {
  const published = await save(context, owner, slugText, given, { goLive: true, isStillAsked });
  if (published.changed) context.events.agentPublished({ agent: published.address, version: published.version });
  return published;
}

/** Keeps a definition as the agent's next version without showing it to buyers; what is live stays live. */
export async function saveDraft(
  context: PublishNeeds,
  owner: Account,
  slugText: string,
  given: unknown,
  isStillAsked?: StillAsked,
): Promise<Published & { state: string }> {
  return save(context, owner, slugText, given, { goLive: false, isStillAsked });
}

export interface Published {
  readonly agentId: AgentId;
  readonly address: string;
  readonly version: number;
  /** False when this very definition was live already. */
  readonly changed: boolean;
}

export interface PublishNeeds {
  readonly db: Database;
  readonly sealer: Sealer;
  readonly events: Events;
  readonly tools: PublishTools;
}

/** Throws where what is to be kept was changed or moved while it was checked; nothing else changes the account's agents meanwhile. */
export type StillAsked = (tx: Transaction) => Promise<unknown>;

async function save(
  { db, sealer, tools }: PublishNeeds,
  owner: Account,
  slugText: string,
  given: unknown,
  { goLive, isStillAsked }: { readonly goLive: boolean; readonly isStillAsked: StillAsked | undefined },
): Promise<Published & { state: string }> {
  const slug = parseSlug(slugText);
  const checked = await checkDefinition(tools, owner.id, given);
  if ("problems" in checked) throw refusalOf(checked.problems);
  return inTransaction(db, async (tx) => {
    const account = await lockOpenAccount(tx, owner.id);
    await isStillAsked?.(tx);
    const agent = await lockAgent(tx, account, slug);
    const version = await versionSaying(tx, sealer, agent, checked);
    const live = agent.state === "live" && agent.liveVersion === version;
    if (goLive && !live) {
      await requireRoomToPublish(tx, agent.id);
      await tx.query("update agents set state = 'live', live_version = $2, updated_at = now() where id = $1", [
        agent.id,
        version,
      ]);
      await tx.query(
        "update agent_versions set published_at = now() where agent_id = $1 and version = $2 and published_at is null",
        [agent.id, version],
      );
    }
    const state = goLive ? "live" : agent.state;
    return { agentId: agent.id, address: `${account.handle}/${slug}`, version, state, changed: !live };
  });
}
