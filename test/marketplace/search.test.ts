import { expect } from "vitest";
import { createAccount } from "../../marketplace/accounts/create.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { moveAgent } from "../../marketplace/agents/state.ts";
import { deleteExpiredRows } from "../../marketplace/expired-rows.ts";
import type { Queryable } from "../../shared/postgres.ts";
import { marketTest } from "../support/fixtures.ts";
import { call, echoAgent, type Market, type TestMarketplace } from "../support/marketplace.ts";

/** Of 300 agents, each third is named after beacons and all others describe them; every one has a word of its own. */
const test = marketTest();
test.beforeAll(async ({ market }) => {
  const { id, handle } = await createAccount(market.context.db, { handle: "lighthouse" });
  const { db } = market.context;
  await db.query(
    `insert into agents (id, account_id, handle, slug, tool_name, created_at)
     select 'agt_b' || n, $1, $2, 'beacon-' || n, 'beacon-' || n, now() - n * interval '1 minute'
     from generate_series(1, 300) n`,
    [id, handle],
  );
  await db.query(
    `insert into agent_versions (agent_id, version, name, description, connector, price_credits, fields,
       accepts_extra_instructions, output_kind, settings, search)
     select 'agt_b' || n, 1, name, description, 'llm', 5, '[]', true, 'text', '{"prompt":"x"}',
       setweight(to_tsvector('simple', name), 'A') || setweight(to_tsvector('simple', description), 'B')
     from generate_series(1, 300) n, lateral (
       select case when n % 3 = 0 then 'Beacon' else 'Lamp' end || ' own' || n as name, 'beacon and lamp' as description
     ) said`,
  );
  await db.query("update agents set state = 'live', live_version = 1 where id ~ '^agt_b'");
});

const find = async (market: TestMarketplace, seeded: Market, query: string) =>
  (await call(market.url, `/api/v1/agents?${query}`, { key: seeded.key })).body;

async function everyPage(market: TestMarketplace, seeded: Market, query: string, limit: number): Promise<string[]> {
  const found: string[] = [];
  for (let offset = 0; ; offset += limit) {
    const { agents, total } = await find(market, seeded, `${query}&limit=${limit}&offset=${offset}`);
    found.push(...agents.map(({ agent }: { agent: string }) => agent));
    if (offset + limit >= total) return found;
  }
}

const beacons = (numbers: number[]) => numbers.map((n) => `lighthouse/beacon-${n}`);
const all = Array.from({ length: 300 }, (_, n) => n + 1);
const namedFirst = beacons([...all.filter((n) => n % 3 === 0), ...all.filter((n) => n % 3 !== 0)]);

test.for([
  ["q=beacon", 100],
  ["q=beacon", 7],
  ["q=BEACONS", 33],
  ["q=beaco", 50],
  ["q=beacon&creator=lighthouse", 100],
  ["q=beacon&connector=llm", 60],
  ["q=beacon&connector=llm&creator=lighthouse", 60],
] as const)(
  "%s, %i a page: every agent once, named ones first, newest first",
  async ([query, limit], { market, seeded }) => {
    expect(await everyPage(market, seeded, query, limit)).toEqual(namedFirst);
  },
);

test("a beginning that is spelled in more ways than are asked for one by one finds all of them", async ({
  market,
  seeded,
}) => {
  expect((await everyPage(market, seeded, "q=own", 100)).toSorted()).toEqual(beacons(all).toSorted());
  expect((await find(market, seeded, "q=own&limit=1")).total).toBe(300);
});

test("a word is looked for on one connector alone, and its total is of that one", async ({ market, seeded }) => {
  expect(await find(market, seeded, "q=beacon&connector=http-api")).toMatchObject({ agents: [], total: 0 });
  const { context } = market;
  const owner = await createAccount(context.db, { handle: "elsewhere" });
  const http = { connector: "http-api", settings: { url: "https://api.github.com/" }, fields: [] };
  await publishAgent(context, owner, "over-http", { ...echoAgent, ...http, name: "Beacon over HTTP" });
  expect(await find(market, seeded, "q=beacon&connector=http-api")).toMatchObject({
    agents: [{ agent: "elsewhere/over-http" }],
    total: 1,
  });
  expect((await find(market, seeded, "q=beacon&connector=llm&limit=1")).total).toBe(300);
  expect((await find(market, seeded, "q=beacon&limit=1")).total).toBe(301);
  await publishAgent(context, owner, "over-http", { ...echoAgent, name: "Beacon over HTTP" });
  expect((await find(market, seeded, "q=beacon&connector=llm&limit=1")).total).toBe(301);
  expect(await find(market, seeded, "q=beacon&connector=http-api")).toMatchObject({ total: 0 });
  await moveAgent(context.db, "elsewhere/over-http", "unpublish");
  expect((await find(market, seeded, "q=beacon&limit=1")).total).toBe(300);
});

