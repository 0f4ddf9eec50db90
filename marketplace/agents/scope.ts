import type { Queryable } from "../../shared/postgres.ts";
import { parseAddress } from "../agent-address.ts";
import type { Caller } from "../api-keys/authenticate.ts";

/**
 * The live agents a key sees as tools, by tool name, so that every page begins where the last one ended: the account's
 * own, the chosen ones, or none for a key that is for REST only.
 */
export async function agentsInScope(
  db: Queryable,
  caller: Caller,
  { after = "", limit }: { after?: string | undefined; limit: number },
): Promise<ScopedAgent[]> {
  const { where, value } = scopeOf(caller);
  const { rows } = await db.query<ScopedAgent>({
    name: `agents in scope ${caller.key.scope}`,
    text: `select ${scopedColumns} from agents a where ${where} and a.tool_name > $2 order by a.tool_name limit $3`,
    values: [value, after, limit],
  });
  return rows;
}

/** The agent a key may run under this tool name or former one; undefined for one that is not live, not there or out of its scope. */
export async function agentOfTool(db: Queryable, caller: Caller, tool: string): Promise<ScopedAgent | undefined> {
  const { where, value } = scopeOf(caller);
  const { rows } = await db.query<ScopedAgent>({
    name: `agent of tool ${caller.key.scope}`,
    text: `select ${scopedColumns} from agents a where ${where} and a.id = ${agentNamed("$2")}`,
    values: [value, tool.replaceAll("\0", "")],
  });
  return rows[0];
}

/** The agent a key may run by `handle/slug`, in any case, or by tool name; undefined as for agentOfTool. */
export async function agentInScope(db: Queryable, caller: Caller, name: string): Promise<ScopedAgent | undefined> {
  const address = parseAddress(name);
  if (address === undefined) return agentOfTool(db, caller, name);
  const { where, value } = scopeOf(caller);
  const { rows } = await db.query<ScopedAgent>({
    name: `agent in scope ${caller.key.scope}`,
    text: `select ${scopedColumns} from agents a where ${where} and lower(a.handle) = $2 and lower(a.slug) = $3`,
    values: [value, ...address.split("/")],
  });
  return rows[0];
}

/** The address of the agent that has or had this tool name, for every caller: a live one, or one in any state. */
export async function addressOfTool(db: Queryable, tool: string, state = "live"): Promise<string | undefined> {
  const { rows } = await db.query<ScopedAgent>({
    name: "address of tool",
    text: `select ${scopedColumns} from agents a where (a.state = $2 or $2 = 'any') and a.id = ${agentNamed("$1")}`,
    values: [tool.replaceAll("\0", ""), state],
  });
  return rows[0]?.address;
}

/** SQL: the agent whose tool name this is or was. */
const agentNamed = (tool: string) => `(select agent_id from tool_names where tool_name = ${tool})`;

export interface ScopedAgent {
  readonly tool: string;
  /** `handle/slug`, to prepare and run it by. */
  readonly address: string;
}

/** What `ScopedAgent` is read from, of `agents a`. */
export const scopedColumns = `a.tool_name as tool, a.handle || '/' || a.slug as address`;

/** Each scope asks for one thing, so that its agents are found along an index. */
export function scopeOf({ accountId, key }: Caller): { where: string; value: unknown } {
  switch (key.scope) {
    case "own_agents":
      return { where: "a.state = 'live' and a.account_id = $1", value: accountId };
    case "chosen_agents":
      return { where: "a.state = 'live' and a.id = any($1::text[])", value: key.scopeAgents };
    case "rest_only":
      return { where: "false and a.id = $1", value: "" };
  }
}
