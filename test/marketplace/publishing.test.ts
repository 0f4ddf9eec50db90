import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { createAccount } from "../../marketplace/accounts/create.ts";
import { publishAgent, saveDraft } from "../../marketplace/agents/publish.ts";
import { runCommand } from "../../marketplace/operator/command-line.ts";
import { tryAgent } from "../../marketplace/runs/try.ts";
import { marketTest } from "../support/fixtures.ts";
import {
  balanceOf,
  call,
  echoAgent,
  type Market,
  proveLedger,
  run,
  type TestMarketplace,
  until,
} from "../support/marketplace.ts";

const test = marketTest({}, { price: 5, balance: 1000 });
let directory: string;
test.beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "agents-"));
});
test.afterAll(async ({ market }) => {
  await proveLedger(market.context);
  await rm(directory, { recursive: true, force: true });
});

const promptOf = (market: TestMarketplace, n = -1) => JSON.stringify(market.model.requests.at(n));
const newCreator = (market: TestMarketplace) =>
  createAccount(market.context.db, { handle: `maker-${Math.random().toString(36).slice(2, 8)}` });

describe("a draft", () => {
  test("is seen by nobody, can be tried for free, and is live once it is published", async ({ market, seeded }) => {
    const maker = await newCreator(market);
    const draft = await saveDraft(market.context, maker, "idea", echoAgent);
    expect(draft).toMatchObject({ version: 1, state: "draft", address: `${maker.handle}/idea` });
    const none = await run(market, seeded.key, `${maker.handle}/nothing`);
    expect(await run(market, seeded.key, draft.address)).toMatchObject({ status: 404, text: none.text });
    expect((await call(market.url, `/api/v1/agents?creator=${maker.handle}`, { key: seeded.key })).body.total).toBe(0);
    const tried = await tryAgent(market.context, maker, "idea", { text: "hello" });
    expect(tried).toMatchObject({ success: true, version: 1, output: { kind: "text" } });
    const { rows } = await market.context.db.query("select from runs where agent_id = $1", [draft.agentId]);
    expect(rows).toEqual([]);
    expect(await publishAgent(market.context, maker, "idea", echoAgent)).toMatchObject({ version: 1, changed: true });
    expect((await run(market, seeded.key, draft.address)).status).toBe(200);
  });

  test("beside a live agent leaves it as it is until it is published; saving it again adds nothing", async ({
    market,
    seeded,
  }) => {
    const maker = await newCreator(market);
    const live = { ...echoAgent, settings: { prompt: "LIVE {{text}}" } };
    const next = { ...echoAgent, settings: { prompt: "NEXT {{text}}" } };
    const { address } = await publishAgent(market.context, maker, "thing", live);
    expect(await saveDraft(market.context, maker, "thing", next)).toMatchObject({ version: 2, state: "live" });
    expect(await saveDraft(market.context, maker, "thing", next)).toMatchObject({ version: 2 });
    await run(market, seeded.key, address);
    expect(promptOf(market)).toContain("LIVE");
    await tryAgent(market.context, maker, "thing", { text: "x" });
    expect(promptOf(market)).toContain("NEXT");
    await publishAgent(market.context, maker, "thing", next);
    await run(market, seeded.key, address);
    expect(promptOf(market)).toContain("NEXT");
  });

  test("is tried only by its owner, within its rules, and ten times a minute", async ({ market, seeded }) => {
    const maker = await newCreator(market);
    await saveDraft(market.context, maker, "idea", echoAgent);
    const tries = (input: object) => tryAgent(market.context, maker, "idea", { ...input });
    await expect(tries({})).rejects.toMatchObject({ code: "bad_request" });
    await expect(tries({ text: "x".repeat(51) })).rejects.toMatchObject({ code: "invalid_value" });
    await expect(tryAgent(market.context, seeded.creator, "idea", { text: "x" })).rejects.toMatchObject({
      code: "not_found",
    });
    const outcomes = await Promise.allSettled(Array.from({ length: 12 }, () => tries({ text: "x" })));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
  });
});

test.for<[string, (text: string) => object, string]>([
  ["name", (name) => ({ name }), "name"],
  ["description", (description) => ({ description }), "description"],
  ["field's label", (label) => ({ fields: [{ name: "text", type: "text", label }] }), "fields.0.label"],
])(
  "an agent's %s hides nothing from its buyers, and turns nothing beside it around",
  async ([_what, saying, field], { market }) => {
    const maker = await newCreator(market);
    const said = (text: string) => saveDraft(market.context, maker, "shown", { ...echoAgent, ...saying(text) });
    for (const text of ["Echo \u202estiderc 1", "\u2066Echo", "Echo\u0007", "\u200b\u3164", "Echo \ud800"]) {
      await expect(said(text), JSON.stringify(text)).rejects.toMatchObject({ code: "invalid_value", body: { field } });
    }
    // Languages and signs that need joiners have them.
    for (const text of ["می\u200cخواهم", "👩\u200d🚀 Echo", "Écho, été"]) await said(text);
  },
);

