import { describe, expect } from "vitest";
import { moveAgent } from "../../marketplace/agents/state.ts";
import { newId } from "../../marketplace/ids.ts";
import { executeRun } from "../../marketplace/runs/execute.ts";
import { prepareRun } from "../../marketplace/runs/prepare.ts";
import { marketTest } from "../support/fixtures.ts";
import {
  balanceOf,
  call,
  type Market,
  proveLedger,
  run,
  seedMarket,
  spendable,
  startMarketplace,
  type TestMarketplace,
  until,
} from "../support/marketplace.ts";

const test = marketTest();
test.afterEach(async ({ market }) => {
  market.model.clearFaults();
  await proveLedger(market.context);
});

describe("a run that works", () => {
  test("charges the price, pays the creator and says what is left", async ({ market }) => {
    const { key, agent, creator } = await seedMarket(market.context, { price: 5, balance: 100 });
    const answer = await run(market, key, agent.address);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      success: true,
      run_id: expect.stringMatching(/^run_[0-9a-z]{26}$/),
      output: { kind: "text", text: expect.stringContaining("hello"), stand_in: true },
      credits_used: 5,
      credits_remaining: 95,
      receipt: null,
    });
    expect(await balanceOf(market, key)).toMatchObject({ credits: 95, held_credits: 0, earned_credits: 0 });
    expect((await market.context.lookups.balance(creator.id)).earned).toBe(5n);
  });

  test.for(["", "  "])("needs an agent: %j is a 400 that says how one is named", async (agent, { market, seeded }) => {
    const { status, body } = await run(market, seeded.key, agent);
    expect([status, body]).toEqual([400, { error: '"agent" must name an agent: handle/slug.', field: "agent" }]);
  });

  test("finds the agent whatever the case of its name", async ({ market }) => {
    const { key, agent } = await seedMarket(market.context);
    expect((await run(market, key, agent.address.toUpperCase())).status).toBe(200);
  });

  test("gives the platform its part rounded down and the creator the remainder", async () => {
    const other = await startMarketplace({ env: { PLATFORM_FEE_BASIS_POINTS: "1250" } });
    const { key, agent, creator } = await seedMarket(other.context, { price: 15 });
    expect((await run(other, key, agent.address)).body).toMatchObject({ credits_used: 15, credits_remaining: 85 });
    expect((await other.context.lookups.balance(creator.id)).earned).toBe(14n);
    await proveLedger(other.context);
    await other.stop();
  });

  test("of a free agent posts nothing and needs no balance", async ({ market }) => {
    const { key, agent } = await seedMarket(market.context, { price: 0, balance: 0 });
    const { body } = await run(market, key, agent.address);
    expect(body).toMatchObject({ success: true, credits_used: 0, credits_remaining: 0 });
    const { rows } = await market.context.db.query("select from postings where run_id = $1", [body.run_id]);
    expect(rows).toEqual([]);
  });

  test("reads declared fields only, fills in defaults and appends extra instructions", async ({ market }) => {
    const fields = [
      { name: "text", type: "text", required: true },
      { name: "tone", type: "choice", choices: ["dry", "warm"], default: "warm" },
    ];
    const settings = { prompt: "{{text}} in a {{tone}} tone" };
    const { key, agent } = await seedMarket(market.context, { agent: { fields, settings } });
    const input = { text: "{{tone}}", prompt: "UNDECLARED", extraInstructions: "and briefly" };
    expect((await run(market, key, agent.address, input)).body.success).toBe(true);
    const sent = JSON.stringify(market.model.requests.at(-1));
    expect(sent).toContain("{{tone}} in a warm tone");
    expect(sent).toContain("and briefly");
    expect(sent).not.toContain("UNDECLARED");
  });

  test("ignores extra instructions where the agent does not accept them", async ({ market }) => {
    const { key, agent } = await seedMarket(market.context, { agent: { accepts_extra_instructions: false } });
    await run(market, key, agent.address, { text: "hi", extraInstructions: "x".repeat(3000) });
    expect(JSON.stringify(market.model.requests.at(-1))).not.toContain("xxx");
  });

  test("goes on when its caller hangs up, and the charge stands", async ({ market }) => {
    const { key, agent, buyer } = await seedMarket(market.context, { price: 5, balance: 5 });
    const before = market.model.asked();
    market.model.injectFault({ delayMs: 600_000 });
    const caller = new AbortController();
    const request = fetch(`${market.url}/api/v1/run`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ agent: agent.address, input: { text: "hello" } }),
      signal: caller.signal,
    });
    const hungUp = expect(request).rejects.toThrow();
    await until(() => market.model.asked() > before);
    caller.abort();
    await hungUp;
    expect(await balanceOf(market, key)).toMatchObject({ credits: 0, held_credits: 5 });
    market.model.answerHeld();
    await until(async () => (await balanceOf(market, key)).held_credits === 0);
    expect(await spendable(market.context, buyer)).toBe(0);
  });
});

