import { describe, expect } from "vitest";
import { createAccount } from "../../marketplace/accounts/create.ts";
import { addPayoutWallet } from "../../marketplace/accounts/payout-wallets.ts";
import { toolNameOf } from "../../marketplace/agent-address.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { moveAgent } from "../../marketplace/agents/state.ts";
import { marketTest } from "../support/fixtures.ts";
import { call, echoAgent, type Market, run, type TestMarketplace } from "../support/marketplace.ts";

const test = marketTest({ env: { MARKETPLACE_PUBLIC_URL: "https://market.example" } });

const get = (market: TestMarketplace, seeded: Market, path: string, headers: Record<string, string> = {}) =>
  call(market.url, path, { key: seeded.key, headers });

describe("GET /api/v1/agents", () => {
  let creator: Awaited<ReturnType<typeof createAccount>>;
  const names = ["Contract translator", "Poem writer", "Weather translation", "Über-Rechner", "Zebra facts", "Haiku"];
  test.beforeAll(async ({ market }) => {
    creator = await createAccount(market.context.db, { handle: "catalogue" });
    for (const [n, name] of names.entries()) {
      const description = n === 4 ? "Knows a poem about zebras." : `Number ${n} of the list`;
      await publishAgent(market.context, creator, `agent-${n}`, { ...echoAgent, name, description, price_credits: n });
    }
  });
  const list = async (market: TestMarketplace, seeded: Market, query: string) =>
    (await get(market, seeded, `/api/v1/agents?creator=catalogue&${query}`)).body;
  const found = async (market: TestMarketplace, seeded: Market, query: string) =>
    (await list(market, seeded, query)).agents.map(({ name }: { name: string }) => name);

  test("gives each agent the fields of the specification", async ({ market, seeded }) => {
    const { agents, ...page } = await list(market, seeded, "limit=1&offset=5");
    expect(page).toEqual({ total: 6, total_exact: true, limit: 1, offset: 5, cursor: null, search: null });
    expect(agents).toEqual([
      {
        agent: "catalogue/agent-0",
        name: "Contract translator",
        description: "Number 0 of the list",
        connector: "llm",
        connector_name: "Language model",
        category: "other",
        tags: [],
        price_credits: 0,
        per_call: {
          url: expect.stringMatching(/\/api\/agent\/catalogue\/agent-0$/),
          price_usd: 0,
          networks: [],
        },
        figures: { runs_30d: 0, success_rate: null, median_ms: null, p95_ms: null, last_success_at: null },
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      },
    ]);
  });

  test("pages newest first without a gap or a repetition, twenty at a time unless asked otherwise", async ({
    market,
    seeded,
  }) => {
    expect(await list(market, seeded, "")).toMatchObject({ total: 6, limit: 20, offset: 0 });
    const pages = await Promise.all([0, 2, 4, 6].map((offset) => found(market, seeded, `limit=2&offset=${offset}`)));
    expect(pages.flat()).toEqual(names.toReversed());
    expect(await list(market, seeded, "offset=1000")).toMatchObject({ agents: [], total: 6 });
  });

  test.for([
    ["q=translator", ["Contract translator", "Weather translation"]],
    ["q=transl", ["Weather translation", "Contract translator"]],
    ["q=TRANSLATIONS", ["Weather translation", "Contract translator"]],
    ["q=weather+transl", ["Weather translation"]],
    ["q=the+weather", ["Weather translation"]],
    ["q=poems+writing", ["Poem writer"]],
    ["q=poem", ["Poem writer", "Zebra facts"]],
    ["q=%C3%BCber", ["Über-Rechner"]],
    ["q=rechner", ["Über-Rechner"]],
    ["q=number+3", ["Über-Rechner"]],
    ["q=nothing-like-it", []],
    ["q=%27%20%7C%20%21%20%3A%2A%20%28", []],
    ["q=", names.toReversed()],
    ["connector=llm&q=haiku", ["Haiku"]],
    ["connector=http-api", []],
    ["connector=", names.toReversed()],
  ] as const)("%s finds the right ones, best first", async ([query, expected], { market, seeded }) => {
    expect(await found(market, seeded, query)).toEqual(expected);
    expect((await list(market, seeded, `${query}&limit=1`)).total).toBe(expected.length);
  });

  test("creator is compared without case, and nobody's agents are none", async ({ market, seeded }) => {
    expect((await get(market, seeded, "/api/v1/agents?creator=CATALOGUE")).body.total).toBe(6);
    for (const nobody of ["nobody-at-all", "*", "%00", "%25"]) {
      expect((await get(market, seeded, `/api/v1/agents?creator=${nobody}`)).body).toMatchObject({
        agents: [],
        total: 0,
      });
    }
  });

  test("shows live agents alone", async ({ market, seeded }) => {
    await publishAgent(market.context, creator, "hidden", { ...echoAgent, name: "Hidden" });
    expect((await list(market, seeded, "")).total).toBe(7);
    await moveAgent(market.context.db, "catalogue/hidden", "unpublish");
    expect((await list(market, seeded, "")).total).toBe(6);
    await moveAgent(market.context.db, "catalogue/hidden", "suspend");
    expect((await list(market, seeded, "")).total).toBe(6);
  });

  test.for([
    ["limit=0", "limit"],
    ["limit=101", "limit"],
    ["limit=ten", "limit"],
    ["limit=1e1", "limit"],
    ["limit=-1", "limit"],
    ["limit=1.5", "limit"],
    ["limit=5&limit=6", "limit"],
    ["offset=-1", "offset"],
    ["offset=100001", "offset"],
    ["offset=99999999999999999999", "offset"],
    ["connector=nothing", "connector"],
    [`q=${"x".repeat(201)}`, "q"],
  ] as const)("%s is a 400 that names the parameter", async ([query, field], { market, seeded }) => {
    const { status, body } = await get(market, seeded, `/api/v1/agents?${query}`);
    expect(status).toBe(400);
    expect(body).toEqual({ error: expect.stringContaining(`"${field}"`), field });
    // Whatever is wrong with a number, its bounds are said.
    const bounds = { limit: "from 1 to 100, given once", offset: "from 0 to 100000, given once" };
    if (field in bounds) expect(body.error).toContain(bounds[field as keyof typeof bounds]);
  });

  test("totals stay exact while agents come, go and change connector at once", async ({ market, seeded }) => {
    const mover = await createAccount(market.context.db, { handle: "mover" });
    const httpAgent = { ...echoAgent, connector: "http-api", settings: { url: "https://api.github.com/" }, fields: [] };
    const publish = (n: number, agent: object) => publishAgent(market.context, mover, `moving-${n % 6}`, agent);
    await Promise.all(
      Array.from({ length: 60 }, (_, n) => {
        if (n % 5 === 4) return moveAgent(market.context.db, `mover/moving-${n % 6}`, "unpublish").catch(() => {});
        return publish(n, n % 2 ? { ...httpAgent, price_credits: n } : { ...echoAgent, price_credits: n });
      }),
    );
    const { rows } = await market.context.db.query(
      `select v.connector, count(*) as live from agents a
       join agent_versions v on v.agent_id = a.id and v.version = a.live_version where a.state = 'live' group by 1`,
    );
    const total = async (query: string) => (await get(market, seeded, `/api/v1/agents?limit=1&${query}`)).body.total;
    for (const { connector, live } of rows) expect(await total(`connector=${connector}`)).toBe(Number(live));
    expect(await total("")).toBe(rows.reduce((sum, { live }) => sum + Number(live), 0));
    for (const query of ["creator=mover", "creator=MOVER&connector=llm", "creator=mover&connector=http-api"]) {
      const { agents, total } = (await get(market, seeded, `/api/v1/agents?${query}&limit=100`)).body;
      expect(total).toBe(agents.length);
    }
  });

  test("an unknown parameter is ignored", async ({ market, seeded }) => {
    expect((await get(market, seeded, "/api/v1/agents?creator=catalogue&colour=red")).body.total).toBe(6);
  });

  test("answers 304 to who has it already, until it changes", async ({ market, seeded }) => {
    const path = "/api/v1/agents?creator=catalogue&limit=1";
    const first = await get(market, seeded, path);
    const etag = first.headers.get("etag")!;
    expect(etag).toMatch(/^W\/".+"$/);
    const second = await get(market, seeded, path, { "if-none-match": etag });
    expect(second).toMatchObject({ status: 304, text: "" });
    await publishAgent(market.context, creator, "agent-5", { ...echoAgent, name: "Haiku 2", price_credits: 5 });
    expect(await get(market, seeded, path, { "if-none-match": etag })).toMatchObject({ status: 200 });
  });
});

