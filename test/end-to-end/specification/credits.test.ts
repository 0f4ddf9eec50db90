import { describe, expect } from "vitest";
import { createAccount } from "../../../marketplace/accounts/create.ts";
import { publishAgent } from "../../../marketplace/agents/publish.ts";
import { moveAgent } from "../../../marketplace/agents/state.ts";
import { createKey } from "../../../marketplace/api-keys/create.ts";
import { revokeKey } from "../../../marketplace/api-keys/revoke.ts";
import { ledgerMarketTest } from "../../support/fixtures.ts";
import { type LedgerMarket, newTopic, seedLedgerCreator } from "../../support/ledger-agents.ts";
import { type Answer, call, echoAgent, type Market, seedMarket } from "../../support/marketplace.ts";
import { at, isOf, type Type } from "./fields.ts";

/** The credits API, row by row of the specification's tables, as a client sees it that has read nothing else. */
let market: LedgerMarket;
let seeded: Market;
const agents: Record<"text" | "json" | "image" | "receipt" | "free" | "draft" | "unpublished" | "suspended", string> =
  {} as never;

const fields = [
  { name: "text", type: "text", required: true, max_length: 50 },
  { name: "tone", type: "choice", choices: ["plain", "warm"], default: "plain" },
];

const test = ledgerMarketTest({ MARKETPLACE_PUBLIC_URL: "https://market.example.com" });
test.beforeAll(async ({ market: started }) => {
  market = started;
  const { publish, ...owner } = await seedLedgerCreator(market, { balance: 100_000 });
  seeded = owner;
  const add = async (slug: string, more: object) =>
    (await publishAgent(market.context, owner.creator, slug, { ...echoAgent, fields, ...more })).address;
  agents.text = await add("spec-text", { settings: { prompt: "{{text}}, {{tone}}" }, name: "Nightingale Text" });
  agents.json = await add("spec-json", { settings: { prompt: "{{text}}", format: "json" } });
  agents.image = await add("spec-image", { connector: "image-generator", settings: { prompt: "{{text}}" } });
  agents.free = await add("spec-free", { price_credits: 0, description: "Quotes a nightingale." });
  const topic = await newTopic(market, "open");
  agents.receipt = (await publish("hcs-write", { topic, message: "{{text}}" })).address;
  agents.unpublished = await add("spec-unpublished", {});
  agents.suspended = await add("spec-suspended", {});
  await moveAgent(market.context.db, agents.unpublished, "unpublish");
  await moveAgent(market.context.db, agents.suspended, "suspend");
  agents.draft = `${owner.creator.handle}/spec-draft`;
  await market.context.db.query(
    "insert into agents (id, account_id, handle, slug, tool_name) values ('agt_draft', $1, $2, 'spec-draft', 'draft')",
    [owner.creator.id, owner.creator.handle],
  );
});

const ask = (path: string, options: Parameters<typeof call>[2] = {}) =>
  call(market.url, path, { key: seeded.key, ...options });
const get = async (path: string) => (await ask(path)).body;
const run = (agent: string, input: unknown = { text: "hello" }) => ask("/api/v1/run", { body: { agent, input } });
const credits = async (): Promise<number> => (await get("/api/v1/balance")).credits;
const lastPrompt = () => JSON.stringify(market.model.requests.at(-1)?.body);

describe("agent (list item)", () => {
  test.each<[string, Type]>([
    ["agent", "string"],
    ["name", "string"],
    ["description", "string"],
    ["connector", "string"],
    ["connector_name", "string"],
    ["price_credits", "integer"],
    ["created_at", "ISO 8601 UTC with milliseconds"],
  ])("%s is a %s", async (field, type) => {
    const { agents: listed } = await get("/api/v1/agents?limit=100");
    expect(listed.length).toBeGreaterThan(4);
    for (const agent of listed) expect(isOf(type, agent[field]), JSON.stringify(agent)).toBe(true);
  });

  test("has no other field, and says nothing of prompts, slots or settings", async () => {
    const { agents: listed } = await get("/api/v1/agents?limit=100");
    const specified = ["agent", "connector", "connector_name", "created_at", "description", "name", "price_credits"];
    const names = [...specified, "category", "figures", "per_call", "tags"].toSorted();
    for (const agent of listed) expect(Object.keys(agent).toSorted()).toEqual(names);
    expect(JSON.stringify(await get(`/api/v1/agents/${agents.text}`))).not.toContain("{{text}}");
  });
});

