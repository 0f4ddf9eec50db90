import type { ListQuery, Place, Sort } from "./list-query.ts";

/** The conditions of a query's filters, for agents that are looked at one after another; their values are added to `values`. */
export function conditionsOf(query: Filters, values: unknown[]): string[] {
  const { connector, network } = query;
  const facets = facetsOf(query);
  return [
    ...ownConditionsOf(query, values),
    ...(connector === undefined || connector.length === 0 ? [] : [connectorIn(connector, values)]),
    ...(facets.length === 0 ? [] : [`facets @> $${values.push(facets)}::text[]`]),
    ...(network === undefined || network.length < 2
      ? []
      : [`facets && $${values.push(network.map(networkFacet))}::text[]`]),
  ];
}

/** The same conditions, for agents that are found by index `listings_narrowed`, which tells at once that none has all of it. */
export function indexedConditionsOf(query: Filters, values: unknown[]): string[] {
  const wanted = wantedFacetsOf(query);
  const facets = wanted.filter((some) => some.length === 1).flat();
  return [
    ...ownConditionsOf(query, values),
    ...(facets.length === 0 ? [] : [`${narrowed} @> $${values.push(facets)}::text[]`]),
    ...wanted.filter((some) => some.length > 1).map((some) => `${narrowed} && $${values.push(some)}::text[]`),
  ];
}

/** What every agent found must have, its connector too: of each of these lists one at the least. */
export function wantedFacetsOf(query: Filters): string[][] {
  const { connector = [], network = [] } = query;
  const oneOf = [connector.map((one) => `connector:${one}`), network.length > 1 ? network.map(networkFacet) : []];
  return [...facetsOf(query).map((facet) => [facet]), ...oneOf.filter((some) => some.length > 0)];
}

/** As `listings_narrowed` is made. */
const narrowed = "array_append(facets, 'connector:' || connector)";

function ownConditionsOf({ creator, min_price, max_price }: Filters, values: unknown[]): string[] {
  return [
    ...(creator === undefined ? [] : [`lower(handle) = $${values.push(creator.toLowerCase())}`]),
    ...(min_price === undefined ? [] : [`price_credits >= $${values.push(min_price)}::bigint`]),
    ...(max_price === undefined ? [] : [`price_credits <= $${values.push(max_price)}::bigint`]),
  ];
}

function connectorIn(connectors: readonly string[], values: unknown[]): string {
  const [only, ...more] = connectors;
  return more.length === 0
    ? `connector = $${values.push(only)}`
    : `connector = any($${values.push(connectors)}::text[])`;
}

/** What every agent found must have, as `facets` names it. */
export function facetsOf({ category, tag, network = [], free, per_call }: Filters): string[] {
  return [
    ...(category === undefined ? [] : [`category:${category}`]),
    ...(tag === undefined ? [] : [`tag:${tag}`]),
    ...(network.length === 1 ? network.map(networkFacet) : []),
    ...(free ? ["free"] : []),
    ...(per_call ? ["per_call"] : []),
  ];
}

/** Whether no agent can pass: a free one takes no payment, so it has no network. Nothing is looked through for such filters. */
export function excludeEachOther({ free, min_price: least = 0, max_price: most, network = [] }: Filters): boolean {
  const mustBeFree = free === true || most === 0;
  return mustBeFree && (least > 0 || network.length > 0);
}

const networkFacet = (network: string) => `network:${network}`;

export type Filters = Pick<
  ListQuery,
  "creator" | "connector" | "category" | "tag" | "network" | "min_price" | "max_price" | "free" | "per_call"
>;

/** Whether the query is narrowed by anything besides its words, the creator and one connector. */
export function isNarrowed(query: Filters): boolean {
  const { connector = [], min_price, max_price, network = [] } = query;
  const several = connector.length > 1 || network.length > 1;
  return several || min_price !== undefined || max_price !== undefined || facetsOf(query).length > 0;
}

/** What an agent is listed with; `figures` are those of table agent_figures. */
export const columns = `agent_id, handle, slug, name, description, connector, category, tags, price_credits, networks,
  per_call, created_at, (extract(epoch from created_at) * 1000000)::bigint::text as "createdMicros", json_build_object('runs', figures.runs, 'succeeded', succeeded, 'median_ms', median_ms,
  'p95_ms', p95_ms, 'last_success_at', last_success_at) as figures`;

/** An order that an index has, so that a page of it is one walk along that index. */
export type IndexedSort = Exclude<Sort, "relevance">;

/** What each order begins with; then the newest come first, and the id tells any two agents apart. */
const keys: Readonly<Record<IndexedSort, Key | undefined>> = {
  newest: undefined,
  cheapest: { column: "price_credits", direction: "asc", onward: ">" },
  most_run: { column: "runs", direction: "desc", onward: "<" },
};

interface Key {
  readonly column: string;
  readonly direction: "asc" | "desc";
  /** How the key of a later row compares with that of an earlier one. */
  readonly onward: "<" | ">";
}

export function orderBy(sort: IndexedSort, from = ""): string {
  const key = keys[sort];
  return `${key ? `${from}${key.column} ${key.direction}, ` : ""}created_at desc, agent_id`;
}

/** What a row is looked at for, as the index of each order holds it. */
export function probedColumns(sort: IndexedSort): string {
  const key = keys[sort]?.column ?? "price_credits";
  return [...new Set(["agent_id", "created_at", "connector", "facets", "price_credits", key])].join(", ");
}

/** What a row's place in the order is made of. */
export function placeColumns(sort: IndexedSort): string {
  const key = keys[sort];
  return `agent_id, created_at${key ? `, ${key.column}` : ""}`;
}

/** SQL for what a row's place begins with. */
export function keyOf(sort: IndexedSort): string {
  const key = keys[sort];
  return `${key ? `page.${key.column}` : 0}::text as key`;
}

/** The condition for the rows behind a place; its values are added to `values`. */
export function behind(sort: IndexedSort, place: Place | undefined, values: unknown[]): string[] {
  if (place === undefined || "skipped" in place) return [];
  const key = keys[sort];
  const moment = `(timestamptz 'epoch' + $${values.push(place.createdMicros)}::bigint * interval '1 microsecond')`;
  const older = `created_at <= ${moment} and (created_at < ${moment} or agent_id > $${values.push(place.id)}::text)`;
  if (key === undefined) return [older];
  const value = `$${values.push(place.key)}::bigint`;
  return [`${key.column} ${key.onward}= ${value} and (${key.column} ${key.onward} ${value} or ${older})`];
}
