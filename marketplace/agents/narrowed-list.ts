import type { Database } from "../../shared/postgres.ts";
import { askIndexes } from "./ask-indexes.ts";
import type { ListQuery, Place } from "./list-query.ts";
import type { IndexedSort } from "./listing-sql.ts";
import { countedMax, found, known, pageOfFound, probed, walked } from "./listing-statements.ts";
import type { Search } from "./search.ts";

/** A list whose total is not known without counting, or that is narrowed. */
export interface Narrowed {
  readonly query: ListQuery;
  readonly sort: IndexedSort;
  readonly place: Place | undefined;
  readonly search: Search | undefined;
}

export interface NarrowedPage<Row> {
  readonly total: bigint;
  readonly agents: readonly Row[];
  /** A total above it says only that there are more. */
  readonly totalMax: number;
}

/**
 * A page of a narrowed list. Where what it is narrowed by is frequent, the first agents of its order are looked at, which mostly have
 * the page. Where they do not, up to `countedMax` and one more are found by an index of what lists are narrowed by, which costs
 * little however few of a million have it all; where there are no more, the page is taken from these, and else it is looked for
 * along the order.
 */
export async function readNarrowed<Row>(db: Database, asked: Narrowed): Promise<NarrowedPage<Row>> {
  const { query, sort, place, search } = asked;
  const { total, isFrequent } = await readKnown(db, asked);
  const totalMax = total === null ? countedMax : Number.MAX_SAFE_INTEGER;
  if (total === 0n) return { total, agents: [], totalMax };
  const first = isFrequent ? await probe<Row>(db, asked) : undefined;
  const counted = total ?? first?.total;
  if (first?.agents && counted !== undefined) return { total: counted, agents: first.agents, totalMax };
  const ids = await findIds(db, asked);
  const found = { total: counted ?? BigInt(ids.length), totalMax };
  if (first?.agents) return { ...found, agents: first.agents };
  const statement =
    ids.length <= countedMax ? pageOfFound(query, sort, place, ids) : walked(query, sort, place, search);
  const { rows } = await db.query<{ agents: readonly Row[] }>(statement);
  return { ...found, agents: rows[0]!.agents };
}

/** The total, where it is kept, and whether one agent in twenty may be wanted and the order's index can tell. */
async function readKnown(db: Database, { query, place, search }: Narrowed): Promise<Known> {
  const { rows } = await db.query<{ total: bigint | null; rarest: bigint | null; all: bigint }>(known(query, search));
  const { total, rarest, all } = rows[0]!;
  const isTold = !search && query.creator === undefined && rarest !== null;
  const isNear = place !== undefined || query.offset <= countedMax;
  return { total, isFrequent: isTold && isNear && rarest * 20n >= all };
}

interface Known {
  readonly total: bigint | null;
  readonly isFrequent: boolean;
}

/** What the first agents of the order tell; nothing of what they do not. */
interface Probe<Row> {
  readonly agents: readonly Row[] | undefined;
  readonly total: bigint | undefined;
}

async function probe<Row>(db: Database, { query, sort, place }: Narrowed): Promise<Probe<Row>> {
  const { rows } = await db.query<Probed<Row>>(probed(query, sort, place));
  const { agents, all, matches } = rows[0]!;
  const isCounted = matches > countedMax || (all && place === undefined);
  return {
    agents: all || agents.length > query.limit ? agents : undefined,
    total: isCounted ? BigInt(Math.min(matches, countedMax + 1)) : undefined,
  };
}

interface Probed<Row> {
  readonly agents: readonly Row[];
  /** No agent is left that was not looked at, unless it has a place before the page. */
  readonly all: boolean;
  readonly matches: number;
}

/** Prices alone are in no index of what is there or not. */
async function findIds(db: Database, { query, search }: Narrowed): Promise<readonly string[]> {
  const hasPrice = query.min_price !== undefined || query.max_price !== undefined;
  const { rows } = await askIndexes<{ ids: readonly string[] }>(db, found(query, search), {
    alsoOrdered: hasPrice && !search,
  });
  return rows[0]!.ids;
}