test("forty runs at once on a balance for three run exactly three times", async ({ market }) => {
  const { key, agent, buyer } = await seedMarket(market.context, { price: 10, balance: 35 });
  const answers = await Promise.all(Array.from({ length: 40 }, () => run(market, key, agent.address)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
  const refused = answers.filter(({ status }) => status === 402);
  expect(refused).toHaveLength(37);
  for (const { body } of refused) {
    expect(body).toMatchObject({ error: expect.any(String), credits_required: 10 });
    expect([5, 15, 25, 35]).toContain(body.credits_remaining);
  }
  expect(await spendable(market.context, buyer)).toBe(5);
});

test.for([
  ["an error", { status: 500 }],
  ["being busy", { status: 429 }],
  ["half an answer", { truncate: true }],
  ["a refusal", { refuse: true }],
  ["a broken line", { hangUp: true }],
  ["broken JSON", { garbled: true }],
] as const)("a model that answers with %s fails the run, which costs nothing", async ([_name, fault], { market }) => {
  const { key, agent, buyer } = await seedMarket(market.context, { price: 5, balance: 5 });
  market.model.injectFault(fault);
  const { status, body } = await run(market, key, agent.address);
  expect(status).toBe(200);
  expect(body).toEqual({
    success: false,
    run_id: expect.any(String),
    credits_used: 0,
    credits_remaining: 5,
    receipt: null,
    error: expect.stringMatching(/^[A-Z].+\.$/),
  });
  expect(await spendable(market.context, buyer)).toBe(5);
});

describe("a refusal costs nothing", () => {
  let seeded: Market;
  const good = () => ({ agent: seeded.agent.address, input: { text: "hello" } });
  test.beforeAll(async ({ market }) => {
    seeded = await seedMarket(market.context, { price: 5, balance: 7 });
  });
  test.afterEach(async ({ market }) => expect(await spendable(market.context, seeded.buyer)).toBe(7));

  test.for<[string, () => unknown, number]>([
    ["bad JSON", () => "{", 400],
    ["no body", () => "", 400],
    ["a body that is no object", () => "[]", 400],
    ["no agent", () => ({ input: {} }), 400],
    ["an agent that is no text", () => ({ ...good(), agent: 5 }), 400],
    ["no input", () => ({ agent: seeded.agent.address }), 400],
    ["an input that is no object", () => ({ ...good(), input: ["hello"] }), 400],
    ["a required field absent", () => ({ ...good(), input: {} }), 400],
    ["a required field null", () => ({ ...good(), input: { text: null } }), 400],
    [
      "a required field only in the prototype",
      () => `{"agent":"${seeded.agent.address}","input":{"__proto__":{"text":"x"}}}`,
      400,
    ],
    ["no such agent", () => ({ ...good(), agent: `${seeded.creator.handle}/nothing` }), 404],
    ["an address that is none", () => ({ ...good(), agent: "nothing" }), 404],
    ["a value too long", () => ({ ...good(), input: { text: "x".repeat(51) } }), 422],
    ["a value of the wrong type", () => ({ ...good(), input: { text: 5 } }), 422],
    [
      "extra instructions too long",
      () => ({ ...good(), input: { text: "x", extraInstructions: "x".repeat(2001) } }),
      422,
    ],
    ["a body too large", () => ({ ...good(), input: { text: "x".repeat(2_200_000) } }), 413],
  ])("%s is answered with its status", async ([_name, body, status], { market }) => {
    const answer = await call(market.url, "/api/v1/run", { key: seeded.key, body: body(), method: "POST" });
    expect(answer.status).toBe(status);
    expect(answer.body.error).toEqual(expect.any(String));
  });

  test("both refusals of an input name the field", async ({ market }) => {
    const missing = await run(market, seeded.key, seeded.agent.address, {});
    expect(missing.body).toEqual({ error: '"text" is required.', field: "text" });
    const broken = await run(market, seeded.key, seeded.agent.address, { text: "x".repeat(51) });
    expect(broken.body).toEqual({ error: '"text" must have at most 50 characters.', field: "text" });
  });

  test("what is asked is answered in order: key, body, agent, missing, rule, owner, funds", async ({ market }) => {
    const poor = await seedMarket(market.context, { price: 5, balance: 0 });
    await market.context.db.query("update accounts set state = 'suspended' where id = $1", [poor.creator.id]);
    const post = async (key: string | undefined, body: unknown) =>
      (await call(market.url, "/api/v1/run", { body, method: "POST", ...(key ? { key } : {}) })).status;
    const ask = (input: object, agent = poor.agent.address) => ({ agent, input });
    expect(await post(undefined, "{")).toBe(401);
    expect(await post(poor.key, "{")).toBe(400);
    expect(await post(poor.key, ask({}, "no/agent"))).toBe(404);
    expect(await post(poor.key, ask({}))).toBe(400);
    expect(await post(poor.key, ask({ text: "x".repeat(51) }))).toBe(422);
    expect(await post(poor.key, ask({ text: "x" }))).toBe(503);
    await market.context.db.query("update accounts set state = 'open' where id = $1", [poor.creator.id]);
    expect(await post(poor.key, ask({ text: "x" }))).toBe(402);
  });

  test("402 says what is required and what is there", async ({ market }) => {
    const { key, agent } = await seedMarket(market.context, { price: 8, balance: 7 });
    const { status, body } = await run(market, key, agent.address);
    expect(status).toBe(402);
    expect(body).toEqual({
      error: expect.any(String),
      credits_required: 8,
      credits_remaining: 7,
      limit_source: "balance",
    });
  });

  test("503 when the handle leads to another account than the agent's owner", async ({ market }) => {
    const { key, agent, creator, buyer } = await seedMarket(market.context);
    await market.context.db.query("update agents set account_id = $1 where id = $2", [buyer.id, agent.agentId]);
    expect((await run(market, key, agent.address)).status).toBe(503);
    await market.context.db.query("update agents set account_id = $1 where id = $2", [creator.id, agent.agentId]);
    expect((await run(market, key, agent.address)).status).toBe(200);
  });
});

test("a draft, unpublished or suspended agent is not told from one that does not exist", async ({ market }) => {
  const { key, agent } = await seedMarket(market.context);
  const { context } = market;
  const asked = [`${agent.address}-not`];
  const nothing = await run(market, key, asked[0]!);
  await moveAgent(context.db, agent.address, "unpublish");
  expect(await run(market, key, agent.address)).toMatchObject({ status: 404, text: nothing.text });
  await moveAgent(context.db, agent.address, "suspend");
  expect(await run(market, key, agent.address)).toMatchObject({ status: 404, text: nothing.text });
  await context.db.query("update agents set state = 'draft', suspended_from = null where id = $1", [agent.agentId]);
  expect(await run(market, key, agent.address)).toMatchObject({ status: 404, text: nothing.text });
});

test("a run that takes longer than it may has failed", async ({ market }) => {
  const { agent } = await seedMarket(market.context);
  const prepared = await prepareRun(market.context, agent.address, { text: "hello" });
  market.model.injectFault({ delayMs: 600_000 });
  const outcome = await executeRun(market.context, { runId: newId("run"), prepared, deadlineMs: 100 });
  expect(outcome).toMatchObject({ success: false, error: "The agent took too long." });
  market.model.answerHeld();
});

test("an agent whose secrets do not open on this copy is a 503, and nobody is charged", async ({ market }) => {
  const { key, agent, buyer } = await seedMarket(market.context, { agent: { secrets: { word: "hush" } } });
  const env = { MARKETPLACE_SEALING_KEY: Buffer.alloc(32, 8).toString("base64") };
  const { databaseUrl, model } = market;
  const other = await startMarketplace({ databaseUrl, model, env });
  const answer = await run(other, key, agent.address);
  await other.stop();
  expect(answer).toMatchObject({ status: 503, body: { error: expect.stringContaining("try again shortly") } });
  expect(await spendable(market.context, buyer)).toBe(100);
  expect((await run(market, key, agent.address)).body.success).toBe(true);
});

describe("when the database fails", () => {
  const withoutTable = async <T>(market: TestMarketplace, table: string, work: () => Promise<T>): Promise<T> => {
    await market.context.db.query(`alter table ${table} rename to ${table}_gone`);
    return work().finally(() => market.context.db.query(`alter table ${table}_gone rename to ${table}`));
  };

  test("keys and owners that cannot be looked up are a 503, and nothing runs", async ({ market }) => {
    const { key, agent } = await seedMarket(market.context);
    const before = market.model.asked();
    expect(await withoutTable(market, "api_keys", () => run(market, key, agent.address))).toMatchObject({
      status: 503,
    });
    expect(await withoutTable(market, "agents", () => run(market, key, agent.address))).toMatchObject({ status: 503 });
    expect(market.model.asked()).toBe(before);
    expect((await run(market, key, agent.address)).status).toBe(200);
  });

  test("a run that cannot be held is a 500 that charges nothing", async ({ market }) => {
    const { key, agent, buyer } = await seedMarket(market.context);
    const answer = await withoutTable(market, "postings", () => run(market, key, agent.address));
    expect(answer).toMatchObject({ status: 500, body: { error: "Something went wrong on our side." } });
    expect(await spendable(market.context, buyer)).toBe(100);
  });

  test("a run whose end cannot be written at first is written later, once", async ({ market }) => {
    const { key, agent } = await seedMarket(market.context, { price: 5, balance: 5 });
    market.model.injectFault({ delayMs: 600_000 });
    const answer = run(market, key, agent.address);
    await until(async () => (await balanceOf(market, key)).held_credits === 5);
    const notWritten = () => market.lines.filter((line) => line.includes("run could not be ended")).length;
    const before = notWritten();
    await withoutTable(market, "postings", () => {
      market.model.answerHeld();
      return until(() => notWritten() > before);
    });
    expect((await answer).body).toMatchObject({ success: true, credits_used: 5, credits_remaining: 0 });
  });
});
