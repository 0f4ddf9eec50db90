import { z } from "zod";
import type { Queryable } from "../../shared/postgres.ts";
import { type ConnectorId, connectorIds, connectorNames } from "../connectors/connector.ts";
import { searchText, wholeNumber } from "../query.ts";
import { wordsOf } from "./search-words.ts";

const wordsMax = 10;

/** The query string of GET /api/v1/agents. An empty parameter is one that was not given. */
export const listQuery = z.object({
  creator: searchText(64).optional().describe("Only agents of this creator's handle, in any case."),
  q: searchText(200).optional().describe("Words that must each begin a word of the name or description."),
  connector: z.enum(connectorIds).optional().describe("Only agents that run on this connector."),
  limit: wholeNumber(1, 100).default(20).describe("Agents a page."),
  offset: wholeNumber(0, 1_000_000).default(0).describe("Agents to skip."),
});

export type ListQuery = z.infer<typeof listQuery>;

/**
 * Live agents, newest first, or best match first when `q` holds words: every word must begin a word of the name or
 * description. `total` counts all matches, whatever the page.
 */
export async function listAgents(db: Queryable, query: ListQuery): Promise<AgentPage> {
  const { creator, connector, limit, offset } = query;
  const words = wordsOf(query.q ?? "").slice(0, wordsMax);
  const values: unknown[] = [limit, offset];
  const conditions = ["a.state = 'live'"];
  const bind = (value: unknown) => `$${values.push(value)}`;
  if (creator) conditions.push(`lower(a.handle) = ${bind(creator.toLowerCase())}`);
  if (connector) conditions.push(`v.connector = ${bind(connector)}`);
  let rank = "0";
  if (words.length > 0) {
    const text = bind(words.map((word) => `${word}:*`).join(" & "));
    // The English reading takes "translations" to "translat", which begins "translation" too.
    const search = `(to_tsquery('simple', ${text}) || to_tsquery('english', ${text}))`;
    conditions.push(`v.search @@ ${search}`);
    rank = `ts_rank(v.search, ${search})`;
  } else if (query.q?.trim()) {
    return { agents: [], total: 0, limit, offset };
  }
  const { rows } = await db.query<{ total: bigint; agents: ListedRow[] }>(
    `with matches as (
       select a.id, a.handle, a.slug, v.name, v.description, v.connector, v.price_credits, a.created_at, ${rank} as rank
       from agents a join agent_versions v on v.agent_id = a.id and v.version = a.live_version
       where ${conditions.join(" and ")}
     )
     select (select count(*) from matches) as total, (
       select coalesce(json_agg(page), '[]') from (
         select * from matches order by rank desc, created_at desc, id limit $1 offset $2
       ) page
     ) as agents`,
    values,
  );
  const { total, agents } = rows[0]!;
  return { agents: agents.map(asListed), total: Number(total), limit, offset };
}

export interface AgentPage {
  readonly agents: readonly ListedAgent[];
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
}

/** As the specification names its fields. */
export interface ListedAgent {
  readonly agent: string;
  readonly name: string;
  readonly description: string;
  readonly connector: ConnectorId;
  readonly connector_name: string;
  readonly price_credits: number;
  readonly created_at: string;
}

interface ListedRow {
  readonly handle: string;
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  readonly connector: ConnectorId;
  readonly price_credits: number;
  readonly created_at: string;
}

function asListed(row: ListedRow): ListedAgent {
  return {
    agent: `${row.handle}/${row.slug}`,
    name: row.name,
    description: row.description,
    connector: row.connector,
    connector_name: connectorNames[row.connector],
    price_credits: row.price_credits,
    created_at: new Date(row.created_at).toISOString(),
  };
}
