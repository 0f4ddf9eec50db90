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
  const { rows } = await db.query<ScopedAgent>({
    name: "agents in scope",
    text: `select ${columns} from agents a where ${inScope} and a.tool_name > $4 order by a.tool_name limit $5`,
    values: [...scopeOf(caller), after, limit],
  });
  return rows;
}

/** The agent a key may run under this tool name; undefined for one that is not live, not there or out of its scope. */
export async function agentOfTool(db: Queryable, caller: Caller, tool: string): Promise<ScopedAgent | undefined> {
  const { rows } = await db.query<ScopedAgent>({
    name: "agent of tool",
    text: `select ${columns} from agents a where ${inScope} and a.tool_name = $4`,
    values: [...scopeOf(caller), tool.replaceAll("\0", "")],
  });
  return rows[0];
}

/** Those of them that match every word of `query`, best match first; all of them, by tool name, when it has none. */
export async function searchScope(db: Queryable, caller: Caller, query: string, limit: number): Promise<FoundAgent[]> {
  const words = wordsOf(query).slice(0, 10);
  if (words.length === 0 && query.trim() !== "") return [];
  const { rows } = await db.query<FoundRow>({
    name: "search scope",
    text: `
      select ${columns}, l.name, l.description, l.price_credits::integer
      from agents a join listings l on l.agent_id = a.id,
        lateral (select to_tsquery('simple', $4) || to_tsquery('english', $4) as query) asked
      where ${inScope} and ($4 = '' or l.search @@ asked.query)
      order by ts_rank(l.search, asked.query) desc, a.tool_name limit $5`,
    values: [...scopeOf(caller), words.map((word) => `${word}:*`).join(" & "), limit],
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
const inScope = `a.state = 'live' and case $1::text
  when 'own_agents' then a.account_id = $2::text when 'chosen_agents' then a.id = any($3::text[]) else false end`;

function scopeOf({ accountId, key }: Caller): unknown[] {
  return [key.scope, accountId, key.scopeAgents];
}
