import type { Queryable } from "../../shared/postgres.ts";
import type { Caller } from "../api-keys/authenticate.ts";
import { type ScopedAgent, scopedColumns, scopeOf } from "./scope.ts";
import { anyWord, everyWord, type Rank, rankByWords, rankOf, readSearch } from "./search.ts";
import { searchedWordsOf } from "./search-words.ts";

/**
 * The agents that a key sees as tools and that have the words, best match first, as the list of agents forgives: stems,
 * spellings, typos, and those with most of the words when none has all. All of them, by tool name, for no words.
 */
export async function searchScope(db: Queryable, caller: Caller, query: string, limit: number): Promise<FoundAgent[]> {
  const words = searchedWordsOf(query);
  if (words.length === 0) return query.trim() === "" ? find(db, caller, undefined, limit) : [];
  const search = await readSearch(db, {}, words);
  if (search.known.length === 0) return [];
  const all = await find(db, caller, { tsquery: everyWord(search), rank: rankOf(search) }, limit);
  if (all.length > 0 || search.known.length === 1) return all;
  return find(db, caller, { tsquery: anyWord(search), rank: rankByWords(search) }, limit);
}

export interface FoundAgent {
  readonly tool: string;
  readonly agent: string;
  readonly name: string;
  readonly description: string;
  readonly price_credits: number;
}

interface Matching {
  readonly tsquery: string;
  readonly rank: Rank;
}

async function find(
  db: Queryable,
  caller: Caller,
  matching: Matching | undefined,
  limit: number,
): Promise<FoundAgent[]> {
  const { where, value } = scopeOf(caller);
  const values = [value, limit];
  const push = (one: unknown) => `$${values.push(one)}`;
  const match = matching ? `and l.search @@ ${push(matching.tsquery)}::tsquery` : "";
  const best = matching ? `${matching.rank(push)} desc, ` : "";
  const { rows } = await db.query<FoundRow>(
    `select ${scopedColumns}, l.name, l.description, l.price_credits::integer
     from agents a join listings l on l.agent_id = a.id
     where ${where} ${match}
     order by ${best} a.tool_name limit $2`,
    values,
  );
  return rows.map(({ tool, address: agent, ...found }) => ({ tool, agent, ...found }));
}

type FoundRow = ScopedAgent & Omit<FoundAgent, "agent">;