describe("GET /api/v1/agents/:handle/:slug", () => {
  test("publishes the input contract and nothing of the recipe", async ({ market, seeded }) => {
    const creator = await createAccount(market.context.db, { handle: "contractor" });
    await addPayoutWallet(market.context.db, {
      accountId: creator.id,
      network: "hedera:testnet",
      address: "0.0.1001",
      checked: true,
    });
    await addPayoutWallet(market.context.db, {
      accountId: creator.id,
      network: "eip155:84532",
      address: `0x${"a".repeat(40)}`,
      checked: false,
    });
    const fields = [
      {
        name: "text",
        label: "Text",
        type: "text",
        required: true,
        max_length: 100,
        description: "What to say.",
        example: "hi",
      },
      { name: "tone", type: "choice", choices: ["dry", "warm"], default: "warm" },
    ];
    await publishAgent(market.context, creator, "say-it", { ...echoAgent, fields, accepts_extra_instructions: false });
    const { status, body, text } = await get(market, seeded, "/api/v1/agents/CONTRACTOR/Say-It");
    expect(status).toBe(200);
    expect(body).toEqual({
      agent: "contractor/say-it",
      name: "Echo",
      description: "Says what it is told.",
      connector: "llm",
      connector_name: "Language model",
      category: "other",
      tags: [],
      figures: { runs_30d: 0, success_rate: null, median_ms: null, p95_ms: null, last_success_at: null },
      price_credits: 5,
      created_at: expect.any(String),
      inputs: [
        {
          name: "text",
          label: "Text",
          type: "text",
          required: true,
          default: null,
          description: "What to say.",
          max_length: 100,
          min: null,
          max: null,
          choices: null,
          pattern: null,
          example: "hi",
        },
        {
          name: "tone",
          label: "tone",
          type: "choice",
          required: false,
          default: "warm",
          description: null,
          max_length: null,
          min: null,
          max: null,
          choices: ["dry", "warm"],
          pattern: null,
          example: null,
        },
      ],
      input_schema: {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        type: "object",
        properties: {
          text: {
            type: "string",
            title: "Text",
            description: "What to say.",
            minLength: 1,
            maxLength: 100,
            examples: ["hi"],
          },
          tone: { type: "string", enum: ["dry", "warm"], default: "warm" },
        },
        required: ["text"],
      },
      accepts_extra_instructions: false,
      output_kind: "text",
      per_call: {
        url: "https://market.example/api/agent/contractor/say-it",
        price_usd: 0.05,
        networks: ["hedera:testnet"],
      },
      mcp_tool: "contractor--say-it",
      page_url: "https://market.example/contractor/say-it",
      updated_at: expect.any(String),
    });
    expect(text).not.toContain("RECIPE-MARK");
  });

  test("offers no per-call payment without a checked wallet", async ({ market, seeded }) => {
    expect((await get(market, seeded, `/api/v1/agents/${seeded.agent.address}`)).body.per_call).toBeNull();
  });

  test("has an ETag that changes with the agent", async ({ market, seeded }) => {
    const path = `/api/v1/agents/${seeded.agent.address}`;
    const etag = (await get(market, seeded, path)).headers.get("etag")!;
    expect((await get(market, seeded, path, { "if-none-match": etag })).status).toBe(304);
    await publishAgent(market.context, seeded.creator, "echo", { ...echoAgent, description: "Another." });
    expect((await get(market, seeded, path, { "if-none-match": etag })).status).toBe(200);
  });

  test.for([
    ["nobody's", "/api/v1/agents/nobody/nothing", 404],
    ["one that can be nobody's", "/api/v1/agents/%F0%9F%98%80/x", 404],
    ["one that cannot be decoded", "/api/v1/agents/%E0%A4%A/x", 400],
  ] as const)("an address that is %s is an answer in JSON", async ([_name, path, status], { market, seeded }) => {
    expect(await get(market, seeded, path)).toMatchObject({ status, body: { error: expect.any(String) } });
  });
});

