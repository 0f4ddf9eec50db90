import type { IncomingMessage } from "node:http";
import { describe, expect } from "vitest";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { fillJson, fillText, slotsOf } from "../../marketplace/connectors/template.ts";
import { createSealer } from "../../marketplace/sealing.ts";
import { Secret } from "../../shared/env.ts";
import { upstreamTest } from "../support/fixtures.ts";
import {
  balanceOf,
  echoAgent,
  run,
  seedMarket,
  startMarketplace,
  type TestMarketplace,
} from "../support/marketplace.ts";
import { confirm, newOperator } from "../support/operator.ts";

let requests: Array<{
  method: string | undefined;
  url: string | undefined;
  headers: IncomingMessage["headers"];
  body: string;
}> = [];
let answer: { status?: number; headers?: Record<string, string>; body: string } = { body: "{}" };
const test = upstreamTest(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  requests.push({
    method: request.method,
    url: request.url,
    headers: request.headers,
    body: Buffer.concat(chunks).toString(),
  });
  response.writeHead(answer.status ?? 200, answer.headers).end(answer.body);
});
test.afterEach(({ market }) => {
  requests = [];
  answer = { body: "{}" };
  market.model.clearFaults();
});

describe("http-api", () => {
  const fields = [
    { name: "text", type: "text" },
    { name: "count", type: "integer", default: 2 },
  ];
  const seed = (market: TestMarketplace, settings: object, more: object = {}) =>
    seedMarket(market.context, { agent: { connector: "http-api", fields, settings, ...more } });

  test("builds one request from its templates and gives the JSON answer", async ({ market, base }) => {
    answer = { body: JSON.stringify({ rate: 1.5 }) };
    const settings = {
      method: "POST",
      url: `${base}/v1/{{text}}?n={{count}}&k={{secret.key}}`,
      headers: { Authorization: "Bearer {{secret.key}}" },
      body: { say: "<{{text}}>", count: "{{count}}", none: "{{extraInstructions}}", list: [true, 5] },
    };
    const { key, agent } = await seed(market, settings, { secrets: { key: "s3cret/?" } });
    const { body } = await run(market, key, agent.address, { text: 'a/b ?"{{secret.key}}' });
    expect(body).toMatchObject({ success: true, output: { kind: "json", data: { rate: 1.5 } } });
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({
      method: "POST",
      url: "/v1/a%2Fb%20%3F%22%7B%7Bsecret.key%7D%7D?n=2&k=s3cret%2F%3F",
      headers: { authorization: "Bearer s3cret/?", "content-type": "application/json" },
    });
    expect(JSON.parse(requests[0]!.body)).toEqual({
      say: '<a/b ?"{{secret.key}}>',
      count: 2,
      none: null,
      list: [true, 5],
    });
  });

  test.for<[string, string, object]>([
    ["a list", "[1,2]", { kind: "json", data: { value: [1, 2] } }],
    ["a number", "5", { kind: "json", data: { value: 5 } }],
    ["an object", '{"a":"\\u0000"}', { kind: "json", data: { a: "\0" } }],
  ])("gives %s as an object", async ([_name, body, output], { market, base }) => {
    answer = { body };
    const { key, agent } = await seed(market, { url: `${base}/` });
    expect((await run(market, key, agent.address, {})).body).toMatchObject({ success: true, output });
  });

  test("gives text when it says so", async ({ market, base }) => {
    answer = { body: "plain" };
    const { key, agent } = await seed(market, { url: `${base}/`, format: "text" });
    expect((await run(market, key, agent.address, {})).body.output).toEqual({ kind: "text", text: "plain" });
  });

  test.for<[string, typeof answer]>([
    ["an error", { status: 500, body: "INNER-SECRET" }],
    ["a redirect to a private address", { status: 302, headers: { location: "http://169.254.169.254/" }, body: "" }],
    ["what is no JSON", { body: "<html>INNER-SECRET" }],
    ["too much", { body: JSON.stringify("x".repeat(2_200_000)) }],
  ])("fails, and costs nothing, when the service answers %s", async ([_name, given], { market, base }) => {
    answer = given;
    const { key, agent } = await seed(market, { url: `${base}/` });
    const { status, body, text } = await run(market, key, agent.address, {});
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: false, credits_used: 0, credits_remaining: 100 });
    expect(text + market.lines.join("")).not.toContain("INNER-SECRET");
  });

  test.for([
    ["climb out of its path", `/a/{{text}}/b`, ".."],
    ["climb out in two parts", `/a/{{text}}{{text}}`, "."],
    ["hold half a character", `/a/{{text}}`, "\ud800"],
  ])("lets no value %s", async ([_name, path, text], { market, base }) => {
    const { key, agent } = await seed(market, { url: base + path });
    expect((await run(market, key, agent.address, { text })).body.success).toBe(false);
    expect(requests).toEqual([]);
  });

  test("lets no value begin a header of its own", async ({ market, base }) => {
    const { key, agent } = await seed(market, { url: `${base}/`, headers: { "X-Text": "{{text}}" } });
    expect((await run(market, key, agent.address, { text: "a\r\nx-evil: 1" })).body.success).toBe(false);
    expect(requests).toEqual([]);
  });

  test("passes extra instructions on where the template has a place for them", async ({ market, base }) => {
    const { key, agent } = await seed(market, { method: "POST", url: `${base}/`, body: "{{extraInstructions}}" });
    await run(market, key, agent.address, { extraInstructions: "be brief" });
    expect(requests[0]?.body).toBe("be brief");
  });
});

