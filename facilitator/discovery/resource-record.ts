import { toSafeNumber } from "../../shared/amounts.ts";
import { ApiError } from "../../shared/errors.ts";
import type { Database } from "../../shared/postgres.ts";
import { isUsdc } from "../usdc-amount.ts";
import {
  after,
  asResource,
  cursorAfter,
  type DiscoveredResource,
  isListed,
  type ListingPlace,
  listedDays,
  resourceDays,
  selectResources,
} from "./listing.ts";

const pageSize = 20;
/** A program that looks through more reads the listing as JSON. */
export const offsetMax = 2_000;
/** What a list of resources adds up; nothing is deleted after it. */
export const recordDays = 30;

/** A listed resource with what was settled for it here in the last `recordDays`. */
export interface RecordedResource extends DiscoveredResource {
  readonly id: string;
  /** Price of its cheapest way to pay in USDC on the networks asked for, base units. */
  readonly price: bigint | undefined;
  readonly settled: number;
  readonly failed: number;
}

export interface ResourcesPage {
  readonly resources: readonly RecordedResource[];
  /** Where the next page begins: in the order of the last payments, which change all the time, after the last row of this one. */
  readonly next: { readonly cursor: string } | { readonly offset: number } | undefined;
}

export const resourceOrders = ["match", "price", "-price"] as const;
export type ResourceOrder = (typeof resourceOrders)[number];

/** Text of this module, never a caller's. */
const orderBy: Readonly<Record<ResourceOrder, string>> = {
  match: "rank desc, last_settled_at desc, key",
  price: "price, id",
  "-price": "price desc, id desc",
};

export interface AskedResources {
  readonly query: string;
  readonly networks: readonly string[];
  /** Base units; undefined for any price. */
  readonly priceMax: bigint | undefined;
  readonly order: ResourceOrder;
  readonly offset: number;
  /** In place of the offset, in the order of the last payments alone. */
  readonly place?: ListingPlace | undefined;
}

/** Without words and without another order the one paid for last comes first. */
export function isByLastPayment({ query, order }: Pick<AskedResources, "query" | "order">): boolean {
  return query === "" && order === "match";
}

/**
 * Listed resources: those that have any of the words, best match first, without words the one paid for last first; or the
 * cheapest or dearest first, by the lowest of a resource's ways to pay in USDC on these networks: what has none is left out then.
 * Payments are those on these networks.
 */
export async function recordedResources(
  { db }: { readonly db: Database },
  asked: AskedResources,
): Promise<ResourcesPage> {
  const { query, networks, priceMax, order, offset, place } = asked;
  const isFound = query !== "";
  const by = isByLastPayment(asked) ? "last_settled_at desc, key" : orderBy[order];
  const { rows } = await db.query({
    name: `recorded-resources ${order} ${priceMax === undefined ? "" : "priced"} ${isFound ? "found" : ""} ${place ? "after" : ""}`,
    text: `
      with page as (${order !== "match" && !isFound ? pageByPrice(order) : pageOf(asked, by)})
      select r.*, ${lowestPrice("r.id")} as price, coalesce(s.settled, 0) as settled, coalesce(s.failed, 0) as failed
        from page cross join lateral (${selectResources} where r.id = page.id) r
             cross join lateral (
               select sum(d.settled) as settled, sum(d.failed) as failed from listing_days d
                where d.resource_id = r.id and d.network = any($2)
                  and d.day > (now() at time zone 'utc')::date - ${recordDays}) as s
       order by ${by}`,
    values: [
      query,
      networks,
      pageSize + 1,
      place ? 0 : offset,
      priceMax ?? null,
      wantedWords(query),
      ...(place ? [place.micros, place.key] : []),
    ],
  });
  const shown = rows.slice(0, pageSize).map((row) => recordedOf(row, networks));
  return { resources: shown, next: nextOf(rows, asked) };
}

/** SQL: what the index of prices by network has of a way to pay. */
const priceOf = (accepted: string) => `(${accepted}.terms->>'amount')::numeric`;

const lowestPrice = (id: string) => `
  (select min(${priceOf("a")}) from discovery_accepts a where a.resource_id = ${id} and a.network = any($2) and ${isUsdc("a")})`;

/** In the order of the last payments, or of what has words. */
function pageOf({ query, priceMax, order, place }: AskedResources, by: string): string {
  const isFound = query !== "";
  return `
    select id, rank, price from (
      select r.id, r.last_settled_at, r.key, ${isFound ? "ts_rank(r.words, wanted)" : "0"} as rank,
             ${order === "match" ? "0" : lowestPrice("r.id")} as price
        from discovery_resources r, to_tsquery('english', $6) as wanted
       where ${isListed} and ${isFound ? "(r.words @@ wanted or r.resource = $1)" : "$1 = '' and $6 = ''"}
         ${place ? after : ""}
       ${isFound ? `order by ${by}` : ""}) as fitting
     -- One after the other, as far as the page goes: a join would look at the ways to pay of all. What has words is put in order
     -- before that; all else comes in the order of an index.
     where (select true from discovery_accepts a
             where a.resource_id = fitting.id and a.network = any($2)
               and ${order === "match" && priceMax === undefined ? "$5::numeric is null" : `${priceOf("a")} <= coalesce($5::numeric, 'infinity') and ${isUsdc("a")}`}
             limit 1)
     order by ${by} limit $3 offset $4`;
}

/**
 * Along the index of each network as far as the page goes. What comes before a resource on the network where it is cheapest is no dearer
 * anywhere; the other way round it can be cheaper elsewhere, and does not count then.
 */
