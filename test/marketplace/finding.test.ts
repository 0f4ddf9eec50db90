import { describe, expect } from "vitest";
import { type Account, createAccount } from "../../marketplace/accounts/create.ts";
import { renameAccount } from "../../marketplace/accounts/rename.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { moveAgent } from "../../marketplace/agents/state.ts";
import { marketTest } from "../support/fixtures.ts";
import { call, echoAgent, type Market, type TestMarketplace } from "../support/marketplace.ts";

/** A small market of agents whose words, prices, categories and tags are told apart. */
const test = marketTest();
let creator: Account;
const agents = {
  summarizer: { name: "Summarizer", description: "The gist of an article in one sentence.", price_credits: 5 },
  minutes: {
    name: "Meeting minutes",
    description: "Summaries of what was said, by colour of mood.",
    category: "writing",
    tags: ["meeting-notes", "summary"],
    price_credits: 8,
  },
  labels: {
    name: "Label maker",
    description: "Labels text for a catalog of parts.",
    category: "data",
    price_credits: 0,
  },
  translator: { name: "Translator", description: "German into English.", category: "translation", price_credits: 3 },
  center: { name: "Centre finder", description: "Finds the middle of a text.", category: "data", price_credits: 12 },
};
test.beforeAll(async ({ market }) => {
  creator = await createAccount(market.context.db, { handle: "wordsmith" });
  for (const [slug, agent] of Object.entries(agents)) {
    await publishAgent(market.context, creator, slug, { ...echoAgent, ...agent });
  }
  await market.context.db.query(
    `insert into payout_wallets (id, account_id, network, address, state, checked_at, looked_at)
     values ('wal_1', $1, 'eip155:84532', '0x1', 'checked', now(), now())`,
    [creator.id],
  );
});

const get = (market: TestMarketplace, seeded: Market, query: string) =>
  call(market.url, `/api/v1/agents?${query}`, { key: seeded.key });
const find = async (market: TestMarketplace, seeded: Market, query: string) => (await get(market, seeded, query)).body;
const found = async (market: TestMarketplace, seeded: Market, query: string): Promise<string[]> =>
  (await find(market, seeded, `creator=wordsmith&${query}`)).agents.map(
    ({ agent }: { agent: string }) => agent.split("/")[1],
  );

describe("a search", () => {
  test.for([
    ["summarise text", "summarizer"],
    ["summarise", "summarizer"],
    ["sumarizer", "summarizer"],
    ["sumarise", "summarizer"],
    ["transaltor", "translator"],
    ["tranlate german", "translator"],
    ["color", "minutes"],
    ["center", "center"],
    ["labelling", "labels"],
    ["catalogue", "labels"],
    ["meeting-notes", "minutes"],
    ["german poems about trains", "translator"],
  ] as const)("for “%s” finds %s first", async ([q, slug], { market, seeded }) => {
    expect((await found(market, seeded, `q=${encodeURIComponent(q)}`))[0]).toBe(slug);
  });

  test("finds by a creator's handle too, behind those that have the word in their text, and follows a new handle", async ({
    market,
    seeded,
  }) => {
    const other = await createAccount(market.context.db, { handle: "translator-guild" });
    await publishAgent(market.context, other, "anvil", { ...echoAgent, name: "Anvil", description: "Rings." });
    expect((await find(market, seeded, "q=guild")).agents).toMatchObject([{ agent: "translator-guild/anvil" }]);
    expect((await find(market, seeded, "q=translator")).agents.map(({ agent }: { agent: string }) => agent)).toEqual([
      "wordsmith/translator",
      "translator-guild/anvil",
    ]);
    await renameAccount(market.context.db, other, "smithy-guild");
    expect((await find(market, seeded, "q=translator")).total).toBe(1);
    await moveAgent(market.context.db, "smithy-guild/anvil", "unpublish");
    expect((await find(market, seeded, "q=smithy")).total).toBe(0);
  });

  test("says what it read a word as, and which words it left out", async ({ market, seeded }) => {
    const { search } = await find(market, seeded, "q=transaltor+qqqqq");
    expect(search).toEqual({
      all_words: false,
      read_as: [{ word: "transaltor", as: ["translator"] }],
      unknown: ["qqqqq"],
    });
    expect((await find(market, seeded, "q=translator")).search).toEqual({ all_words: true, read_as: [], unknown: [] });
    expect(await find(market, seeded, "q=qqqqq")).toMatchObject({
      agents: [],
      total: 0,
      search: { unknown: ["qqqqq"] },
    });
  });

  test("reads a word that no agent has as another for the same, and says so", async ({ market, seeded }) => {
    expect(await found(market, seeded, "q=localise")).toEqual(await found(market, seeded, "q=translate"));
    const { search } = await find(market, seeded, "q=localise");
    expect(search.read_as).toEqual([{ word: "localise", as: expect.arrayContaining(["translator"]) }]);
  });

  test("ranks those with most of the words first when none has them all", async ({ market, seeded }) => {
    const all = await find(market, seeded, "creator=wordsmith&q=text+catalog+middle");
    expect(all.search.all_words).toBe(false);
    expect(all.agents.map(({ agent }: { agent: string }) => agent)).toEqual(
      expect.arrayContaining(["wordsmith/labels", "wordsmith/center"]),
    );
    expect(await found(market, seeded, "q=gist+article+middle")).toEqual(["summarizer", "center"]);
  });

  test("never reads a word as another that some agent has as it is", async ({ market, seeded }) => {
    expect((await find(market, seeded, "q=text")).search.read_as).toEqual([]);
    expect((await found(market, seeded, "q=text")).toSorted()).toEqual(["center", "labels"]);
  });

  test("holds with words of all kinds: no error, whatever is typed", async ({ market, seeded }) => {
    const typed = [
      "'",
      "\\",
      "a'b\\c",
      "%_",
      "ſummarise",
      "İstanbul",
      "x".repeat(200),
      "9.9e9",
      "a ".repeat(100),
      "🙂",
      "\0",
    ];
    for (const q of typed) expect((await get(market, seeded, `q=${encodeURIComponent(q)}`)).status, q).toBe(200);
  });
});