describe("GET /api/v1/agents", () => {
  const list = (query: string) => get(`/api/v1/agents?${query}`);
  const named = async (query: string) => (await list(query)).agents.map(({ agent }: { agent: string }) => agent);

  test.each<[string, Type]>([
    ["agents", "array"],
    ["total", "integer"],
    ["limit", "integer"],
    ["offset", "integer"],
  ])("answers %s, %s", async (field, type) => {
    expect(isOf(type, at(await list(""), field))).toBe(true);
  });

  test.each([
    ["limit is 20 by default", "", { limit: 20 }],
    ["offset is 0 by default", "", { offset: 0 }],
    ["limit may be 1", "limit=1", { limit: 1 }],
    ["limit may be 100", "limit=100", { limit: 100 }],
    ["offset skips rows", "limit=1&offset=2", { limit: 1, offset: 2 }],
    ["total counts all matches whatever the page", "limit=1&offset=1000", { total: 6, agents: [] }],
  ])("answers a page of agents: %s", async (_what, query, expected) => {
    expect(await list(query)).toMatchObject(expected);
  });

  test.each(["limit=0", "limit=101", "limit=x", "offset=-1", "connector=unheard-of"])(
    "%s is refused with 400",
    async (query) => {
      expect((await ask(`/api/v1/agents?${query}`)).status).toBe(400);
    },
  );

  test("lists with `creator` that handle's agents alone, in any case", async () => {
    expect(await named(`creator=${seeded.creator.handle.toUpperCase()}`)).toHaveLength(6);
    expect(await named("creator=nobody")).toEqual([]);
  });

  test("finds the words of `q` in names and descriptions", async () => {
    expect((await named("q=nightingale")).toSorted()).toEqual([agents.free, agents.text].toSorted());
  });

  test.each([
    "llm",
    "image-generator",
    "http-api",
    "mcp-tool",
    "token-audit",
    "approval-check",
    "hedera-mint",
    "hedera-transfer",
    "hcs-write",
    "x-reward",
    "x-reward-credits",
  ])("takes %s as a connector, and lists its agents alone", async (connector) => {
    const { agents: listed, total } = await list(`connector=${connector}`);
    expect(listed).toHaveLength(total);
    for (const agent of listed) expect(agent.connector).toBe(connector);
  });

  test("lists live agents only, and is free", async () => {
    const before = await credits();
    const all = await named("limit=100");
    for (const hidden of [agents.draft, agents.unpublished, agents.suspended]) expect(all).not.toContain(hidden);
    expect(await credits()).toBe(before);
  });
});

describe("GET /api/v1/agents/{handle}/{slug}", () => {
  test("publishes every input field, its type and its default", async () => {
    const { inputs } = await get(`/api/v1/agents/${agents.text}`);
    expect(inputs).toMatchObject([
      { name: "text", type: "text", required: true, default: null },
      { name: "tone", type: "choice", default: "plain" },
    ]);
  });

  test("is found in any case", async () => {
    expect(await get(`/api/v1/agents/${agents.text.toUpperCase()}`)).toMatchObject({ agent: agents.text });
  });

  test.each(["draft", "unpublished", "suspended"] as const)("a %s agent is as one that never was", async (state) => {
    const hidden = await ask(`/api/v1/agents/${agents[state]}`);
    expect(hidden).toMatchObject({ status: 404, body: (await ask("/api/v1/agents/no-body/nothing")).body });
  });
});

