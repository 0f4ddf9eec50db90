import type { Queryable } from "../../shared/postgres.ts";
import { spellingsOf } from "./spelling-variants.ts";
import { synonymsOf } from "./synonyms.ts";

/** Stands for all connectors together. */
export const everywhere = "*";
/** A word with more spellings than this is asked of the index as the beginning it is. */
export const spellingsMax = 50;
/** A word that no agent has is read as at most this many words of which it may be a typo. */
const readingsMax = 3;
/** More than one of them only while no more agents have them together. */
const readAgentsMax = 500;
/** At most this many of the words with one shape are looked at. */
const alikeMax = 200;

/** One word of a search, and what of the agents' vocabulary it stands for. */
export interface Term {
  readonly said: string;
  /** What the words it stands for begin with: itself and its English stem, in either spelling of English. */
  readonly beginnings: readonly string[];
  /** Its spellings that agents have; none for a word that no agent has. */
  readonly spellings: readonly string[];
  /** How many agents have its most frequent spelling, and how many have that in their name. */
  readonly agents: number;
  readonly names: number;
  /** The words it was read as, since no agent has it. */
  readonly readAs?: readonly string[];
}

/**
 * The words as terms, in their order. A word stands for all that begins as its English stem does ("translations" finds
 * "translation"), or as the word itself where the stem is spelled otherwise ("happy", "happi"), and for both spellings of
 * English. Words that English has no stem for ("the") count only where there are no others.
 */
export async function termsOf(
  db: Queryable,
  words: readonly string[],
  connector: string = everywhere,
): Promise<{ readonly all: readonly Term[]; readonly terms: readonly Term[] }> {
  const said = await lookUp(db, words, connector);
  const stemmed = said.filter(({ isStopWord }) => !isStopWord);
  const terms = stemmed.length > 0 ? stemmed : said;
  const unknown = terms.filter(({ spellings }) => spellings.length === 0).map((term) => term.said);
  if (unknown.length === 0) return { all: said, terms };
  const read = await readOtherwise(db, unknown, connector);
  return { all: said, terms: terms.map((term) => read.get(term.said) ?? term) };
}

interface SaidTerm extends Term {
  readonly isStopWord: boolean;
}

async function lookUp(db: Queryable, words: readonly string[], connector: string): Promise<SaidTerm[]> {
  const asked = words.flatMap((word, place) => spellingsOf(word).map((spelling) => ({ place, spelling })));
  const { rows } = await db.query<SaidTerm>({
    name: "look words up",
    text: lookUpText,
    values: [asked.map(({ place }) => place), asked.map(({ spelling }) => spelling), spellingsMax + 1, connector],
  });
  return rows;
}

/** Cut as what is searched is; every spelling that begins as asked, of those that some agent has. */
const lookUpText = `
  with lexemes as materialized (
    select asked.place, asked.number, lexeme,
      (select min(stem) from unnest(tsvector_to_array(to_tsvector('english', lexeme))) stem) as stem
    from unnest($1::integer[], $2::text[]) with ordinality asked (place, spelling, number),
      unnest(tsvector_to_array(to_tsvector('simple', asked.spelling))) lexeme
  ),
  terms as (
    select place, (array_agg(lexeme order by number))[1] as said, bool_and(stem is null) as "isStopWord",
      array_agg(distinct beginning) as beginnings
    from lexemes, lateral (
      select lexeme as beginning where stem is null or not starts_with(lexeme, stem) union all select stem where stem is not null
    ) begun
    group by place
  )
  select said, "isStopWord", beginnings, spelled.words as spellings, spelled.agents, spelled.names
  from terms, lateral (
    select coalesce(array_agg(word), '{}') as words, coalesce(max(agents), 0)::integer as agents,
      coalesce(max(names), 0)::integer as names
    from (
      select distinct word, agents, names from unnest(beginnings) beginning, lateral (
        select word, agents, names from listing_words
        where connector = $4 and agents > 0 and word >= beginning and word < beginning || chr(1114111)
        limit $3
      ) begun
    ) found
  ) spelled
  order by place`;

/** The meaning of each of these words: a synonym that agents have, or else a word of which it may be a typo. */
async function readOtherwise(db: Queryable, unknown: readonly string[], connector: string): Promise<Map<string, Term>> {
  const meant = unknown.flatMap((said) => synonymsOf(said).map((word) => ({ said, word })));
  const read = await termsRead(db, meant, connector);
  const others = unknown.filter((said) => !read.has(said));
  return others.length === 0 ? read : new Map([...read, ...(await readTypos(db, others, connector))]);
}

/** The terms of the words that each of these may be a typo of: one letter missing, added, wrong or in another place. */
async function readTypos(db: Queryable, unknown: readonly string[], connector: string): Promise<Map<string, Term>> {
  const asked = unknown.flatMap((said) => spellingsOf(said).map((spelling) => ({ said, spelling })));
  const { rows } = await db.query<{ said: string; word: string }>({
    name: "read typos",
    text: typosText,
    values: [asked.map(({ said }) => said), asked.map(({ spelling }) => spelling), connector, readingsMax],
  });
  return termsRead(db, rows, connector);
}

/** Each word that is said as the words it is read as, of those that some agent has. */
async function termsRead(
  db: Queryable,
  readings: ReadonlyArray<{ readonly said: string; readonly word: string }>,
  connector: string,
): Promise<Map<string, Term>> {
  if (readings.length === 0) return new Map();
  const terms = await lookUp(
    db,
    readings.map(({ word }) => word),
    connector,
  );
  const read = new Map<string, Term>();
  for (const said of new Set(readings.map((reading) => reading.said))) {
    const words = readings.filter((reading) => reading.said === said).map(({ word }) => word);
    const found = readingsOf(
      terms
        .filter((term) => words.includes(term.said) && term.spellings.length > 0)
        .toSorted((a, b) => words.indexOf(a.said) - words.indexOf(b.said)),
    );
    if (found.length === 0) continue;
    read.set(said, {
      said,
      beginnings: [...new Set(found.flatMap(({ beginnings }) => beginnings))],
      spellings: [...new Set(found.flatMap(({ spellings }) => spellings))].slice(0, spellingsMax + 1),
      agents: Math.max(...found.map(({ agents }) => agents)),
      names: Math.max(...found.map(({ names }) => names)),
      readAs: found.map((term) => term.said),
    });
  }
  return read;
}

/** The nearest word, and others as long as not too many agents have them all together. */
function readingsOf(terms: readonly Term[]): readonly Term[] {
  let agents = 0;
  return terms.filter((term, index) => {
    agents += term.agents;
    return index === 0 || agents <= readAgentsMax;
  });
}

/** Among words that share a shape, those with the same first letter come first, then those that most agents have. */
const typosText = `
  select said, word from (
    select said, word, row_number() over (
      partition by said order by left(word, 1) = left(said, 1) desc, agents desc, word
    ) as place
    from (
      select distinct asked.said, typo.word, known.agents
      from unnest($1::text[], $2::text[]) asked (said, spelling), 
        lateral typo_shapes(asked.spelling) shaped (shape),
        lateral (select word from listing_typos where listing_typos.shape = shaped.shape limit ${alikeMax}) typo
      join listing_words known on known.connector = $3 and known.word = typo.word
      where known.agents > 0
    ) near
  ) ranked
  where place <= $4 order by said, place`;
