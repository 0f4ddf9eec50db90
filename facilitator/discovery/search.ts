import { z } from "zod";
import { ApiError } from "../../shared/errors.ts";
import type { Database } from "../../shared/postgres.ts";
import { encodeOpaque, opaque, type Read, text, whole } from "../http/query.ts";
import {
  asResource,
  filters,
  filterValues,
  matching,
  resourceShape,
  selectResources,
  unapplied,
  unappliedShape,
} from "./listing.ts";

export const searchQuery = {
  query: { ...text(400, "What to look for, in plain words."), required: true },
  ...filters,
  limit: whole({ min: 1, max: 100, fallback: 20, description: "Resources a page." }),
  cursor: opaque(readOffset, "`pagination.cursor` of the page before."),
};

export const searchShape = z
  .object({
    x402Version: z.literal(2),
    resources: z.array(resourceShape),
    partialResults: z.boolean(),
    pagination: z.object({ limit: z.int(), cursor: z.string().nullable() }),
    unappliedFilters: unappliedShape,
  })
  .meta({ id: "DiscoverySearch" });
type Found = z.infer<typeof searchShape>;

/**
 * GET /discovery/search: listed resources that have any of the words, best match first: a service's name and tags
 * count more than its description, that more than its URL. Throws ApiError 400 without words to look for.
 */
export async function searchResources(
  { db }: { readonly db: Database },
  asked: Read<typeof searchQuery>,
  given: Readonly<Record<string, unknown>> = {},
): Promise<Found> {
  const { query, limit, cursor: offset = 0 } = asked;
  if (query === undefined || query.trim() === "") {
    throw new ApiError("bad_request", "query is required.", { body: { field: "query" } });
  }
  const { rows } = await db.query({
    name: "search-resources",
    text: `${selectResources},
           -- Any of the words, where plainto_tsquery would ask for all of them.
           cast(replace(plainto_tsquery('english', $6)::text, ' & ', ' | ') as tsquery) as wanted
           where ${matching} and r.words @@ wanted
           order by ts_rank(r.words, wanted) desc, r.last_settled_at desc, r.key
           limit $7 offset $8`,
    values: [...filterValues(asked), query, limit + 1, offset],
  });
  return {
    x402Version: 2,
    resources: rows.slice(0, limit).map(asResource),
    partialResults: false,
    pagination: { limit, cursor: rows.length > limit ? encodeOpaque(String(offset + limit)) : null },
    ...unapplied(given, searchQuery),
  };
}

function readOffset(decoded: string): number | undefined {
  return /^\d{1,6}$/.test(decoded) ? Number(decoded) : undefined;
}