test("several words are searched for together, and one that no agent has is left out and named", async ({
  market,
  seeded,
}) => {
  expect((await find(market, seeded, "q=beacon+own30")).total).toBe(2);
  expect((await find(market, seeded, "q=beacon+own30")).agents[0].agent).toBe("lighthouse/beacon-30");
  const { agents, total, search } = await find(market, seeded, "q=own30+zyzzyva");
  expect(agents[0].agent).toBe("lighthouse/beacon-30");
  expect(total).toBe(2);
  expect(search).toEqual({ all_words: false, read_as: [], unknown: ["zyzzyva"] });
});

test("the words are counted as agents come, change their words and go, also at once", async ({ market }) => {
  const { context } = market;
  const owner = await createAccount(context.db, { handle: "keeper" });
  await Promise.all(
    Array.from({ length: 40 }, (_, n) => {
      if (n % 4 === 3) return moveAgent(context.db, `keeper/agent-${n % 5}`, "unpublish").catch(() => {});
      const words = ["beacon", "lamp", "mirror"][n % 3]!;
      return publishAgent(context, owner, `agent-${n % 5}`, {
        ...echoAgent,
        name: `A ${words}`,
        description: `Number ${n}`,
      });
    }),
  );
  const { rows: counted } = await context.db.query(
    "select connector, word, agents, names from listing_words order by word, connector",
  );
  const { rows: there } = await context.db.query(
    `select place as connector, lexeme as word, count(*) as agents,
       count(*) filter (where 'A' = any (weights)) as names
     from listings, unnest(search), lateral (values ('*'), (connector)) places (place)
     group by place, lexeme order by lexeme collate "C", place`,
  );
  expect(counted).toEqual(there);
  const { rows: names } = await context.db.query(
    "select word, connector, agent_id, created_at from listing_names order by word, agent_id",
  );
  const { rows: named } = await context.db.query(
    `select lexeme as word, connector, agent_id, created_at from listings, unnest(search) where 'A' = any (weights)
     order by lexeme collate "C", agent_id`,
  );
  expect(names).toEqual(named);
  await expectShapesOfWords(context.db);
});

test("words that no agent has any more are not kept, however often an agent is published with others", async ({
  market,
}) => {
  const { db } = market.context;
  const owner = await createAccount(db, { handle: "turncoat" });
  const rows = async () => {
    const { rows } = await db.query(
      "select (select count(*) from listing_words) as words, (select count(*) from listing_typos) as typos",
    );
    return rows[0];
  };
  const publish = (words: string) =>
    publishAgent(market.context, owner, "mask", { ...echoAgent, name: "Mask", description: words });
  const wordsOf = (turn: string) => [..."abcdefghij"].map((letter) => `mask${turn}word${letter}`);
  await publish(wordsOf("a").join(" "));
  const before = await rows();
  for (const turn of ["b", "c", "d"]) await publish(wordsOf(turn).join(" "));
  expect(await rows()).toEqual(before);
  await expectShapesOfWords(db);

  await db.query("insert into listing_words values ('*', 'bygone', 0, 0), ('llm', 'bygone', 0, 0)");
  await deleteExpiredRows(db);
  expect(await rows()).toEqual(before);
  await expectShapesOfWords(db);
});

/** Exactly the shapes of the words that there are. */
async function expectShapesOfWords(db: Queryable): Promise<void> {
  const { rows: kept } = await db.query("select shape, word from listing_typos order by word, shape");
  const { rows: wanted } = await db.query(
    `select shape collate "C" as shape, word from listing_words, lateral typo_shapes(word) shape where connector = '*' order by word, 1`,
  );
  expect(kept).toEqual(wanted);
}
