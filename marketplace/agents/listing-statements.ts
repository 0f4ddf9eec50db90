import type { ListQuery, Place } from "./list-query.ts";
import {
  behind,
  columns,
  conditionsOf,
  facetsOf,
  type IndexedSort,
  isNarrowed,
  keyOf,
  orderBy,
  placeColumns,
} from "./listing-sql.ts";
import { candidatesMax, everyWord, type Rank, rankOf, type Search, someWords } from "./search.ts";
import { everywhere } from "./search-terms.ts";

export interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values: unknown[];
  /** A total above this one says only that there are more. */
  readonly totalMax?: number;
}

/** Up to this many are counted; more only where their number is known already. */
const countedMax = 1_000;

/**
 * A page along the index that has the order, and one row more where there is one. Of a list that is narrowed, up to
 * `countedMax` agents are counted, and where there are no more, the page is taken from those: an index would be walked
 * to its end for the few of them.
 */
export function alongIndex(query: ListQuery, sort: IndexedSort, place: Place | undefined, search?: Search): Statement {
  const values: unknown[] = [query.limit + 1, place === undefined ? query.offset : 0];
  const words = search ? [`search @@ $${values.push(everyWord(search))}::tsquery`] : [];
  const conditions = [...words, ...conditionsOf(query, values)];
  const total = knownTotal(query, search, values);
  const onward = behind(sort, place, values);
  const listed = `select ${placeColumns(sort)} from listings`;
  const rest = `order by ${orderBy(sort)} limit $1 offset $2`;
  const walked = asPage(`${listed} ${where([...conditions, ...onward])} ${rest}`, sort);
  if (!isNarrowed(query) && total !== undefined) {
    const name = !search && place === undefined && { name: nameOf(query, sort) };
    return { ...name, text: `select ${total} as total, ${walked} as agents`, values };
  }
  const few = asPage(`select * from counted ${where(onward)} ${rest}`, sort);
  const text = `
    with counted as materialized (${listed} ${where(conditions)} limit ${countedMax + 1}),
    counted_all as materialized (select count(*) as total from counted)
    select ${total ?? "total"} as total, case when total > ${countedMax} then ${walked} else ${few} end as agents
    from counted_all`;
  return { text, values, ...(total === undefined && { totalMax: countedMax }) };
}

/** The rows of a page of places as one JSON array. */
function asPage(places: string, sort: IndexedSort): string {
  return rowsOf(
    `select listings.* from (${places}) place join listings using (agent_id)`,
    orderBy(sort, "page."),
    keyOf(sort),
  );
}

function nameOf({ creator, connector }: ListQuery, sort: IndexedSort): string {
  return `list ${sort}${creator === undefined ? "" : " of creator"}${connector?.length ? " on connector" : ""}`;
}

/** Best match first. Reads of every match only what ranks it, and the shown columns of the page alone. */
export function ranked(query: ListQuery, search: Search, skipped: number): Statement {
  if (isByName(query, search, skipped)) return byName(query, search.common!.word, skipped);
  return rankedBy(query, { tsquery: everyWord(search), rank: rankOf(search) }, skipped);
}

/** Agents that have some of the words, for when none has them all. */
export function rankedBySome(query: ListQuery, search: Search, skipped: number): Statement {
  const statement = rankedBy(query, { ...someWords(search), limit: candidatesMax + 1 }, skipped);
  return { ...statement, totalMax: candidatesMax };
}

interface Matching {
  readonly tsquery: string;
  readonly rank: Rank;
  readonly limit?: number;
}

function rankedBy(query: ListQuery, { tsquery, rank, limit }: Matching, skipped: number): Statement {
  const values: unknown[] = [query.limit, skipped];
  const push = (value: unknown) => `$${values.push(value)}`;
  const conditions = [`search @@ ${push(tsquery)}::tsquery`, ...conditionsOf(query, values)];
  const text = `
    with matches as materialized (
      select agent_id, created_at, ${rank(push)} as rank from listings ${where(conditions)}
      ${limit === undefined ? "" : `limit ${limit}`}
    ),
    page as (select * from matches order by rank desc, created_at desc, agent_id limit $1 offset $2)
    ${pageOf(
      "(select count(*) from matches)",
      "select listings.*, page.rank from page join listings using (agent_id, created_at)",
      "rank desc, created_at desc, agent_id",
    )}`;
  return { text, values };
}

/** Whether the page that is asked for lies among the agents that have the one common word in their name. */
function isByName(query: ListQuery, { common }: Search, skipped: number): boolean {
  if (!common || query.creator !== undefined || isNarrowed(query)) return false;
  return skipped + query.limit <= common.names;
}

/** Newest first of those that have the word in their name: they come before all others, and the page needs no more. */
function byName({ connector, limit }: ListQuery, word: string, skipped: number): Statement {
  const [only] = connector ?? [];
  const text = `
    with page as (
      select agent_id, created_at from listing_names where word = $3 ${only === undefined ? "" : "and connector = $4"}
      order by created_at desc, agent_id limit $1 offset $2
    )
    ${pageOf(
      "(select agents from listing_words where connector = $4 and word = $3)",
      "select listings.* from page join listings using (agent_id, created_at)",
      "created_at desc, agent_id",
    )}`;
  const name = `search by name${only === undefined ? "" : " on connector"}`;
  return { name, text, values: [limit, skipped, word, only ?? everywhere] };
}

/** SQL for a total that is kept as agents come and go; undefined where there is none. */
function knownTotal(query: ListQuery, search: Search | undefined, values: unknown[]): string | undefined {
  const { creator, connector = [] } = query;
  const [facet, ...moreFacets] = facetsOf(query);
  if (search) {
    if (!search.common || creator !== undefined || isNarrowed(query)) return undefined;
    const place = [`$${values.push(connector[0] ?? everywhere)}`, `$${values.push(search.common.word)}`];
    return `(select agents from listing_words where connector = ${place[0]} and word = ${place[1]})`;
  }
  const { min_price, max_price, network = [] } = query;
  if (min_price !== undefined || max_price !== undefined || network.length > 1) return undefined;
  if (facet === undefined) {
    const ofConnectors = connector.length === 0 ? "" : `and connector = any($${values.push(connector)}::text[])`;
    const of = `creator = $${values.push(creator?.toLowerCase() ?? "*")}`;
    return `(select coalesce(sum(agents), 0)::bigint from listing_counts where ${of} ${ofConnectors})`;
  }
  if (moreFacets.length > 0 || creator !== undefined || connector.length > 0) return undefined;
  return `(select coalesce(sum(agents), 0)::bigint from listing_facets where facet = $${values.push(facet)})`;
}

const where = (conditions: readonly string[]) => (conditions.length === 0 ? "" : `where ${conditions.join(" and ")}`);

function pageOf(total: string, page: string, order: string): string {
  return `select ${total} as total, ${rowsOf(page, order)} as agents`;
}

/** The rows of a page, with what is told of each, as one JSON array. */
function rowsOf(page: string, order: string, key = "null as key"): string {
  return `(
    select coalesce(json_agg(listed), '[]') from (
      select ${columns}, ${key} from (${page}) page left join agent_figures figures using (agent_id) order by ${order}
    ) listed
  )`;
}
