import type { Queryable } from "../../shared/postgres.ts";
import type { ListQuery } from "./list.ts";
import { asArray, columns, filters, type Statement } from "./listing-sql.ts";

/** Stands for all connectors together. */
const everywhere = "*";
/** A word with more spellings than this is asked of the index as the beginning it is. */
const spellingsMax = 50;
/** A word that more agents have ranks by whether it is in their name, and nothing finer. */
const rankedMax = 200;

/**
 * What finds the page and the total; undefined when a word is in no agent. A word finds all that begins as its English
 * stem does ("translations" finds "translation"), or as the word itself where the stem is spelled otherwise ("happy",
 * "happi"). Words that English has no stem for ("the") count only where there are no others.
 */
export async function searchStatement(
  db: Queryable,
  query: ListQuery,
  words: readonly string[],
): Promise<Statement | undefined> {
  const { rows: all } = await db.query<Term>({
    name: "look words up",
    text: lookUp,
    values: [words, spellingsMax + 1, query.connector ?? everywhere],
  });
  const stemmed = all.filter(({ stem }) => stem !== null);
  const terms = stemmed.length > 0 ? stemmed : all;
  if (terms.length === 0 || terms.some(({ spellings }) => spellings.length === 0)) return undefined;
  const { creator, limit, offset } = query;
  const only = terms.length === 1 && all.length === 1 ? terms[0]! : undefined;
  const word = only?.spellings.length === 1 && only.agents > rankedMax ? only.spellings[0]! : undefined;
  if (word === undefined) return ranked(query, terms, rankOf(all, terms));
  if (creator === undefined && offset + limit <= only!.names) return byName(query, word);
  return ranked(query, terms, { expression: "(search @@ $4::tsquery)::integer", tsquery: `${quoted(word)}:A` });
}

/** Every spelling that begins as the word or its stem does, of those that some agent has; cut as what is searched is. */
const lookUp = `
  select said, stem, spelled.words as spellings, spelled.agents, spelled.names
  from unnest($1::text[]) with ordinality asked (word, place),
    unnest(tsvector_to_array(to_tsvector('simple', asked.word))) said,
    lateral (select min(stem) as stem from unnest(tsvector_to_array(to_tsvector('english', said))) stem) stemmed,
    lateral (
      select coalesce(array_agg(word), '{}') as words, coalesce(max(agents), 0)::integer as agents,
        coalesce(max(names), 0)::integer as names
      from (
        select word, agents, names from listing_words
        where connector = $3 and agents > 0 and (word >= said and word < said || chr(1114111)
          or word >= stem and word < stem || chr(1114111))
        limit $2
      ) found
    ) spelled
  order by place`;

interface Term {
  readonly said: string;
  readonly stem: string | null;
  readonly spellings: readonly string[];
  /** Of the spelling that most agents have: how many, and how many in their name. */
  readonly agents: number;
  readonly names: number;
}

/** Newest first of those that have the word in their name: they come before all others, and the page needs no more. */
function byName({ connector, limit, offset }: ListQuery, word: string): Statement {
  const ofConnector = connector === undefined ? "" : "and connector = $4";
  const text = `
    with page as (
      select agent_id, created_at from listing_names where word = $3 ${ofConnector}
      order by created_at desc, agent_id limit $1 offset $2
    )
    select (select agents from listing_words where connector = $4 and word = $3) as total, ${asArray(`
      select ${columns} from page join listings using (agent_id, created_at) order by created_at desc, agent_id`)}
      as agents`;
  const name = `search by name${connector === undefined ? "" : " on connector"}`;
  return { name, text, values: [limit, offset, word, connector ?? everywhere] };
}

/** Only what ranks is read of every match; what is shown, of the page alone. */
function ranked({ creator, connector, limit, offset }: ListQuery, terms: readonly Term[], rank: Rank): Statement {
  const spelled = terms.map(({ spellings, ...term }) => {
    const known = spellings.length <= spellingsMax ? spellings.map(quoted) : beginningsOf({ spellings, ...term });
    return `(${known.join(" | ")})`;
  });
  const values: unknown[] = [limit, offset, spelled.join(" & "), rank.tsquery];
  const more = filters({ creator, connector }, values).replace("where", "and");
  const text = `
    with matches as materialized (
      select agent_id, created_at, ${rank.expression} as rank from listings where search @@ $3::tsquery ${more}
    ),
    page as (select * from matches order by rank desc, created_at desc, agent_id limit $1 offset $2)
    select (select count(*) from matches) as total, ${asArray(`
      select ${columns} from page join listings using (agent_id, created_at) order by rank desc, created_at desc, agent_id`)}
      as agents`;
  return { text, values };
}

/** The words as they were said rank higher than what merely begins as their stems do. */
function rankOf(all: readonly Term[], terms: readonly Term[]): Rank {
  const said = all.map((term) => `${quoted(term.said)}:*`).join(" & ");
  const begun = terms.map((term) => `(${beginningsOf(term).join(" | ")})`).join(" & ");
  return { expression: "ts_rank(search, $4::tsquery)", tsquery: `(${said}) | (${begun})` };
}

/** What is highest for the best match; $4 is its tsquery. */
interface Rank {
  readonly expression: string;
  readonly tsquery: string;
}

function beginningsOf({ said, stem }: Term): string[] {
  const beginnings = stem === null ? [said] : said.startsWith(stem) ? [stem] : [said, stem];
  return beginnings.map((beginning) => `${quoted(beginning)}:*`);
}

/** A word of a tsquery. */
function quoted(word: string): string {
  return `'${word.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}
