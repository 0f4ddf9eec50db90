import type { Database, Queryable } from "../../shared/postgres.ts";
import { type ConnectorId, connectorNames } from "../connectors/connector.ts";
import { askIndexes } from "./ask-indexes.ts";
import type { Category } from "./category.ts";
import { asFigures, type Figures, type FiguresRow } from "./figures.ts";
import { type ListQuery, type Place, readCursor, type Sort, sortOf, writeCursor } from "./list-query.ts";
import { excludeEachOther, type IndexedSort, isNarrowed } from "./listing-sql.ts";
import {
  alongIndex,
  byName,
  isByName,
  ranked,
  rankedAmongBest,
  rankedBySome,
  type Statement,
  totalOf,
} from "./listing-statements.ts";
import { type Narrowed, readNarrowed } from "./narrowed-list.ts";
import { type PerCall, perCallOf } from "./per-call.ts";
import { candidatesMax, readSearch, type Search } from "./search.ts";
import { searchedWordsOf } from "./search-words.ts";

/**
 * Live agents, newest first unless another order is asked for, or best match first when `q` holds words. `total` counts
 * all matches, whatever the page, or says by `total_exact` that there are more.
 */
export async function listAgents({ db, publicUrl }: ListNeeds, query: ListQuery): Promise<AgentPage> {
  if (excludeEachOther(query)) return emptyPage(query, null);
  const words = searchedWordsOf(query.q ?? "");
  if (words.length === 0 && query.q?.trim()) return emptyPage(query, null);
  if (query.creator !== undefined && !/^[a-z0-9-]+$/i.test(query.creator)) return emptyPage(query, null);
  const search = words.length > 0 ? await readSearch(db, query, words) : undefined;
  if (search?.known.length === 0) return emptyPage(query, search);
  const { sort, place } = beginningOf(query, search);
  const asked = { query, sort, publicUrl, search, skipped: place && "skipped" in place ? place.skipped : query.offset };
  if (search && sort === "relevance") return byRelevance(db, { ...asked, search });
  const page = await readListed(db, { query, sort: sort as IndexedSort, place, search });
  if (search && page.total === 0n && search.known.length > 1)
    return byRelevance(db, { ...asked, sort: "relevance", search });
  return asPage(asked, page);
}

export interface ListNeeds {
  readonly db: Database;
  /** Where the agents are called. */
  readonly publicUrl: string;
}

async function byRelevance(db: Database, asked: Asked & { readonly search: Search }): Promise<AgentPage> {
  const { query, search, skipped } = asked;
  const page = await readRanked(db, query, search, skipped);
  if (page.total > 0n || search.known.length === 1) return asPage(asked, page);
  return asPage({ ...asked, hasSomeWords: true }, await readPage(db, rankedBySome(query, search, skipped)));
}

async function readRanked(db: Database, query: ListQuery, search: Search, skipped: number): Promise<Page> {
  if (isByName(query, search, skipped)) return readPage(db, byName(query, search.common!.word, skipped));
  // An index that is asked for all of so many reads every place of theirs first.
  if (query.creator === undefined && !isNarrowed(query)) {
    if (isTooCommon(search)) return readPage(db, rankedAmongBest(query, search, skipped));
    if (await areTooCommon(db, query, search)) {
      const best = await readPage(db, rankedAmongBest(query, search, skipped));
      if (best.agents.length > 0) return { ...best, total: BigInt(candidatesMax + 1) };
    }
  }
  const { rows } = await askIndexes<Pick<Page, "total" | "agents">>(db, ranked(query, search, skipped));
  const all = { ...rows[0]!, totalMax: candidatesMax };
  if (all.total <= candidatesMax) return all;
  const best = await readPage(db, rankedAmongBest(query, search, skipped));
  return best.total > candidatesMax ? best : { ...best, total: all.total };
}

/** More agents have the one word than are ranked. */
function isTooCommon(search: Search | undefined): boolean {
  return search?.common !== undefined && search.common.agents > candidatesMax;
}

/** So many agents have each of the words that, however these lie, more have all of them than are ranked. */
async function areTooCommon(db: Database, query: ListQuery, { known }: Search): Promise<boolean> {
  if (known.length < 2 || known.some(({ agents }) => agents <= candidatesMax)) return false;
  const { rows } = await db.query<{ total: bigint }>(totalOf(query));
  const without = known.map(({ agents }) => Number(rows[0]!.total) - agents);
  return Number(rows[0]!.total) - without.reduce((sum, agents) => sum + agents, 0) > candidatesMax;
}

/** The order and the place in it that the page begins at; a cursor knows both. */
function beginningOf(query: ListQuery, search: Search | undefined): { sort: Sort; place?: Place } {
  const asked = sortOf(query);
  if (query.cursor !== undefined) {
    return readCursor(query.cursor, [asked, ...(search ? (["relevance", "newest"] as const) : [])]);
  }
  // A word that many agents have is not ranked where it is narrowed: all of them would have to be read.
  const isTooMany = isTooCommon(search) && isNarrowed(query);
  return { sort: asked === "relevance" && isTooMany ? "newest" : asked };
}

