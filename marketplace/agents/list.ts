import { z } from "zod";
import type { Queryable } from "../../shared/postgres.ts";
import { type ConnectorId, connectorIds, connectorNames } from "../connectors/connector.ts";
import { searchText, wholeNumber } from "../query.ts";
import { asArray, columns, filters, type Statement } from "./listing-sql.ts";
import { searchStatement } from "./search.ts";
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
  const { limit, offset } = query;
  const words = wordsOf(query.q ?? "").slice(0, wordsMax);
  const nothing = { agents: [], total: 0, limit, offset };
  if (words.length === 0 && query.q?.trim()) return nothing;
  if (query.creator !== undefined && !/^[a-z0-9-]+$/i.test(query.creator)) return nothing;
  const statement = words.length > 0 ? await searchStatement(db, query, words) : listStatement(query);
  if (!statement) return nothing;
  const { rows } = await db.query<{ total: bigint; agents: ListedRow[] }>(statement);
  const { total, agents } = rows[0]!;
  return { agents: agents.map(asListed), total: Number(total), limit, offset };
}

/** A page is read along an index; how many there are is counted already, for each creator and connector. */
function listStatement({ creator, connector, limit, offset }: ListQuery): Statement {
  const values: unknown[] = [limit, offset, creator?.toLowerCase() ?? "*"];
  const where = filters({ creator, connector }, values);
  const ofConnector = connector === undefined ? "" : `and connector = $${values.length}`;
  const total = `(select coalesce(sum(agents), 0)::bigint from listing_counts where creator = $3 ${ofConnector})`;
  const page = `select ${columns} from listings ${where} order by created_at desc, agent_id limit $1 offset $2`;
  const name = `list agents${creator === undefined ? "" : " of creator"}${connector === undefined ? "" : " on connector"}`;
  return { name, text: `select ${total} as total, ${asArray(page)} as agents`, values };
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