describe("filters", () => {
  test.for([
    ["category=data", ["center", "labels"]],
    ["tag=summary", ["minutes"]],
    ["free=true", ["labels"]],
    ["free=false", ["center", "translator", "labels", "minutes", "summarizer"]],
    ["min_price=5&max_price=8", ["minutes", "summarizer"]],
    ["max_price=0", ["labels"]],
    ["network=eip155:84532", ["center", "translator", "minutes", "summarizer"]],
    ["network=eip155:84532,hedera:testnet&category=data", ["center"]],
    ["network=hedera:testnet", []],
    ["free=true&network=eip155:84532", []],
    ["max_price=0&network=eip155:84532", []],
    ["free=true&min_price=1", []],
    ["free=true&min_price=0&max_price=0", ["labels"]],
    ["per_call=true&category=data", ["center", "labels"]],
    ["connector=llm,http-api&max_price=3", ["translator", "labels"]],
    ["connector=http-api,mcp-tool", []],
    ["q=text&category=data&sort=cheapest", ["labels", "center"]],
    ["q=text&max_price=0", ["labels"]],
    ["q=gist+article+middle&category=data", ["center"]],
    ["sort=most_run", ["center", "translator", "labels", "minutes", "summarizer"]],
    ["sort=cheapest", ["labels", "translator", "summarizer", "minutes", "center"]],
  ] as const)("%s leaves the right ones, in order", async ([query, expected], { market, seeded }) => {
    expect(await found(market, seeded, query)).toEqual(expected);
    expect(await find(market, seeded, `creator=wordsmith&${query}&limit=1`)).toMatchObject({
      total: expected.length,
      total_exact: true,
    });
  });

  test.for([
    ["category=nothing", "category"],
    ["tag=Not%20a%20tag", "tag"],
    ["free=maybe", "free"],
    ["per_call=1", "per_call"],
    ["min_price=9&max_price=8", "max_price"],
    ["min_price=-1", "min_price"],
    ["network=base", "network"],
    ["connector=llm,nothing", "connector"],
    ["sort=random", "sort"],
    ["cursor=xyz", "cursor"],
    [`cursor=${Buffer.from("cheapest 1 1 agt_x").toString("base64url")}`, "cursor"],
  ] as const)("%s is a 400 that names the parameter", async ([query, field], { market, seeded }) => {
    const { status, body } = await get(market, seeded, query);
    expect({ status, field: body.field }).toEqual({ status: 400, field });
  });

  test("networks follow the creator's wallets, and their counts stay exact", async ({ market, seeded }) => {
    const { db } = market.context;
    const counted = async () => {
      const { rows } = await db.query(
        "select facet, agents::integer from listing_facets where agents > 0 order by facet",
      );
      const { rows: there } = await db.query(
        `select facet, count(*)::integer as agents from listings, unnest(facets) facet group by facet order by facet collate "C"`,
      );
      expect(rows).toEqual(there);
    };
    await counted();
    await db.query("update payout_wallets set state = 'unpayable' where id = 'wal_1'");
    expect(await found(market, seeded, "per_call=true")).toEqual(["labels"]);
    await counted();
    await db.query("update payout_wallets set state = 'checked' where id = 'wal_1'");
    expect((await found(market, seeded, "per_call=true")).length).toBe(5);
    const [first] = (await find(market, seeded, "creator=wordsmith&sort=cheapest&min_price=3")).agents;
    expect(first.per_call).toMatchObject({ price_usd: 0.03, networks: ["eip155:84532"] });
    await counted();
  });

  test("networks are right however publishing and wallet changes meet", async ({ market }) => {
    const { context } = market;
    const owner = await createAccount(context.db, { handle: "busy-owner" });
    await context.db.query(
      `insert into payout_wallets (id, account_id, network, address, state, checked_at, looked_at)
       values ('wal_2', $1, 'eip155:84532', '0x2', 'checked', now(), now())`,
      [owner.id],
    );
    await Promise.all(
      Array.from({ length: 40 }, (_, n) => {
        const state = n % 4 === 1 ? "unpayable" : "checked";
        if (n % 2) return context.db.query("update payout_wallets set state = $1 where id = 'wal_2'", [state]);
        return publishAgent(context, owner, `agent-${n % 6}`, { ...echoAgent, price_credits: 1 + n });
      }),
    );
    const { rows } = await context.db.query(
      `select count(*)::integer as wrong from listings l, lateral listing_of(l.agent_id) n
       where (l.networks, l.per_call, l.facets) is distinct from (n.networks, n.per_call, n.facets)`,
    );
    expect(rows[0].wrong).toBe(0);
  });
});

