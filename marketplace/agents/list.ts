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
  const { limit, offset } = query;
  const words = wordsOf(query.q ?? "").slice(0, wordsMax);
  const nothing = { agents: [], total: 0, limit, offset };
  if (words.length === 0 && query.q?.trim()) return nothing;
  if (query.creator !== undefined && !/^[a-z0-9-]+$/i.test(query.creator)) return nothing;
  const { rows } = await db.query<{ total: bigint; agents: ListedRow[] }>(
    words.length > 0 ? searchStatement(query, words) : listStatement(query),
  );
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

/**
 * Only what ranks is read of every match; what is shown, of the page alone. A word finds all that begins as its English
 * stem does ("translations" finds "translation"), or as the word itself where the stem is spelled otherwise ("happy",
 * "happi"); what holds the words as they were said ranks higher. Words that English has no stem for ("the") count only
 * where there are no others.
 */
function searchStatement({ creator, connector, limit, offset }: ListQuery, words: readonly string[]): Statement {
  const values: unknown[] = [limit, offset, words];
  const more = filters({ creator, connector }, values).replace("where", "and");
  const text = `
    with terms as (
      select word, stem, case when stem is null then word || ':*' when starts_with(word, stem) then stem || ':*'
        else '(' || word || ':* | ' || stem || ':*)' end as term
      from unnest($3::text[]) word,
        lateral (select min(stem) as stem from unnest(tsvector_to_array(to_tsvector('english', word))) stem) stemmed
    ),
    asked as (
      select to_tsquery('simple', string_agg(word || ':*', ' & ')) as said, to_tsquery('simple', coalesce(
        string_agg(term, ' & ') filter (where stem is not null), string_agg(term, ' & '))) as query
      from terms
    ),
    matches as materialized (
      select agent_id, created_at, ts_rank(search, (select said || query from asked)) as rank
      from listings where search @@ (select query from asked) ${more}
    ),
    page as (select * from matches order by rank desc, created_at desc, agent_id limit $1 offset $2)
    select (select count(*) from matches) as total, ${asArray(`
      select ${columns} from page join listings using (agent_id, created_at) order by rank desc, created_at desc, agent_id`)}
      as agents`;
  return { text, values };
}

function filters({ creator, connector }: Pick<ListQuery, "creator" | "connector">, values: unknown[]): string {
  const conditions = [
    ...(creator === undefined ? [] : [`lower(handle) = $${values.push(creator.toLowerCase())}`]),
    ...(connector === undefined ? [] : [`connector = $${values.push(connector)}`]),
  ];
  return conditions.length === 0 ? "" : `where ${conditions.join(" and ")}`;
}

const columns = "handle, slug, name, description, connector, price_credits, created_at";
const asArray = (page: string) => `(select coalesce(json_agg(page), '[]') from (${page}) page)`;

interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values: unknown[];
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