describe("llm", () => {
  test("asks the operator's endpoint with its key, the agent's model and settings", async ({ market }) => {
    const settings = { system: "Be kind.", prompt: "{{text}}", model: "special", temperature: 0.3, max_tokens: 1000 };
    const { key, agent } = await seedMarket(market.context, { agent: { settings } });
    expect((await run(market, key, agent.address)).body.success).toBe(true);
    expect(market.model.requests.at(-1)?.body).toEqual({
      model: "special",
      messages: [
        { role: "system", content: "Be kind." },
        { role: "user", content: "hello" },
      ],
      temperature: 0.3,
      max_tokens: 1000,
    });
  });

  test("gives JSON when the recipe asks for it", async ({ market }) => {
    const { key, agent } = await seedMarket(market.context, {
      agent: { settings: { prompt: "{{text}}", format: "json" } },
    });
    const { body } = await run(market, key, agent.address);
    expect(body.output).toMatchObject({ kind: "json", data: { made_without_a_model: true } });
  });

  test("puts extra instructions where the prompt names them, or at its end", async ({ market }) => {
    const lastMessage = () =>
      (market.model.requests.at(-1)!.body as { messages: Array<{ content: string }> }).messages.at(-1)?.content;
    const named = await seedMarket(market.context, {
      agent: { settings: { prompt: "({{extraInstructions}}) {{text}}" } },
    });
    await run(market, named.key, named.agent.address, { text: "hi", extraInstructions: "briefly" });
    expect(lastMessage()).toBe("(briefly) hi");
    const atEnd = await seedMarket(market.context);
    await run(market, atEnd.key, atEnd.agent.address, { text: "hi", extraInstructions: "briefly" });
    expect(lastMessage()).toBe("hi\n\nAdditional instructions:\nbriefly");
  });
});