describe("a long list", () => {
  test.for([
    "",
    "sort=cheapest",
    "sort=most_run",
    "sort=newest&category=other",
    "q=number",
    "q=number&sort=cheapest",
    "q=number+stamp+nothing",
  ] as const)(
    "%s is read to its end by cursor, every agent once and in the order of one page",
    async (query, { market, seeded }) => {
      const owner = await createAccount(market.context.db, { handle: "many" }).catch(() => undefined);
      for (let n = 0; owner && n < 23; n += 1) {
        const agent = { ...echoAgent, name: `Stamp ${n}`, description: "A number.", price_credits: n % 4 };
        await publishAgent(market.context, owner, `stamp-${n}`, agent);
      }
      const whole = await find(market, seeded, `creator=many&${query}&limit=100`);
      expect(whole.agents.length).toBe(23);
      expect(whole.cursor).toBeNull();
      const read: string[] = [];
      for (let cursor = ""; ; ) {
        const page = await find(market, seeded, `creator=many&${query}&limit=5&cursor=${cursor}`);
        read.push(...page.agents.map(({ agent }: { agent: string }) => agent));
        expect(page.total).toBe(23);
        if (page.cursor === null) break;
        cursor = page.cursor;
      }
      expect(read).toEqual(whole.agents.map(({ agent }: { agent: string }) => agent));
    },
  );
});

describe("categories and tags", () => {
  test("are part of what is published: listed, told in detail, and searched for", async ({ market, seeded }) => {
    const detail = await call(market.url, "/api/v1/agents/wordsmith/minutes", { key: seeded.key });
    expect(detail.body).toMatchObject({ category: "writing", tags: ["meeting-notes", "summary"] });
    const listed = (await find(market, seeded, "creator=wordsmith&tag=summary")).agents[0];
    expect(listed).toMatchObject({ category: "writing", tags: ["meeting-notes", "summary"] });
  });

  test.for([
    [{ category: "nonsense" }, "category"],
    [{ tags: ["a", "b", "c", "d", "e", "f"] }, "tags"],
    [{ tags: ["Upper"] }, "tags.0"],
    [{ tags: ["x".repeat(25)] }, "tags.0"],
    [{ tags: ["twice", "twice"] }, "tags"],
    [{ tags: ["under_score"] }, "tags.0"],
    [{ tags: "summary" }, "tags"],
  ] as const)("%j is refused by its field", async ([wrong, field], { market }) => {
    const published = publishAgent(market.context, creator, "wrong", { ...echoAgent, ...wrong });
    await expect(published).rejects.toMatchObject({ code: "invalid_value", body: { field } });
  });

  test("publishing the same words again is no new version; other tags are one", async ({ market, seeded }) => {
    const { version } = await publishAgent(market.context, creator, "minutes", { ...echoAgent, ...agents.minutes });
    const again = await publishAgent(market.context, creator, "minutes", { ...echoAgent, ...agents.minutes });
    expect(again).toMatchObject({ version, changed: false });
    const other = { ...echoAgent, ...agents.minutes, tags: ["minutes"] };
    expect(await publishAgent(market.context, creator, "minutes", other)).toMatchObject({ version: version + 1 });
    expect(await found(market, seeded, "tag=summary")).toEqual([]);
    expect(await found(market, seeded, "tag=minutes")).toEqual(["minutes"]);
  });
});