test("a run under way ends as what it began as, while the agent is republished on another connector", async ({
  market,
  seeded,
}) => {
  const maker = await newCreator(market);
  const { address } = await publishAgent(market.context, maker, "moving", { ...echoAgent, price_credits: 7 });
  const before = market.model.asked();
  market.model.injectFault({ delayMs: 600_000 });
  const answer = run(market, seeded.key, address);
  await until(() => market.model.asked() > before);
  expect((await balanceOf(market, seeded.key)).held_credits).toBe(7);
  const httpAgent = {
    ...echoAgent,
    connector: "http-api",
    fields: [],
    settings: { url: "https://api.github.com/" },
    price_credits: 1,
  };
  await publishAgent(market.context, maker, "moving", httpAgent);
  const detail = await call(market.url, `/api/v1/agents/${address}`, { key: seeded.key });
  expect(detail.body).toMatchObject({ connector: "http-api", price_credits: 1, inputs: [] });
  market.model.answerHeld();
  expect((await answer).body).toMatchObject({ success: true, credits_used: 7, output: { kind: "text" } });
});

test("two hundred runs during forty publications each run one version whole, and pay that version's price", async ({
  market,
  seeded,
}) => {
  const maker = await newCreator(market);
  const version = (price: number) => ({
    ...echoAgent,
    price_credits: price,
    settings: { prompt: `PRICE-${price} {{text}}` },
  });
  const { address } = await publishAgent(market.context, maker, "atomic", version(1));
  const publishing = (async () => {
    for (let n = 0; n < 40; n += 1) await publishAgent(market.context, maker, "atomic", version((n % 3) + 1));
  })();
  const answers = await Promise.all(Array.from({ length: 200 }, () => run(market, seeded.key, address)));
  await publishing;
  for (const { body } of answers) {
    expect(body.success).toBe(true);
    expect(body.output.text).toContain(`PRICE-${body.credits_used} `);
  }
  expect(new Set(answers.map(({ body }) => body.credits_used)).size).toBeGreaterThan(1);
});

describe("npm run agents", () => {
  const agents = (market: TestMarketplace, ...args: string[]) => runCommand(["agents", ...args], market.environment);
  const file = async (text: string) => {
    const path = join(directory, `${Math.random().toString(36).slice(2)}.yaml`);
    await writeFile(path, text);
    return path;
  };
  const yaml = (seeded: Market, more = "", agent = `${seeded.creator.handle}/from-file`) => `agent: ${agent}
name: From a file
description: Says what it is told.
connector: llm
price_credits: 2
fields:
  - name: text
    type: text
    required: true
${more}settings:
  prompt: "{{text}}"
`;

  test("checks, drafts, publishes, lists and unpublishes", async ({ market, seeded }) => {
    const path = await file(yaml(seeded));
    const address = `${seeded.creator.handle}/from-file`;
    expect(await agents(market, "check", path)).toContain("problems: 0");
    expect(await agents(market, "draft", path)).toContain("state: draft");
    expect((await run(market, seeded.key, address)).status).toBe(404);
    expect(await agents(market, "publish", path)).toContain("changed: true");
    expect(await agents(market, "publish", path)).toContain("changed: false");
    expect((await run(market, seeded.key, address)).body).toMatchObject({ success: true, credits_used: 2 });
    const listed = JSON.parse(await agents(market, "list", "--account", seeded.creator.handle, "--json"));
    expect(listed).toContainEqual({
      agent: address,
      state: "live",
      name: "From a file",
      connector: "llm",
      price_credits: 2,
      live_version: 1,
      newest_version: 1,
    });
    expect(await agents(market, "unpublish", address)).toContain("state: unpublished");
    expect((await run(market, seeded.key, address)).status).toBe(404);
  });

  test.for<[string, (text: string) => string, string[]]>([
    ["a wrong type", (text) => text.replace("price_credits: 2", "price_credits: many"), [':5:1: "price_credits" must']],
    [
      "a wrong choice deep down",
      (text) => text.replace("type: text", "type: colour"),
      [':8:5: "fields.0.type" must be'],
    ],
    ["something missing", (text) => text.replace("name: From a file\n", ""), [':1:1: "name" is required']],
    ["an unknown key", (text) => `${text}colour: red\n`, [":1:1: The agent has unknown keys: colour"]],
    [
      "a wrong setting",
      (text) => text.replace('prompt: "{{text}}"', "prompt: 5"),
      [':11:3: "settings.prompt" must be a text'],
    ],
    ["a slot that is no field", (text) => text.replace("{{text}}", "{{txt}}"), [':10:1: "settings" uses {{txt}}']],
    [
      "several at once",
      (text) => text.replace("price_credits: 2", "price_credits: -1").replace("connector: llm", "connector: none"),
      [':4:1: "connector"', ':5:1: "price_credits"'],
    ],
    ["broken YAML", (text) => text.replace("fields:", "fields: ["), [":"]],
    ["no agent", (text) => text.replace(/^agent: .*\n/, ""), [':1:1: "agent" must be handle/slug']],
    ["a list", () => "- a\n", [":1:1: an agent's file must hold a mapping"]],
  ])("names the line and column of %s", async ([_name, change, expected], { market, seeded }) => {
    const path = await file(change(yaml(seeded)));
    const refusal = await agents(market, "publish", path).catch((error: Error) => error.message);
    for (const line of expected) expect(refusal).toContain(path + line);
  });
});

