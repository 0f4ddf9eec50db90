import type { Queryable } from "../../shared/postgres.ts";
import type { Caller } from "../api-keys/authenticate.ts";
import { wordsOf } from "./search-words.ts";

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
    text: `select ${columns} from agents a where ${where} and a.tool_name > $2 order by a.tool_name limit $3`,
    values: [value, after, limit],
  });
  return rows;
}

/** The agent a key may run under this tool name; undefined for one that is not live, not there or out of its scope. */
export async function agentOfTool(db: Queryable, caller: Caller, tool: string): Promise<ScopedAgent | undefined> {
  const { where, value } = scopeOf(caller);
  const { rows } = await db.query<ScopedAgent>({
    name: `agent of tool ${caller.key.scope}`,
    text: `select ${columns} from agents a where ${where} and a.tool_name = $2`,
    values: [value, tool.replaceAll("\0", "")],
  });
  return rows[0];
}

/** The address of the agent that has this tool name, whoever sees it: a live one, or one in any state. */
export async function addressOfTool(db: Queryable, tool: string, state = "live"): Promise<string | undefined> {
  const { rows } = await db.query<ScopedAgent>({
    name: "address of tool",
    text: `select ${columns} from agents a where (a.state = $2 or $2 = 'any') and a.tool_name = $1`,
    values: [tool.replaceAll("\0", ""), state],
  });
  return rows[0]?.address;
}

/** The agents in scope that match every word of `query`, best match first; all of them, by tool name, when it has none. */
export async function searchScope(db: Queryable, caller: Caller, query: string, limit: number): Promise<FoundAgent[]> {
  const words = wordsOf(query).slice(0, 10);
  if (words.length === 0 && query.trim() !== "") return [];
  const { where, value } = scopeOf(caller);
  const { rows } = await db.query<FoundRow>({
    name: `search scope ${caller.key.scope}`,
    text: `
      select ${columns}, l.name, l.description, l.price_credits::integer
      from agents a join listings l on l.agent_id = a.id,
        lateral (select to_tsquery('simple', $2) || to_tsquery('english', $2) as query) asked
      where ${where} and ($2 = '' or l.search @@ asked.query)
      order by ts_rank(l.search, asked.query) desc, a.tool_name limit $3`,
    values: [value, words.map((word) => `${word}:*`).join(" & "), limit],
  });
  return rows.map(({ tool, address: agent, ...found }) => ({ tool, agent, ...found }));
}

export interface ScopedAgent {
  readonly tool: string;
  /** `handle/slug`, to prepare and run it by. */
  readonly address: string;
}

export interface FoundAgent {
  readonly tool: string;
  readonly agent: string;
  readonly name: string;
  readonly description: string;
  readonly price_credits: number;
}

type FoundRow = ScopedAgent & Omit<FoundAgent, "agent">;

const columns = `a.tool_name as tool, a.handle || '/' || a.slug as address`;

/** Each scope asks for one thing, so that its agents are found along an index. */
function scopeOf({ accountId, key }: Caller): { where: string; value: unknown } {
  switch (key.scope) {
    case "own_agents":
      return { where: "a.state = 'live' and a.account_id = $1", value: accountId };
    case "chosen_agents":
      return { where: "a.state = 'live' and a.id = any($1::text[])", value: key.scopeAgents };
    case "rest_only":
      return { where: "false and a.id = $1", value: "" };
  }
}