describe("run result", () => {
  test.each<[string, Type]>([
    ["success", "boolean"],
    ["output", "object"],
    ["credits_used", "integer"],
    ["credits_remaining", "integer"],
    ["receipt", "null"],
  ])("of a text agent: %s is %s", async (field, type) => {
    const { status, body } = await run(agents.text);
    expect(status).toBe(200);
    expect(isOf(type, body[field]), JSON.stringify(body)).toBe(true);
  });

  test.each<[keyof typeof agents, string, Type]>([
    ["text", "output.text", "string"],
    ["image", "output.images.0", "https URL"],
    ["json", "output.data", "object"],
    ["receipt", "output.status", "string"],
    ["receipt", "output.transactionId", "string"],
    ["receipt", "receipt.topicId", "string"],
    ["receipt", "receipt.sequence", "integer"],
  ])("output of kind %s: %s is a %s", async (kind, path, type) => {
    const { body } = await run(agents[kind]);
    expect(isOf(type, at(body, path)), JSON.stringify(body)).toBe(true);
    if (kind !== "image") expect(body.output.kind).toBe(kind);
  });

  test("credits_used is the price, 0 for a free agent, and credits_remaining the balance after it", async () => {
    const before = await credits();
    expect((await run(agents.text)).body).toMatchObject({ credits_used: 5, credits_remaining: before - 5 });
    expect((await run(agents.free)).body).toMatchObject({ credits_used: 0, credits_remaining: before - 5 });
  });

  test("of an agent that fails is 200 with success false and an error to read, no output, and nothing charged", async () => {
    const before = await credits();
    market.model.injectFault({ status: 500 });
    const { status, body } = await run(agents.text);
    expect({ status, ...body }).toMatchObject({
      status: 200,
      success: false,
      credits_used: 0,
      credits_remaining: before,
    });
    expect(isOf("string", body.error)).toBe(true);
    expect(body).not.toHaveProperty("output");
    expect(await credits()).toBe(before);
  });
});

describe("input-field rules", () => {
  test("undeclared fields are dropped, a raw prompt too", async () => {
    expect((await run(agents.text, { text: "kept", prompt: "DROPPED", other: "DROPPED" })).status).toBe(200);
    expect(lastPrompt()).toContain("kept");
    expect(lastPrompt()).not.toContain("DROPPED");
  });

  test("defaults are filled in, extraInstructions are appended", async () => {
    await run(agents.text, { text: "kept", extraInstructions: "and briefly" });
    expect(lastPrompt()).toContain("kept, plain");
    expect(lastPrompt()).toContain("and briefly");
  });

  test("an agent is found in any case", async () => {
    expect((await run(agents.text.toUpperCase())).body).toMatchObject({ success: true });
  });
});

describe("errors of POST /api/v1/run: each status, the body, and that nothing is charged", () => {
  const withKey = (key: string | undefined) =>
    call(market.url, "/api/v1/run", { ...(key && { key }), body: { agent: agents.text, input: { text: "x" } } });
  const anotherKey = async (rateLimitPerMinute = 60) =>
    createKey(market.context.db, { accountId: seeded.creator.id, name: "another", rateLimitPerMinute });

  test.each<[number, string, () => Promise<Answer>, object?]>([
    [400, "bad JSON", () => ask("/api/v1/run", { body: "{", method: "POST" })],
    [400, "missing agent", () => ask("/api/v1/run", { body: { input: {} } })],
    [400, "missing input", () => ask("/api/v1/run", { body: { agent: agents.text } })],
    [400, "required input field absent", () => run(agents.text, { tone: "warm" })],
    [401, "missing key", () => withKey(undefined)],
    [401, "malformed key", () => withKey("not a key")],
    [401, "invalid key", () => withKey(`amk_${"0".repeat(38)}`)],
    [
      401,
      "revoked key",
      async () => {
        const { id, token } = await anotherKey();
        await revokeKey(market.context.db, seeded.creator.id, id);
        return withKey(token);
      },
    ],
    [
      402,
      "not enough credits",
      async () => withKey((await anotherKey()).token),
      { credits_required: 5, credits_remaining: 0 },
    ],
    [404, "no such agent", () => run("no-body/nothing")],
    [404, "a draft", () => run(agents.draft)],
    [404, "an unpublished agent", () => run(agents.unpublished)],
    [404, "a suspended agent", () => run(agents.suspended)],
    [422, "too long", () => run(agents.text, { text: "x".repeat(51) }), { error: expect.stringContaining("text") }],
    [
      422,
      "not an allowed choice",
      () => run(agents.text, { text: "x", tone: "cold" }),
      { error: expect.stringContaining("tone") },
    ],
    [
      429,
      "rate limited",
      async () => {
        const { token } = await anotherKey(1);
        await withKey(token);
        return withKey(token);
      },
    ],
    [
      500,
      "agent misconfigured",
      async () => {
        const { address, agentId } = await publishAgent(market.context, seeded.creator, "spec-broken", echoAgent);
        await market.context.db.query("update agent_versions set settings = '{}' where agent_id = $1", [agentId]);
        return run(address);
      },
    ],
    [
      503,
      "owner not verified",
      async () => {
        const { creator, agent } = await seedMarket(market.context);
        await market.context.db.query("update accounts set state = 'suspended' where id = $1", [creator.id]);
        return run(agent.address);
      },
    ],
  ])("%i %s", async (status, _what, provoke, body = {}) => {
    const before = await credits();
    const answer = await provoke();
    expect(answer).toMatchObject({ status, body: { error: expect.any(String), ...body } });
    if (status === 429) expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await credits()).toBe(before);
  });

  test("the statuses that may leave a charge leave none: what failed is refunded at once", async () => {
    market.model.injectFault({ hangUp: true });
    const before = await credits();
    expect((await run(agents.text)).body).toMatchObject({ success: false, credits_used: 0 });
    expect(await credits()).toBe(before);
  });
});