interface Page {
  readonly total: bigint;
  readonly agents: readonly ListedRow[];
  readonly totalMax: number;
}

/** Along an index, where the total is known, and by what it is narrowed by elsewhere. */
async function readListed(db: Database, asked: Narrowed): Promise<Page> {
  const { query, sort, place, search } = asked;
  const statement = alongIndex(query, sort, place, search);
  if (statement) return readPage(db, statement);
  return readNarrowed<ListedRow>(db, asked);
}

async function readPage(db: Queryable, { totalMax = Number.MAX_SAFE_INTEGER, ...statement }: Statement): Promise<Page> {
  const { rows } = await db.query<Pick<Page, "total" | "agents">>(statement);
  return { ...rows[0]!, totalMax };
}

interface Asked {
  readonly query: ListQuery;
  readonly sort: Sort;
  readonly publicUrl: string;
  readonly search: Search | undefined;
  readonly skipped: number;
  readonly hasSomeWords?: true;
}

function asPage(asked: Asked, { total, agents, totalMax }: Page): AgentPage {
  const { query, publicUrl, search, hasSomeWords = false } = asked;
  return {
    agents: agents.slice(0, query.limit).map((row) => asListed(row, publicUrl)),
    total: Math.min(Number(total), totalMax),
    total_exact: Number(total) <= totalMax,
    limit: query.limit,
    offset: query.offset,
    cursor: nextCursor(asked, agents, Number(total)),
    search: search ? understood(search, hasSomeWords) : null,
  };
}

function emptyPage({ limit, offset }: ListQuery, search: Search | undefined | null): AgentPage {
  const read = search ? understood(search, false) : null;
  return { agents: [], total: 0, total_exact: true, limit, offset, cursor: null, search: read };
}

/** Along an index one row more was read than is shown; of what is ranked, all are counted. */
function nextCursor({ query, sort, skipped }: Asked, rows: readonly ListedRow[], total: number): string | null {
  if (sort === "relevance") {
    const shown = skipped + query.limit;
    return rows.length > 0 && shown < total ? writeCursor(sort, { skipped: shown }) : null;
  }
  const last = rows[query.limit - 1];
  if (rows.length <= query.limit || !last) return null;
  return writeCursor(sort, { key: last.key ?? "0", createdMicros: last.createdMicros, id: last.agent_id });
}

function understood({ known, unknown }: Search, hasSomeWords: boolean): UnderstoodSearch {
  const read = known.filter(({ readAs }) => readAs !== undefined);
  return {
    all_words: !hasSomeWords && unknown.length === 0,
    read_as: read.map(({ said, readAs = [] }) => ({ word: said, as: readAs })),
    unknown,
  };
}

export interface AgentPage {
  readonly agents: readonly ListedAgent[];
  readonly total: number;
  readonly total_exact: boolean;
  readonly limit: number;
  readonly offset: number;
  readonly cursor: string | null;
  readonly search: UnderstoodSearch | null;
}

/** How the words of a search were taken. */
export interface UnderstoodSearch {
  /** Whether the agents found have every word; otherwise those with most of them come first. */
  readonly all_words: boolean;
  readonly read_as: ReadonlyArray<{ readonly word: string; readonly as: readonly string[] }>;
  readonly unknown: readonly string[];
}

/** The fields that the specification names, and others that help to choose. */
export interface ListedAgent {
  readonly agent: string;
  readonly name: string;
  readonly description: string;
  readonly connector: ConnectorId;
  readonly connector_name: string;
  readonly category: Category;
  readonly tags: readonly string[];
  readonly price_credits: number;
  readonly per_call: PerCall | null;
  readonly figures: Figures;
  readonly created_at: string;
}

interface ListedRow {
  readonly agent_id: string;
  readonly handle: string;
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  readonly connector: ConnectorId;
  readonly category: Category;
  readonly tags: readonly string[];
  readonly price_credits: number;
  readonly networks: readonly string[];
  readonly per_call: boolean;
  readonly figures: FiguresRow;
  readonly created_at: string;
  readonly createdMicros: string;
  readonly key: string | null;
}

function asListed(row: ListedRow, publicUrl: string): ListedAgent {
  const agent = `${row.handle}/${row.slug}`;
  return listedAgent(row, {
    agent,
    price_credits: row.price_credits,
    per_call: row.per_call ? perCallOf(publicUrl, agent, BigInt(row.price_credits), row.networks) : null,
    figures: asFigures(row.figures),
    created_at: new Date(row.created_at).toISOString(),
  });
}

/** An agent as lists and its own answer show it: what its creator says, and what the marketplace knows. */
export function listedAgent(
  { name, description, connector, category, tags }: Described,
  { agent, ...known }: Omit<ListedAgent, keyof Described | "connector_name">,
): ListedAgent {
  return {
    agent,
    name,
    description,
    connector,
    connector_name: connectorNames[connector],
    category,
    tags,
    ...known,
  };
}

type Described = Pick<ListedAgent, "name" | "description" | "connector" | "category" | "tags">;
