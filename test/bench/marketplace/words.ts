/** Made-up words: as many as asked, all different, the same every time. */
export function madeUpWords(count: number): string[] {
  const syllables = ["ba", "de", "fi", "go", "hu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "wu", "za"];
  return Array.from({ length: count }, (_, n) => {
    let word = "";
    for (let rest = n + 4_096; rest > 0; rest = Math.floor(rest / 16)) word += syllables[rest % 16];
    return word;
  });
}

/** SQL that adds `count` live agents of 100 creators, named and described with words of the table `words`. */
export const addAgents = (count: number): readonly string[] => [
  "alter table agents disable trigger agents_listed",
  "drop index listings_search",
  `insert into accounts (id, handle) select 'acc_' || n, 'maker-' || n from generate_series(1, 100) n`,
  `insert into balances (account_id) select 'acc_' || n from generate_series(1, 100) n`,
  `insert into agents (id, account_id, handle, slug, tool_name, created_at)
   select 'agt_' || n, 'acc_' || n % 100 + 1, 'maker-' || n % 100 + 1, 'agent-' || n, 'tool-' || n,
     now() - n * interval '1 second'
   from generate_series(1, ${count}) n`,
  `insert into agent_versions (agent_id, version, name, description, connector, price_credits, fields,
     accepts_extra_instructions, output_kind, settings, search)
   select 'agt_' || agent, 1, said.name, said.description, case when agent % 4 = 0 then 'http-api' else 'llm' end, 5,
     '[]', true, 'text', '{"prompt":"x","format":"text"}',
     setweight(to_tsvector('simple', said.name), 'A') || setweight(to_tsvector('simple', said.description), 'B')
   from generate_series(1, ${count}) agent, lateral (
     select string_agg(word, ' ') filter (where place <= 3) as name,
       string_agg(word, ' ') filter (where place > 3) as description
     from generate_series(1, 12) place
     join words on words.number = (hashint8extended(agent, place) % 5000 + 5000) % 5000
   ) said`,
  "update agents set state = 'live', live_version = 1 where id ~ '^agt_[0-9]+$'",
  `insert into listings (agent_id, handle, slug, name, description, connector, price_credits, search, created_at)
   select a.id, a.handle, a.slug, v.name, v.description, v.connector, v.price_credits, v.search, a.created_at
   from agents a join agent_versions v on v.agent_id = a.id and v.version = a.live_version
   on conflict do nothing`,
  "create index listings_search on listings using gin (search)",
  "alter table agents enable trigger agents_listed",
  "vacuum analyze listings, agents, agent_versions",
];