describe("retry rules", () => {
  test("a retry without an idempotency key is a second run and a second charge", async () => {
    const before = await credits();
    const [first, second] = [await run(agents.text), await run(agents.text)];
    expect(first.body.run_id).not.toBe(second.body.run_id);
    expect(await credits()).toBe(before - 10);
  });

  test("a client that gives up does not cancel the run: it goes on and the charge stands", async () => {
    const before = await credits();
    const asked = market.model.asked();
    market.model.injectFault({ delayMs: 600_000 });
    const client = new AbortController();
    const given = fetch(`${market.url}/api/v1/run`, {
      method: "POST",
      headers: { authorization: `Bearer ${seeded.key}`, "content-type": "application/json" },
      body: JSON.stringify({ agent: agents.text, input: { text: "hello" } }),
      signal: client.signal,
    });
    await expect.poll(() => market.model.asked()).toBe(asked + 1);
    client.abort();
    await expect(given).rejects.toThrow();
    market.model.answerHeld();
    const settled = async () => (await get("/api/v1/balance")).held_credits === 0;
    await expect.poll(settled).toBe(true);
    expect(await credits()).toBe(before - 5);
  });
});

describe("authentication and limits", () => {
  // How keys are shown and made in the account's settings is not specified; they are made here directly.
  test("a key is needed on every endpoint of the credits API, and the answer without one names the scheme", async () => {
    for (const path of ["/api/v1/agents", `/api/v1/agents/${agents.text}`, "/api/v1/balance"]) {
      const { status, headers, body } = await call(market.url, path);
      expect({ status, body }).toMatchObject({ status: 401, body: { error: expect.any(String) } });
      expect(headers.get("www-authenticate")).toMatch(/^Bearer/);
    }
  });

  test("an account holds five keys, a sixth is refused", async () => {
    const { id: accountId } = await createAccount(market.context.db, { handle: "five-keys" });
    for (let n = 0; n < 5; n += 1) await createKey(market.context.db, { accountId, name: `key ${n}` });
    await expect(createKey(market.context.db, { accountId, name: "one more" })).rejects.toThrow("5 keys");
  });

  test("a key is stored as its hash and never logged", async () => {
    await get("/api/v1/balance");
    const { rows } = await market.context.db.query("select to_jsonb(k)::text as row from api_keys k");
    for (const { row } of rows) expect(row).not.toContain(seeded.key);
    expect(market.lines.join("\n")).not.toContain(seeded.key);
  });

  test("60 requests a minute unless the key says otherwise", async () => {
    const { token } = await createKey(market.context.db, { accountId: seeded.creator.id, name: "usual" });
    const { headers } = await call(market.url, "/api/v1/balance", { key: token });
    expect(headers.get("x-ratelimit-limit")).toBe("60");
    expect(headers.get("x-ratelimit-remaining")).toBe("59");
  });

  test("runs may be parallel", async () => {
    const before = await credits();
    const answers = await Promise.all(Array.from({ length: 10 }, () => run(agents.text)));
    expect(answers.every(({ body }) => body.success)).toBe(true);
    expect(await credits()).toBe(before - 50);
  });
});

test("GET /api/v1/balance answers credits, an integer", async () => {
  expect(isOf("integer", await credits())).toBe(true);
});

test("GET /api/v1/openapi.json is OpenAPI 3.1", async () => {
  expect((await call(market.url, "/api/v1/openapi.json")).body.openapi).toMatch(/^3\.1\./);
});

test("GET /llms.txt is plain text", async () => {
  expect((await call(market.url, "/llms.txt")).headers.get("content-type")).toMatch(/^text\/plain/);
});
