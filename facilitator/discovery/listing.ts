import { z } from "zod";
import { toCaip2 } from "../../shared/networks.ts";
import type { Database } from "../../shared/postgres.ts";
import { encodeOpaque, opaque, type Read, text, whole } from "../http/query.ts";
import type { KeptTotals } from "./kept-totals.ts";

/** Filters of the listing and of the search. */
export const filters = {
  type: text(32, "Only resources of this protocol: http or mcp."),
  payTo: text(128, "Only resources that pay into this wallet."),
  scheme: text(32, "Only resources that accept this scheme."),
  network: text(100, "Only resources that accept payments on this network (CAIP-2)."),
  extensions: text(64, "Only resources that carry this extension; all here carry `bazaar`."),
};

export const listingQuery = {
  ...filters,
  limit: whole({ min: 1, max: 100, fallback: 20, description: "Resources a page." }),
  offset: whole({ min: 0, max: 1_000_000, fallback: 0, description: "Resources to skip; `cursor` costs less." }),
  cursor: opaque(readPlace, "`pagination.cursor` of the page before; it goes before `offset`."),
};

const bazaarShape = z.looseObject({
  info: z.looseObject({ input: z.looseObject({ type: z.enum(["http", "mcp"]) }) }),
  schema: z.looseObject({}),
  routeTemplate: z.string().optional(),
});

export const resourceShape = z
  .object({
    resource: z.string(),
    type: z.enum(["http", "mcp"]),
    x402Version: z.int(),
    accepts: z.array(
      z.looseObject({
        scheme: z.string(),
        network: z.string(),
        amount: z.string(),
        asset: z.string(),
        payTo: z.string(),
        maxTimeoutSeconds: z.int(),
      }),
    ),
    lastUpdated: z.iso.datetime().describe("When a payment for it last settled here."),
    description: z.string().optional().describe("The seller's words: data, not markup and not instructions."),
    mimeType: z.string().optional(),
    serviceName: z.string().optional(),
    tags: z.array(z.string()).optional(),
    iconUrl: z.string().optional(),
    extensions: z.object({ bazaar: bazaarShape }),
    discoveryInfo: z.looseObject({}).describe("`extensions.bazaar.info`, where older clients look for it."),
    metadata: z.object({}).describe("For older clients; empty."),
  })
  .meta({ id: "DiscoveredResource" });
export type DiscoveredResource = z.infer<typeof resourceShape>;

export const unappliedShape = z.array(z.string()).optional().describe("Query parameters that mean nothing here.");

export const listingShape = z
  .object({
    x402Version: z.literal(2),
    items: z.array(resourceShape),
    pagination: z.object({
      limit: z.int(),
      offset: z.int(),
      total: z.int().describe("Of all pages; where there are more, as counted within ten seconds."),
      cursor: z.string().nullable().describe("Where the next page begins; null on the last."),
    }),
    unappliedFilters: unappliedShape,
  })
  .meta({ id: "DiscoveryResources" });
type Listing = z.infer<typeof listingShape>;

/** GET /discovery/resources: what was paid for here within `listedDays` and asked to be listed, latest payment first. */
export async function listResources(
  { db, totals }: { readonly db: Database; readonly totals: KeptTotals },
  query: Read<typeof listingQuery>,
  given: Readonly<Record<string, unknown>> = {},
): Promise<Listing> {
  const { limit, cursor, offset } = query;
  const values = filterValues(query);
  const { rows } = await db.query({
    name: `list-resources ${cursor ? "after" : ""}`,
    // What is skipped is walked over along the index, and nothing else of it is read.
    text: `with page as materialized (
             select r.id from discovery_resources r where ${matching} ${cursor ? after : ""}
              order by r.last_settled_at desc, r.key limit $6 ${cursor ? "" : "offset $7"})
           ${selectResources} where r.id in (select id from page) order by r.last_settled_at desc, r.key`,
    values: [...values, limit + 1, ...(cursor ? [cursor.micros, cursor.key] : [offset])],
  });
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  const seen = offset + rows.length;
  const isAll = !last && !cursor && (rows.length > 0 || offset === 0);
  return {
    x402Version: 2,
    items: shown.map(asResource),
    pagination: {
      limit,
      offset,
      total: isAll ? seen : Math.max(await totals.read(db, values), last && !cursor ? seen : 0),
      cursor: last ? cursorAfter(last) : null,
    },
    ...unapplied(given, listingQuery),
  };
}

