import type { ListQuery, Place } from "./list-query.ts";
import {
  behind,
  columns,
  conditionsOf,
  facetsOf,
  type IndexedSort,
  indexedConditionsOf,
  isNarrowed,
  keyOf,
  orderBy,
  placeColumns,
  probedColumns,
  wantedFacetsOf,
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
export const countedMax = 1_000;
/** Of a narrowed list so many agents are looked at along its index, before those that are wanted are found by another. */
const probedMax = 20_000;

/** A page along the index that has the order, and one row more where there is one. Undefined where the total is not known. */
export function alongIndex(
  query: ListQuery,
  sort: IndexedSort,
  place: Place | undefined,
  search?: Search,
): Statement | undefined {
  if (isNarrowed(query)) return undefined;
  const { values, conditions, rest } = walkOf(query, sort, place, search);
  const total = knownTotal(query, search, values);
  if (total === undefined) return undefined;
  const onward = behind(sort, place, values);
  const walked = asPage(`${listed(sort)} ${where([...conditions, ...onward])} ${rest}`, sort);
  const name = !search && place === undefined && { name: nameOf(query, sort) };
  return { ...name, text: `select ${total} as total, ${walked} as agents`, values };
}

/** The total where it is kept, how many agents there are, and how many have the rarest of what is wanted. */
export function known(query: ListQuery, search: Search | undefined): Statement {
  const values: unknown[] = [];
  const total = knownTotal(query, search, values) ?? "null::bigint";
  const wanted = wantedFacetsOf(query).flatMap((some, place) => some.map((facet) => ({ facet, place })));
  const facets = `$${values.push(wanted.map(({ facet }) => facet))}::text[]`;
  const places = `$${values.push(wanted.map(({ place }) => place))}::integer[]`;
  const text = `
    with counts as (
      select facet, agents from listing_facets where facet = any(${facets})
      union all select 'connector:' || connector, agents from listing_counts where creator = '*'
    )
    select ${total} as total, (select coalesce(sum(agents), 0)::bigint from listing_counts where creator = '*') as all,
      (select min(agents) from (
        select coalesce(sum(agents), 0)::bigint as agents from unnest(${facets}, ${places}) wanted (facet, place)
        left join counts using (facet) group by place
      ) each) as rarest`;
  return { text, values };
}

/**
 * The page as far as the next `probedMax` agents of the order have it, looked at until a thousand match: how many `matches`
 * there are, and whether those are `all`. Only for what the order's index holds: neither words nor a creator.
 */
export function probed(query: ListQuery, sort: IndexedSort, place: Place | undefined): Statement {
  const { values, conditions, rest } = walkOf(query, sort, place, undefined);
  const onward = behind(sort, place, values);
  const order = `order by ${orderBy(sort)}`;
  const wanted = Math.max(countedMax, (place === undefined ? query.offset : 0) + query.limit) + 1;
  const text = `
    with matches as materialized (
      select ${placeColumns(sort)} from (
        select ${probedColumns(sort)} from listings ${where(onward)} ${order} limit ${probedMax}
      ) seen ${where(conditions)} ${order} limit $${values.push(wanted)}
    )
    select (select count(*) from matches)::integer as matches,
      (select coalesce(sum(agents), 0) <= ${probedMax} from listing_counts where creator = '*') as all,
      ${asPage(`select * from matches ${rest}`, sort)} as agents`;
  return { text, values };
}

/** The ids of up to `countedMax` agents and one more, in no order. */
export function found(query: ListQuery, search: Search | undefined): Statement {
  const values: unknown[] = [];
  const words = search ? [`search @@ $${values.push(everyWord(search))}::tsquery`] : [];
  const conditions = [...words, ...indexedConditionsOf(query, values)];
  const text = `select coalesce(array_agg(agent_id), '{}') as ids from (
    select agent_id from listings ${where(conditions)} limit ${countedMax + 1}) found`;
  return { text, values };
}

/** A page of these agents. */
export function pageOfFound(
  query: ListQuery,
  sort: IndexedSort,
  place: Place | undefined,
  ids: readonly string[],
): Statement {
  const { values, rest } = pageValues(query, sort, place);
  const among = `agent_id = any($${values.push(ids)}::text[])`;
  const text = `select ${asPage(`${listed(sort)} ${where([among, ...behind(sort, place, values)])} ${rest}`, sort)} as agents`;
  return { text, values };
}

/** A page along the index that has the order, whatever the total is. */
export function walked(query: ListQuery, sort: IndexedSort, place: Place | undefined, search?: Search): Statement {
  const { values, conditions, rest } = walkOf(query, sort, place, search);
  const onward = behind(sort, place, values);
  const text = `select ${asPage(`${listed(sort)} ${where([...conditions, ...onward])} ${rest}`, sort)} as agents`;
  return { text, values };
}

/** What a page along an index asks for. */
function walkOf(query: ListQuery, sort: IndexedSort, place: Place | undefined, search: Search | undefined) {
  const { values, rest } = pageValues(query, sort, place);
  const words = search ? [`search @@ $${values.push(everyWord(search))}::tsquery`] : [];
  return { values, conditions: [...words, ...conditionsOf(query, values)], rest };
}

function pageValues(query: ListQuery, sort: IndexedSort, place: Place | undefined) {
  const values: unknown[] = [query.limit + 1, place === undefined ? query.offset : 0];
  return { values, rest: `order by ${orderBy(sort)} limit $1 offset $2` };
}

const listed = (sort: IndexedSort) => `select ${placeColumns(sort)} from listings`;

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

/**
 * Best match first, of up to `candidatesMax` that have every word, and one more: a total above it says that there are others, which may
 * be better. Reads of every match only what ranks it, and the shown columns of the page alone.
 */
export function ranked(query: ListQuery, search: Search, skipped: number): Statement {
  return rankedBy(query, { tsquery: everyWord(search), rank: rankOf(search) }, skipped);
}

/** Agents that have some of the words, for when none has them all. */
export function rankedBySome(query: ListQuery, search: Search, skipped: number): Statement {
  return rankedBy(query, someWords(search), skipped);
}

/**
 * Best match first, of so many agents with every word that not all of them are looked at: those that have one of the words in
 * their name, the newest `namedMax` of each, and what the newest agents of all hold.
 */
export function rankedAmongBest(query: ListQuery, search: Search, skipped: number): Statement {
  const spellings = search.known.flatMap((term) => term.spellings.slice(0, namedSpellingsMax));
  return rankedBy(query, { tsquery: everyWord(search), rank: rankOf(search), among: { search, spellings } }, skipped);
}

const namedMax = 1_000;
const namedSpellingsMax = 5;
const newestMax = 5_000;

interface Matching {
  readonly tsquery: string;
  readonly rank: Rank;
  /** Only agents that have one of these in their name, and the newest ones, are ranked. */
  readonly among?: { readonly search: Search; readonly spellings: readonly string[] };
}

function rankedBy(query: ListQuery, { tsquery, rank, among }: Matching, skipped: number): Statement {
  const values: unknown[] = [query.limit, skipped];
  const push = (value: unknown) => `$${values.push(value)}`;
  const has = `search @@ ${push(tsquery)}::tsquery`;
  const conditions = [has, ...indexedConditionsOf(query, values)];
  const candidates = among && candidatesOf(push(among.spellings), has);
  const total = among && knownTotal(query, among.search, values);
  const text = `
    with ${candidates === undefined ? "" : `candidates as materialized (${candidates}),`}
    matches as materialized (
      select agent_id, created_at, ${rank(push)} as rank
      from ${candidates === undefined ? "listings" : "candidates join listings using (agent_id)"} ${where(conditions)}
      ${candidates === undefined ? `limit ${candidatesMax + 1}` : ""}
    ),
    page as (select * from matches order by rank desc, created_at desc, agent_id limit $1 offset $2)
    ${pageOf(
      total ?? "(select count(*) from matches)",
      "select listings.*, page.rank from page join listings using (agent_id, created_at)",
      "rank desc, created_at desc, agent_id",
    )}`;
  return { text, values, ...(total === undefined && { totalMax: candidatesMax }) };
}

const candidatesOf = (spellings: string, has: string) => `
  select agent_id from unnest(${spellings}::text[]) said (spelling), lateral (
    select agent_id from listing_names where word = spelling order by created_at desc, agent_id limit ${namedMax}
  ) named
  union
  select agent_id from (
    select agent_id, search from listings order by created_at desc, agent_id limit ${newestMax}
  ) newest where ${has}`;

/** Whether the page that is asked for lies among the agents that have the one common word in their name. */
export function isByName(query: ListQuery, { common }: Search, skipped: number): boolean {
  if (!common || query.creator !== undefined || isNarrowed(query)) return false;
  return skipped + query.limit <= common.names;
}

/** Newest first of those that have the word in their name: they come before all others, and the page needs no more. */
export function byName({ connector, limit }: ListQuery, word: string, skipped: number): Statement {
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

/** How many agents a query that is not narrowed lists, its words left aside. */
export function totalOf(query: ListQuery): Statement {
  const values: unknown[] = [];
  return { text: `select ${knownTotal(query, undefined, values) ?? "0::bigint"} as total`, values };
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
