/** Made-up words: as many as asked, all different, the same every time. */
export function madeUpWords(count: number): string[] {
  const syllables = ["ba", "de", "fi", "go", "hu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "wu", "za"];
  return Array.from({ length: count }, (_, n) => {
    let word = "";
    for (let rest = n + 4_096; rest > 0; rest = Math.floor(rest / 16)) word += syllables[rest % 16];
    return word;
  });
}

/** SQL for a number below `count` that has nothing to do with the agent's others. */
const of = (salt: number, count: number) => `(hashint8extended(agent, ${100 + salt}) % ${count} + ${count}) % ${count}`;

/** SQL that adds `count` live agents of 100 creators, named and described with words of the table `words`. */
export const addAgents = (count: number): readonly string[] => [
  "alter table agents disable trigger agents_listed",
  "drop index listings_search",
  `insert into accounts (id, handle) select 'acc_' || n, 'maker-' || n from generate_series(1, 100) n`,
  `insert into balances (account_id) select 'acc_' || n from generate_series(1, 100) n`,
  `insert into payout_wallets (id, account_id, network, address, state, checked_at)
   select 'wal_' || n || network, 'acc_' || n, network, '0x' || n, 'checked', now()
   from generate_series(1, 100) n, (values ('eip155:8453', 2), ('hedera:mainnet', 3)) networks (network, every)
   where n % every = 0`,
  `insert into agents (id, account_id, handle, slug, tool_name, created_at)
   select 'agt_' || n, 'acc_' || n % 100 + 1, 'maker-' || n % 100 + 1, 'agent-' || n, 'tool-' || n,
     now() - n * interval '1 second'
   from generate_series(1, ${count}) n`,
  `insert into agent_versions (agent_id, version, name, description, connector, price_credits, fields,
     accepts_extra_instructions, output_kind, settings, category, tags, search)
   select 'agt_' || agent, 1, said.name, said.description, case when agent % 4 = 0 then 'http-api' else 'llm' end, ${of(1, 40)},
     '[]', true, 'text', '{"prompt":"x","format":"text"}',
     (array['writing', 'data', 'code', 'images', 'other'])[${of(2, 5)} + 1],
     array['tag-' || ${of(3, 1_000)}],
     setweight(to_tsvector('simple', said.name), 'A') || setweight(to_tsvector('simple', said.description), 'B')
   from generate_series(1, ${count}) agent, lateral (
     select string_agg(word, ' ') filter (where place <= 3) as name,
       string_agg(word, ' ') filter (where place > 3) as description
     from generate_series(1, 12) place
     join words on words.number = (hashint8extended(agent, place) % 5000 + 5000) % 5000
   ) said`,
  "update agents set state = 'live', live_version = 1 where id ~ '^agt_[0-9]+$'",
  `insert into listings (agent_id, handle, slug, name, description, connector, price_credits, search, created_at,
     category, tags, networks, per_call, facets, runs)
   select l.agent_id, l.handle, l.slug, l.name, l.description, l.connector, l.price_credits, l.search, l.created_at,
     l.category, l.tags, l.networks, l.per_call, l.facets, case when hashtext(l.slug) & 7 = 0 then (hashtext(l.slug) >> 3) & 4095 else 0 end
   from agents a, lateral listing_of(a.id) l
   on conflict do nothing`,
  "create index listings_search on listings using gin (search)",
  "alter table agents enable trigger agents_listed",
  `insert into agent_figures (agent_id, runs, succeeded, median_ms, p95_ms, last_success_at)
   select agent_id, runs, runs * 99 / 100, 2000, 5000, now() from listings where runs > 0`,
  "vacuum analyze listings, agents, agent_versions",
];
