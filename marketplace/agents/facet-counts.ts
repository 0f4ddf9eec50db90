import type { Queryable } from "../../shared/postgres.ts";
import type { ConnectorId } from "../connectors/connector.ts";
import type { Category } from "./category.ts";

/** How many live agents there are, and how many of them have what lists are narrowed by. */
export interface FacetCounts {
  readonly agents: number;
  readonly free: number;
  readonly perCall: number;
  readonly connectors: ReadonlyMap<ConnectorId, number>;
  readonly categories: ReadonlyMap<Category, number>;
  /** The networks that most agents can be paid on, those first. */
  readonly networks: ReadonlyMap<string, number>;
}

const networksMax = 8;

/** They are counted as agents come and go, so that this reads a few rows. */
export async function readFacetCounts(db: Queryable): Promise<FacetCounts> {
  const { rows } = await db.query<{ facet: string; agents: number }>({
    name: "read facet counts",
    text: `
      select facet, agents::integer from (
        select 'connector:' || connector as facet, agents from listing_counts where creator = '*'
        union all
        select facet, agents from listing_facets where facet in ('free', 'per_call')
        union all
        select facet, agents from listing_facets where facet >= 'category:' and facet < 'category;'
        union all
        (select facet, agents from listing_facets where facet >= 'network:' and facet < 'network;'
         order by agents desc, facet limit ${networksMax})
      ) counted where agents > 0 order by agents desc, facet`,
  });
  const under = <Id extends string>(kind: string) =>
    new Map(
      rows
        .filter(({ facet }) => facet.startsWith(`${kind}:`))
        .map(({ facet, agents }) => [facet.slice(kind.length + 1) as Id, agents]),
    );
  const connectors = under<ConnectorId>("connector");
  const countOf = (facet: string) => rows.find((row) => row.facet === facet)?.agents ?? 0;
  return {
    agents: [...connectors.values()].reduce((sum, agents) => sum + agents, 0),
    free: countOf("free"),
    perCall: countOf("per_call"),
    connectors,
    categories: under("category"),
    networks: under("network"),
  };
}
