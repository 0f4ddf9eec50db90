import { ApiError } from "../../shared/errors.ts";
import type { Queryable } from "../../shared/postgres.ts";
import { parseAddress } from "../agent-address.ts";
import type { AccountId, AgentId } from "../ids.ts";
import type { Wallet } from "../wallet.ts";
import type { AgentVersion, Versions } from "./version.ts";

/**
 * The live agent at `handle/slug`. A draft, suspended or unpublished one is the same 404 as none at all, found by the
 * same query. 503 when the look-up itself fails: nothing may run on a guess about who is paid.
 */
export async function findLiveAgent({ lookups, versions }: FindNeeds, address: string): Promise<LiveAgent> {
  const key = parseAddress(address);
  const row = key && (await lookups.agent(key).catch(refuseToGuess));
  if (!row) throw noSuchAgent();
  return { ...row, address: `${row.handle}/${row.slug}`, version: await versions.load(row.id, row.liveVersion) };
}

/**
 * The live agent at an address, to be described. Any other, and all that a suspended creator published, is the same 404 as none at all;
 * calls of it are 503, as its owner cannot be verified.
 */
export async function findShownAgent(needs: FindNeeds, address: string): Promise<LiveAgent> {
  const agent = await findLiveAgent(needs, address);
  if (agent.ownerState !== "open") throw noSuchAgent();
  return agent;
}

/** The live agent at an address if it can be called without an account: paid per call, or free. Else the same 404. */
export async function findAgentSoldPerCall(needs: FindNeeds, address: string): Promise<LiveAgent> {
  const agent = await findLiveAgent(needs, address);
  if (agent.version.needsAccount) throw noSuchAgent();
  return agent;
}

/**
 * An agent its creator took off the market, under its handle or a former one, for a buyer who has paid for a call of it already;
 * undefined when there is none.
 */
export async function findWithdrawnAgent(
  { db, versions }: { readonly db: Queryable; readonly versions: VersionLoader },
  address: string,
): Promise<LiveAgent | undefined> {
  const key = parseAddress(address);
  const row = key && (await findAgents(db, [key], "unpublished"))[0];
  if (!row) return undefined;
  return { ...row, address: `${row.handle}/${row.slug}`, version: await versions.load(row.id, row.liveVersion) };
}

/** The agent at an address, of now or before, whatever became of it. */
export async function findAgentInAnyState(db: Queryable, address: string): Promise<AgentRow | undefined> {
  const key = parseAddress(address);
  return key === undefined ? undefined : (await findAgents(db, [key], "any"))[0];
}

/** The account that is paid for a run. 503 unless the agent's handle leads to an open account that owns the agent. */
export function ownerOf(agent: LiveAgent): AccountId {
  if (agent.handleLeadsTo === agent.ownerId && agent.ownerState === "open") return agent.ownerId;
  throw new ApiError("unavailable", "The agent's owner cannot be verified right now.");
}

/**
 * Finds live agents by lower-case `handle/slug`, in the order asked. Under a handle that its account has changed since,
 * the account's agents are still found.
 */
export async function findAgents(
  db: Queryable,
  addresses: readonly string[],
  state: State = "live",
): Promise<Array<AgentRow | undefined>> {
  const found = await findNow(db, addresses, state);
  const missing = addresses.filter((address) => !found.has(address));
  if (missing.length > 0) await addMoved(db, missing, found, state);
  return addresses.map((address) => found.get(address));
}

type State = "live" | "unpublished" | "any";

async function addMoved(
  db: Queryable,
  missing: readonly string[],
  found: Map<string, AgentRow>,
  state: State,
): Promise<void> {
  const { rows } = await db.query<{ former: string; handle: string }>({
    name: "find moved handles",
    text: `select h.handle as former, lower(a.handle) as handle from handles h join accounts a on a.id = h.account_id
           where h.handle = any($1) and h.handle <> lower(a.handle)`,
    values: [[...new Set(missing.map(handleIn))]],
  });
  if (rows.length === 0) return;
  const movedTo = new Map(rows.map(({ former, handle }) => [former, handle]));
  const addressNow = (address: string) => address.replace(handleIn(address), (former) => movedTo.get(former) ?? former);
  const moved = await findNow(db, missing.map(addressNow), state);
  for (const address of missing) {
    const agent = moved.get(addressNow(address));
    if (agent) found.set(address, agent);
  }
}

const handleIn = (address: string) => address.slice(0, address.indexOf("/"));

async function findNow(db: Queryable, addresses: readonly string[], state: State): Promise<Map<string, AgentRow>> {
  const asked = [...new Set(addresses)].map((address) => address.split("/"));
  const { rows } = await db.query<AgentRow>({
    name: "find agents",
    text: `
      select a.id, a.handle, a.slug, a.account_id as "ownerId", o.id as "handleLeadsTo", o.state as "ownerState",
        a.tool_name as "toolName", a.live_version as "liveVersion", a.created_at as "createdAt",
        ${payoutWallets} as wallets,
        a.updated_at as "updatedAt"
      from unnest($1::text[], $2::text[]) asked (handle, slug)
      join agents a on lower(a.handle) = asked.handle and lower(a.slug) = asked.slug and ($3 = 'any' or a.state = $3)
      left join accounts o on lower(o.handle) = asked.handle`,
    values: [asked.map(([handle]) => handle), asked.map(([, slug]) => slug), state],
  });
  return new Map(rows.map((row) => [`${row.handle}/${row.slug}`.toLowerCase(), row]));
}

/** SQL: the wallets that the owner of agent `a` can be paid to now, read along so that a paid call asks once. */
export const payoutWallets = `(
  select coalesce(json_agg(json_build_object('network', w.network, 'address', w.address) order by w.network), '[]')
  from payout_wallets w where w.account_id = a.account_id and w.state = 'checked')`;

export interface LiveAgent extends AgentRow {
  /** `handle/slug` as it is shown. */
  readonly address: string;
  readonly version: AgentVersion;
}

export interface AgentRow {
  readonly id: AgentId;
  readonly handle: string;
  readonly slug: string;
  readonly ownerId: AccountId;
  readonly handleLeadsTo: AccountId | null;
  readonly ownerState: string | null;
  readonly toolName: string;
  readonly liveVersion: number;
  /** Where its owner can be paid per call, by chain. */
  readonly wallets: readonly Wallet[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export const noSuchAgent = () => new ApiError("not_found", "There is no such agent.");

/** What finding a live agent takes. */
export interface FindNeeds {
  readonly lookups: AgentLookup;
  readonly versions: VersionLoader;
}

export interface AgentLookup {
  /** By lower-case `handle/slug`. */
  readonly agent: (address: string) => Promise<AgentRow | undefined>;
}

type VersionLoader = Pick<Versions, "load">;

function refuseToGuess(cause: unknown): never {
  throw new ApiError("unavailable", "Agents cannot be looked up right now; try again shortly.", { cause });
}