describe("publishing", () => {
  const publish = (market: TestMarketplace, seeded: Market, definition: object) =>
    publishAgent(market.context, seeded.creator, "attempt", { ...echoAgent, ...definition });
  const httpApi = (settings: object) => ({ connector: "http-api", fields: [], settings });
  const field = (rules: object) => ({ fields: [{ name: "text", type: "text", ...rules }] });

  test.for([
    ["an unknown connector", { connector: "telepathy" }, "connector"],
    ["no name", { name: " " }, "name"],
    ["a fraction of a credit", { price_credits: 1.5 }, "price_credits"],
    ["a negative price", { price_credits: -1 }, "price_credits"],
    ["an unknown key", { colour: "red" }, "colour"],
    ["a setting of the wrong type", { settings: { prompt: 5 } }, "prompt"],
    ["an unknown setting", { settings: { prompt: "{{text}}", colour: "red" } }, "colour"],
    ["a slot that is no field", { settings: { prompt: "{{txt}}" } }, "{{txt}}"],
    ["a secret that is not given", { settings: { prompt: "{{secret.word}}" } }, "{{secret.word}}"],
    ["a field of an unknown type", field({ type: "colour" }), "fields.0.type"],
    ["a field with a bad name", { fields: [{ name: "a-b", type: "text" }] }, "fields.0.name"],
    [
      "two fields of one name",
      {
        fields: [
          { name: "text", type: "text" },
          { name: "text", type: "text" },
        ],
      },
      "fields.1.name",
    ],
    ["a field named extraInstructions", { fields: [{ name: "extraInstructions", type: "text" }] }, "fields.0.name"],
    ["a choice without choices", field({ type: "choice" }), "choices"],
    ["bounds that contradict", field({ type: "integer", min: 5, max: 4 }), "max"],
    ["a rule of another type", field({ min: 5 }), "min"],
    ["a default that breaks the rule", field({ max_length: 2, default: "abc" }), "default"],
    ["a pattern that is none", field({ pattern: "(" }), "pattern"],
    ["a pattern with look-around", field({ pattern: "(?=a)b" }), "pattern"],
    ["a pattern beside a long text", field({ pattern: "a", max_length: 5000 }), "max_length"],
    ["a slot in the host", httpApi({ url: "https://{{text}}.com/" }), "settings.url"],
    ["a private host", httpApi({ url: "http://169.254.169.254/latest" }), "settings.url"],
    ["a body with GET", httpApi({ url: "https://api.github.com/", body: "x" }), "settings.body"],
    ["a header of the connection", httpApi({ url: "https://api.github.com/", headers: { Host: "x" } }), "Host"],
    ["dots in the path", httpApi({ url: "https://api.github.com/a/../b" }), "settings.url"],
  ] as const)(
    "%s is refused by name, and nothing is there afterwards",
    async ([_name, definition, named], { market, seeded }) => {
      const refusal = await publish(market, seeded, definition).catch((error) => error);
      expect(refusal).toMatchObject({ code: "invalid_value" });
      expect(refusal.message.replace("url", "settings.url").replace("settings.settings", "settings")).toContain(named);
      expect((await get(market, seeded, `/api/v1/agents/${seeded.creator.handle}/attempt`)).status).toBe(404);
    },
  );

  test("the same definition again changes nothing; another is the next version for the next run", async ({
    market,
    seeded,
  }) => {
    const creator = await createAccount(market.context.db, { handle: "republisher" });
    const with_ = (more: object) =>
      publishAgent(market.context, creator, "thing", { ...echoAgent, secrets: { a: "1" }, ...more });
    expect(await with_({})).toMatchObject({ version: 1, changed: true, address: "republisher/thing" });
    expect(await with_({})).toMatchObject({ version: 1, changed: false });
    expect(await with_({ secrets: { a: "2" } })).toMatchObject({ version: 2, changed: true });
    expect(await with_({ price_credits: 0, fields: [], settings: { prompt: "v3" } })).toMatchObject({ version: 3 });
    expect((await run(market, seeded.key, "republisher/thing", {})).body).toMatchObject({
      success: true,
      credits_used: 0,
    });
  });

  test("twenty publications at once are twenty versions or the same one", async ({ market }) => {
    const creator = await createAccount(market.context.db, { handle: "hasty" });
    const published = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        publishAgent(market.context, creator, "race", { ...echoAgent, name: `Race ${n}` }),
      ),
    );
    expect(new Set(published.map(({ version }) => version)).size).toBe(20);
    expect(new Set(published.map(({ agentId }) => agentId)).size).toBe(1);
  });

  test("a suspended agent stays suspended, and comes back as it was", async ({ market, seeded }) => {
    const creator = await createAccount(market.context.db, { handle: "suspendee" });
    const publishIt = () => publishAgent(market.context, creator, "bad", echoAgent);
    await publishIt();
    await moveAgent(market.context.db, "suspendee/bad", "suspend");
    await expect(publishIt()).rejects.toMatchObject({ code: "conflict" });
    await expect(moveAgent(market.context.db, "suspendee/bad", "unpublish")).rejects.toMatchObject({
      code: "conflict",
    });
    expect(await moveAgent(market.context.db, "suspendee/bad", "restore")).toEqual({
      agent: "suspendee/bad",
      state: "live",
    });
    expect((await get(market, seeded, "/api/v1/agents/suspendee/bad")).status).toBe(200);
  });
});