function pageByPrice(order: ResourceOrder): string {
  const [way, elsewhere] = order === "-price" ? ["desc", "any($2)"] : ["asc", "a.network"];
  const [price, other] = [priceOf("a"), priceOf("o")];
  return `
    select id, 0 as rank, min(price) as price
      from unnest($2::text[]) as asked (network) cross join lateral (
             select a.resource_id as id, ${price} as price from discovery_accepts a
              where a.network = asked.network and $1 = '' and $6 = '' and ${isUsdc("a")}
                and (select ${isListed} from discovery_resources r where r.id = a.resource_id)
                and ${price} <= coalesce($5::numeric, 'infinity')
                -- One after the other again, and of equal ones on a network one.
                and (select true from discovery_accepts o
                      where o.resource_id = a.resource_id and o.network = ${elsewhere} and ${isUsdc("o")}
                        and (${other} < ${price} or ${other} = ${price} and o.network = a.network
                                                    and (o.scheme, o.asset, o.pay_to) < (a.scheme, a.asset, a.pay_to))
                      limit 1) is null
              order by ${price} ${way}, a.resource_id ${way} limit $3::bigint + $4::bigint) as first
     group by id
     order by min(price) ${way}, id ${way} limit $3 offset $4`;
}

// biome-ignore lint/suspicious/noExplicitAny: a row of discovery_resources
function recordedOf(row: any, networks: readonly string[]): RecordedResource {
  return {
    ...acceptedOn(networks, asResource(row)),
    id: String(row.id),
    price: row.price ?? undefined,
    settled: toSafeNumber(row.settled),
    failed: toSafeNumber(row.failed),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: rows of discovery_resources, one more than a page has where there are more
function nextOf(rows: readonly any[], asked: AskedResources): ResourcesPage["next"] {
  if (rows.length <= pageSize) return undefined;
  if (isByLastPayment(asked)) return { cursor: cursorAfter(rows[pageSize - 1]) };
  const offset = asked.offset + pageSize;
  return offset <= offsetMax ? { offset } : undefined;
}

/**
 * A search for an address or a host must match all its parts, a search for several words any of them. A found word may
 * be longer than the wanted one.
 */
function wantedWords(query: string): string {
  const words = query.replace(/^https?:\/\//i, "").match(/[\p{L}\p{N}]+/gu) ?? [];
  const each = words.slice(0, 20).map((word) => (word.length < 3 ? word : `${word}:*`));
  return each.join(/\s/.test(query) ? " | " : " & ");
}

/** The resource with only its ways to pay on these networks. */
function acceptedOn(networks: readonly string[], resource: DiscoveredResource): DiscoveredResource {
  return { ...resource, accepts: (resource.accepts ?? []).filter(({ network }) => networks.includes(network)) };
}

export interface ResourceDay {
  /** `2026-11-20`. */
  readonly day: string;
  readonly settled: number;
  readonly failed: number;
  /** Lowest price of a settled payment, base units. */
  readonly priceMin: bigint | undefined;
  readonly priceMax: bigint | undefined;
}

export interface ResourceRecord {
  readonly resource: DiscoveredResource;
  /** For a route, the path that was paid for first; else the resource itself. Undefined where none was kept. */
  readonly address: string | undefined;
  /** The resource stands for every path that fits its route template. */
  readonly isRoute: boolean;
  /** The last `resourceDays`, oldest first. */
  readonly days: readonly ResourceDay[];
}

/** One listed resource and its last `resourceDays`, on these networks, or on its own where it takes none of these. Throws ApiError 404. */
export async function resourceRecord(
  { db }: { readonly db: Database },
  id: string,
  networks: readonly string[],
): Promise<ResourceRecord> {
  const { rows } = /^\d{1,18}$/.test(id)
    ? await db.query({
        name: "resource-by-id",
        text: `select found.*, probe_url from (${selectResources} where r.id = $1 and ${isListed}) as found
                 join discovery_resources using (id)`,
        values: [id],
      })
    : { rows: [] };
  const row = rows[0];
  if (!row)
    throw new ApiError(
      "not_found",
      `No such resource is listed. One is, for ${listedDays} days after its last payment.`,
    );
  const found = asResource(row);
  const own = (found.accepts ?? []).map(({ network }) => network);
  const looked = own.some((network) => networks.includes(network)) ? networks : own;
  const days = await daysOf(db, row.id, looked);
  const resource = acceptedOn(looked, found);
  const isRoute = resource.extensions.bazaar.routeTemplate?.includes(":") ?? false;
  return { resource, address: row.probe_url || (isRoute ? undefined : resource.resource), isRoute, days };
}

async function daysOf(db: Database, id: bigint, networks: readonly string[]): Promise<readonly ResourceDay[]> {
  const { rows } = await db.query({
    name: "resource-days",
    text: `
      select n::date::text as day, coalesce(sum(d.settled), 0) as settled, coalesce(sum(d.failed), 0) as failed,
             min(d.price_min) as price_min, max(d.price_max) as price_max
        from generate_series((now() at time zone 'utc')::date - ${resourceDays - 1}, (now() at time zone 'utc')::date, '1 day') n
             left join listing_days d on d.day = n::date and d.resource_id = $1 and d.network = any($2)
       group by n order by n`,
    values: [id, networks],
  });
  return rows.map((day) => ({
    day: day.day,
    settled: toSafeNumber(day.settled),
    failed: toSafeNumber(day.failed),
    priceMin: day.price_min ?? undefined,
    priceMax: day.price_max ?? undefined,
  }));
}