describe("templates", () => {
  const filling = { values: { a: "{{b}} {{secret.s}} $& $1", b: 2, c: true }, secrets: { s: "S" } };

  test("are filled once: what a value holds is text", () => {
    expect(fillText("{{a}}|{{ b }}|{{c}}|{{secret.s}}|{{missing}}|{{ }}", filling)).toBe(
      "{{b}} {{secret.s}} $& $1|2|true|S||{{ }}",
    );
  });

  test("keep a value's type where a JSON text is one slot alone", () => {
    expect(fillJson({ n: "{{b}}", t: "n={{b}}", l: ["{{c}}", null, "{{missing}}"] }, filling)).toEqual({
      n: 2,
      t: "n=2",
      l: [true, null, null],
    });
  });

  test("tell their slots, and inherited names are none of them", () => {
    expect(slotsOf({ x: "{{a}} {{secret.s}}", y: ["{{a}}{{b}}"] })).toMatchObject({
      fields: ["a", "b"],
      secrets: ["s"],
    });
    expect(fillText("{{constructor}}{{toString}}", { values: {}, secrets: {} })).toBe("");
  });
});

describe("sealed secrets", () => {
  const [one, two] = [1, 2].map((byte) => new Secret(Buffer.alloc(32, byte).toString("base64"))) as [Secret, Secret];

  test("open where they belong, and nowhere else", () => {
    const sealer = createSealer([one]);
    const sealed = sealer.seal("word", "agt_1/key");
    expect(sealed).not.toContain("word");
    expect(sealer.seal("word", "agt_1/key")).not.toBe(sealed);
    expect(sealer.open(sealed, "agt_1/key")).toBe("word");
    expect(() => sealer.open(sealed, "agt_2/key")).toThrow();
    expect(() => sealer.open(`${sealed.slice(0, -2)}${sealed.endsWith("AA") ? "BB" : "AA"}`, "agt_1/key")).toThrow();
  });

  test("open under a retired key as long as it is kept, and new ones use the new key", () => {
    const sealed = createSealer([one]).seal("word", "p");
    const rotated = createSealer([two, one]);
    expect(rotated.open(sealed, "p")).toBe("word");
    expect(createSealer([two]).open(rotated.seal("word", "p"), "p")).toBe("word");
    expect(() => createSealer([two]).open(sealed, "p")).toThrow("try again shortly");
    expect(() => createSealer([]).seal("word", "p")).toThrow("MARKETPLACE_SEALING_KEY");
  });

  test("are 503 on a copy that has yet to learn of a new key, and open on one that was told of it before it seals", async ({
    market,
    seeded,
  }) => {
    const { environment, databaseUrl, model } = market;
    const old = environment.MARKETPLACE_SEALING_KEY as string;
    const copyWith = (key: string, other: string) => {
      const keys = { MARKETPLACE_SEALING_KEY: key, MARKETPLACE_SEALING_KEYS_RETIRED: other };
      return startMarketplace({ databaseUrl, model, env: { ...environment, ...keys } });
    };
    const [sealing, told] = [await copyWith(one.reveal(), old), await copyWith(old, one.reveal())];
    try {
      const definition = { ...echoAgent, secrets: { word: "hush" } };
      const { address } = await publishAgent(sealing.context, seeded.creator, "newly-sealed", definition);
      const before = await balanceOf(market, seeded.key);
      const refused = await run(market, seeded.key, address);
      expect(refused).toMatchObject({ status: 503, body: { error: expect.stringContaining("try again") } });
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(await balanceOf(market, seeded.key)).toEqual(before);
      for (const copy of [sealing, told]) expect((await run(copy, seeded.key, address)).status).toBe(200);
      const operator = await newOperator({ url: market.url, environment: sealing.environment });
      expect((await confirm(operator)).status).toBe(503);
    } finally {
      await Promise.all([sealing.stop(), told.stop()]);
    }
  });

  test("lie in the database unreadable", async ({ market }) => {
    const { agent } = await seedMarket(market.context, {
      agent: { secrets: { word: "OPEN-SESAME" } },
    });
    const { rows } = await market.context.db.query("select * from agent_versions where agent_id = $1", [agent.agentId]);
    expect(JSON.stringify(rows, (_name, value) => (typeof value === "bigint" ? `${value}` : value))).not.toContain(
      "OPEN-SESAME",
    );
  });
});