test("tool names fit 48 characters and stay apart where they are cut", () => {
  expect(toolNameOf("ada", "say-it")).toBe("ada--say-it");
  const [one, other] = ["a", "b"].map((end) => toolNameOf("a".repeat(30), "s".repeat(40) + end));
  expect(one).toMatch(/^[a-z0-9-]{48}$/);
  expect(one).not.toBe(other);
});

test("an unknown path is a JSON 404 and a wrong method a 405 that says what is allowed", async ({ market, seeded }) => {
  expect(await get(market, seeded, "/api/v1/nothing")).toMatchObject({
    status: 404,
    body: { error: expect.any(String) },
  });
  for (const [path, method, allow] of [
    ["/api/v1/run", "GET", "POST"],
    ["/api/v1/balance", "POST", "HEAD, GET"],
    ["/api/v1/agents", "DELETE", "HEAD, GET"],
    ["/api/v1/agents/a/b", "PUT", "HEAD, GET"],
    ["/health", "POST", "HEAD, GET"],
  ] as const) {
    const answer = await call(market.url, path, { method });
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe(allow);
    expect(answer.body).toEqual({ error: expect.any(String) });
  }
});

test("health says that the database answers", async ({ market }) => {
  const { status, body } = await call(market.url, "/health");
  expect(status).toBe(200);
  expect(body).toMatchObject({ status: "ok", database: true, time: expect.any(String) });
});
