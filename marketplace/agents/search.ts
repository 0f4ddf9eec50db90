import type { Queryable } from "../../shared/postgres.ts";
import type { ListQuery } from "./list-query.ts";
import { everywhere, spellingsMax, type Term, termsOf } from "./search-terms.ts";

/** A word that more agents have ranks by whether it is in their name, and nothing finer. */
const rankedMax = 200;
/** A search for agents that have some of the words looks at about this many at most. */
export const candidatesMax = 2_500;

/** What a search asks for, in PostgreSQL's words. */
export interface Search {
  readonly terms: readonly Term[];
  /** The words that some agent has, or is read as having, and those that none has. */
  readonly known: readonly Term[];
  readonly unknown: readonly string[];
  /** The one word that is searched for, where it has one spelling and many agents have it. */
  readonly common: CommonWord | undefined;
  /** All words as they were said: agents that have them so rank highest. */
  readonly all: readonly Term[];
}

interface CommonWord {
  readonly word: string;
  readonly agents: number;
  readonly names: number;
}

export async function readSearch(
  db: Queryable,
  query: Pick<ListQuery, "connector">,
  words: readonly string[],
): Promise<Search> {
  const [connector, ...more] = query.connector ?? [];
  const { all, terms } = await termsOf(db, words, more.length === 0 ? (connector ?? everywhere) : everywhere);
  const known = terms.filter(({ spellings }) => spellings.length > 0);
  const unknown = terms.filter(({ spellings }) => spellings.length === 0).map(({ said }) => said);
  const only = known.length === 1 && terms.length === 1 && all.length === 1 ? known[0]! : undefined;
  const isCommon = only?.spellings.length === 1 && only.agents > rankedMax;
  const common = isCommon ? { word: only.spellings[0]!, agents: only.agents, names: only.names } : undefined;
  return { all, terms, known, unknown, common };
}

/** The tsquery of the agents that have every word. */
export const everyWord = ({ known }: Search) => known.map(spelled).join(" & ");

/** The tsquery of those that have any. */
export const anyWord = ({ known }: Pick<Search, "known">) => known.map(spelled).join(" | ");

/** SQL for what is highest for the best match; `push` adds a value to the statement's and gives its place. */
export type Rank = (push: (value: unknown) => string) => string;

/** The words as they were said rank higher than what merely begins as their stems do. */
export function rankOf({ all, known, common }: Search): Rank {
  if (common) return (push) => `(search @@ ${push(`${quoted(common.word)}:A`)}::tsquery)::integer`;
  const said = all.map((term) => `${quoted(term.said)}:*`).join(" & ");
  const begun = known.map((term) => `(${beginningsOf(term).join(" | ")})`).join(" & ");
  return (push) => `ts_rank(search, ${push(`(${said}) | (${begun})`)}::tsquery)`;
}

/** The more of all words an agent has, and the rarer they are, the higher it ranks. */
export function rankByWords({ known }: Pick<Search, "known">): Rank {
  return (push) => {
    const points = known.map((term) => {
      const rarity = 1 / Math.log2(2 + term.agents);
      return `(search @@ ${push(spelled(term))}::tsquery)::integer * ${push(1 + rarity)}::float8`;
    });
    return `${points.join(" + ")} + ts_rank(search, ${push(anyWord({ known }))}::tsquery) / 10`;
  };
}

/** For when no agent has every word: the rarest words, as many as can be looked through. */
export function someWords({ known }: Search): SomeWords {
  let candidates = 0;
  const rarest = known
    .toSorted((a, b) => a.agents - b.agents)
    .filter(({ agents }, index) => {
      candidates += agents;
      return index === 0 || candidates <= candidatesMax;
    });
  return { tsquery: anyWord({ known: rarest }), rank: rankByWords({ known }) };
}

export interface SomeWords {
  readonly tsquery: string;
  readonly rank: Rank;
}

/** Every spelling; or the beginnings, where there are too many to ask for one by one. */
function spelled(term: Term): string {
  const known = term.spellings.length <= spellingsMax ? term.spellings.map(quoted) : beginningsOf(term);
  return `(${known.join(" | ")})`;
}

function beginningsOf({ beginnings }: Term): string[] {
  return beginnings.map((beginning) => `${quoted(beginning)}:*`);
}

/** A word of a tsquery. */
function quoted(word: string): string {
  return `'${word.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}