describe("what an agent's versions take is bounded in bytes, however few they are:", () => {
  const saying = (description: string) => ({ ...echoAgent, description });
  const published = async (market: TestMarketplace) => {
    const maker = await newCreator(market);
    const { agentId } = await publishAgent(market.context, maker, "heavy", saying("First."));
    return { maker, agentId };
  };
  /** Of 200,000 bytes each, as versions of large definitions are. */
  const addHeavy = (market: TestMarketplace, agentId: string, count: number, publishedAt: string | null) =>
    market.context.db.query(
      `insert into agent_versions select (jsonb_populate_record(v, jsonb_build_object('version', n, 'published_at', $3::text,
           'settings', v.settings || jsonb_build_object('heavy', (
             select string_agg(md5(random()::text), '') from generate_series(1, 6250) where n > 0))))).*
       from agent_versions v, generate_series(2, $2::integer + 1) n where v.agent_id = $1 and v.version = 1`,
      [agentId, count, publishedAt],
    );
  const kept = async (market: TestMarketplace, agentId: string) => {
    const { rows } = await market.context.db.query(
      "select version from agent_versions where agent_id = $1 order by version",
      [agentId],
    );
    return rows.map(({ version }) => version);
  };

  test("of saved ones the oldest go, and never the live and the newest one", async ({ market }) => {
    const { maker, agentId } = await published(market);
    await addHeavy(market, agentId, 30, null);
    await saveDraft(market.context, maker, "heavy", saying("One more."));
    const versions = await kept(market, agentId);
    expect([versions[0], versions.at(-1)]).toEqual([1, 32]);
    expect(versions.length).toBeGreaterThan(5);
    expect(versions.length).toBeLessThan(20);
    expect(versions.slice(1)).toEqual(Array.from({ length: versions.length - 1 }, (_, n) => 34 - versions.length + n));
  });

  test("of all agents of an account may take so much together, and one that takes less can be saved at any time", async ({
    market,
  }) => {
    const { maker, agentId } = await published(market);
    const { db } = market.context;
    const bytesOf = async (slug: string) => {
      const { rows } = await db.query("select definition_bytes from agents where account_id = $1 and slug = $2", [
        maker.id,
        slug,
      ]);
      return Number(rows[0].definition_bytes);
    };
    await addHeavy(market, agentId, 2, null);
    await saveDraft(market.context, maker, "heavy", saying("One more."));
    expect(await bytesOf("heavy")).toBeGreaterThan(400_000);
    await saveDraft(market.context, maker, "light", saying("Little."));
    await db.query("update agents set definition_bytes = 500000000 where id = $1", [agentId]);
    const refused = "What an account's agents say, in all versions that are kept, may take 500 megabytes";
    await expect(saveDraft(market.context, maker, "light", saying("More."))).rejects.toThrow(refused);
    await expect(saveDraft(market.context, maker, "another", saying("More."))).rejects.toThrow(refused);
    await saveDraft(market.context, maker, "heavy", saying("Less than before."));
    expect(await bytesOf("heavy")).toBeLessThan(1_000_000);
    await saveDraft(market.context, maker, "another", saying("More."));
  });

  test("where they would take too much, those that the account's other agents replaced long ago go first", async ({
    market,
  }) => {
    const { maker, agentId } = await published(market);
    const { db } = market.context;
    await addHeavy(market, agentId, 3, new Date().toISOString());
    await saveDraft(market.context, maker, "heavy", saying("The newest."));
    await db.query("update agents set definition_bytes = 500000000 where id = $1", [agentId]);
    const another = () => saveDraft(market.context, maker, "another", saying("More."));
    await expect(another()).rejects.toThrow("published ones are kept for 50 days after they were replaced");
    expect(await kept(market, agentId)).toEqual([1, 2, 3, 4, 5]);
    await db.query(
      "update agent_versions set published_at = now() - interval '51 days' where agent_id = $1 and version between 2 and 3",
      [agentId],
    );
    await another();
    // The live one, the one that was replaced lately, those that nothing replaced.
    expect(await kept(market, agentId)).toEqual([1, 3, 4, 5]);
  });

  test("published ones are refused one more, until some of them go", async ({ market }) => {
    const { maker, agentId } = await published(market);
    await addHeavy(market, agentId, 60, new Date().toISOString());
    const once = () => publishAgent(market.context, maker, "heavy", saying("One more."));
    await expect(once()).rejects.toThrow("What an agent publishes may take 8 megabytes in 50 days");
    expect(await kept(market, agentId)).toHaveLength(61);
    await market.context.db.query(
      "update agent_versions set published_at = now() - interval '51 days' where agent_id = $1 and version between 2 and 40",
      [agentId],
    );
    expect(await once()).toMatchObject({ changed: true });
    expect((await kept(market, agentId)).slice(0, 2)).toEqual([1, 40]);
  });
});