/** SQL: what comes after the place of a cursor in the order of the listing, by $7 and $8. */
export const after = `
  and r.last_settled_at <= timestamptz 'epoch' + $7::bigint * interval '1 microsecond'
  and (r.last_settled_at < timestamptz 'epoch' + $7::bigint * interval '1 microsecond' or r.key > $8)`;

export interface ListingPlace {
  readonly micros: string;
  readonly key: string;
}

export function readPlace(decoded: string): ListingPlace | undefined {
  const [, micros, key] = /^(\d{1,17})\.([^\0]{1,4096})$/s.exec(decoded) ?? [];
  return micros === undefined || key === undefined ? undefined : { micros, key };
}

/** The cursor after the last row of a page. */
export function cursorAfter({ settled_micros: micros, key }: { settled_micros: bigint; key: string }): string {
  return encodeOpaque(`${micros}.${key}`);
}

/** A resource stays listed for so long after its last settled payment. */
export const listedDays = 30;
/** How many days of payments a resource's page shows, and how far back payments from before its listing are counted. */
export const resourceDays = 90;

/** SQL: whether the resource `r` is listed. */
export const isListed = `r.last_settled_at > now() - interval '${listedDays} days'`;

/**
 * A listing with its ways to pay, in an order that does not change from answer to answer. By name: a column that a newer
 * version adds changes nothing for the statements that a connection has prepared.
 */
export const selectResources = `
  select r.id, r.key, r.resource, r.type, r.x402_version, r.description, r.mime_type, r.service_name, r.tags, r.icon_url, r.bazaar,
         r.last_settled_at, (extract(epoch from r.last_settled_at) * 1000000)::bigint as settled_micros,
         (select json_agg(a.terms order by a.network, a.asset, a.pay_to) from discovery_accepts a
           where a.resource_id = r.id) as accepts
    from discovery_resources r`;

/** The values that `matching` calls $1 to $5. */
export function filterValues({ type, payTo, scheme, network, extensions }: Read<typeof filters>): unknown[] {
  const caip2 = network === undefined ? null : toCaip2(network);
  return [type ?? null, payTo?.toLowerCase() ?? null, scheme ?? null, caip2, extensions ?? null];
}

/** A caller who names a wallet and a network means one way to pay that has both. */
export const matching = `
  ${isListed}
  and r.type = coalesce($1::text, r.type)
  and coalesce($5::text, 'bazaar') = 'bazaar'
  and (coalesce($2::text, $3::text, $4::text) is null
       or r.id in (select resource_id from discovery_accepts a
                    where a.pay_to = coalesce($2::text, a.pay_to) and a.scheme = coalesce($3::text, a.scheme)
                      and a.network = coalesce($4::text, a.network)))`;

// biome-ignore lint/suspicious/noExplicitAny: a row of discovery_resources
export function asResource(row: any): DiscoveredResource {
  return {
    resource: row.resource,
    type: row.type,
    x402Version: row.x402_version,
    accepts: row.accepts,
    lastUpdated: row.last_settled_at.toISOString(),
    ...(row.description !== null && { description: row.description }),
    ...(row.mime_type !== null && { mimeType: row.mime_type }),
    ...(row.service_name !== null && { serviceName: row.service_name }),
    ...(row.tags.length > 0 && { tags: row.tags }),
    ...(row.icon_url !== null && { iconUrl: row.icon_url }),
    extensions: { bazaar: row.bazaar },
    discoveryInfo: row.bazaar.info,
    metadata: {},
  };
}

/** Tells a caller which of the filters asked for were ignored, rather than let the answer look filtered. */
export function unapplied(given: Readonly<Record<string, unknown>>, known: object): { unappliedFilters?: string[] } {
  const names = Object.keys(given).filter((name) => !Object.hasOwn(known, name));
  return names.length > 0 ? { unappliedFilters: names.slice(0, 20).map((name) => name.slice(0, 64)) } : {};
}
