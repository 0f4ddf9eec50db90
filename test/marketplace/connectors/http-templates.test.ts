import fc from "fast-check";
import { afterEach, describe, expect } from "vitest";
import { upstreamTest } from "../../support/fixtures.ts";
import { type Market, run, seedMarket, spendable, type TestMarketplace } from "../../support/marketplace.ts";

let requests: Array<{ url: string; type: string | undefined; body: string }> = [];
const test = upstreamTest(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString();
  requests.push({ url: request.url ?? "", type: request.headers["content-type"], body });
  response.end("{}");
});
afterEach(() => {
  requests = [];
});

const fields = [
  { name: "text", type: "text" },
  { name: "count", type: "integer" },
  { name: "flag", type: "boolean" },
];
const json = { "Content-Type": "application/json" };
const seed = (market: TestMarketplace, base: string, settings: object, more: object = {}): Promise<Market> =>
  seedMarket(market.context, {
    balance: 10_000,
    agent: { connector: "http-api", fields, settings: { method: "POST", url: `${base}/`, ...settings }, ...more },
  });
const breakouts = [
  'x","admin":true,"z":"',
  '\\","admin":true,"z":"',
  "\\",
  '"',
  "\u2028\n\t\0",
  '"}, {"admin":true',
  "&admin=true",
  "\ud800",
  "{{count}}",
];

describe("a value stays in its place", () => {
  test("in a string of a JSON text, whatever it holds", async ({ market, base }) => {
    const { key, agent } = await seed(market, base, {
      headers: { "content-type": "application/vnd.api+json; charset=UTF-8" },
      body: '{ "admin": false, "x": "<{{text}}>", "n": {{count}}, "f": {{flag}}, "t": "\\n{{count}}", "big": 12345678901234567890 }',
    });
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.constantFrom(...breakouts), fc.string({ unit: "binary" })), async (text) => {
        requests = [];
        const stored = Buffer.from(text).toString().replaceAll("\0", "?");
        const { body } = await run(market, key, agent.address, { text: stored, count: 3 });
        expect(body.success).toBe(true);
        const { big: _, ...sent } = JSON.parse(requests[0]!.body);
        expect(sent).toEqual({ admin: false, x: `<${stored}>`, n: 3, f: null, t: "\n3" });
        expect(requests[0]!.body).toContain("12345678901234567890");
      }),
      { numRuns: 60 },
    );
  });

  test("in a pair of a form", async ({ market, base }) => {
    const { key, agent } = await seed(market, base, {
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
      body: "admin=false&x={{text}}&n={{count}}",
    });
    for (const text of ["x&admin=true", "a=b&c", "+ %26admin=true", "\n;'()*"]) {
      requests = [];
      await run(market, key, agent.address, { text, count: 1 });
      expect([...new URLSearchParams(requests[0]!.body)]).toEqual([
        ["admin", "false"],
        ["x", text],
        ["n", "1"],
      ]);
    }
  });

  test("makes no address too long to be one, which is known before anything is done with it", async ({
    market,
    base,
  }) => {
    const { key, agent } = await seed(market, base, { method: "GET", url: `${base}/${"{{text}}/".repeat(50)}` });
    const startedAt = process.cpuUsage();
    const { body } = await run(market, key, agent.address, { text: "%ffa".repeat(2_000) });
    expect(body).toMatchObject({ success: false, credits_used: 0 });
    expect(process.cpuUsage(startedAt).user).toBeLessThan(300_000);
    expect(requests).toEqual([]);
  });

  test("in a path and a query, for servers that decode it more than once too", async ({ market, base }) => {
    const { key, agent } = await seed(market, base, {
      method: "GET",
      url: `${base}/files/{{text}}/meta?q={{text}}&admin=0`,
    });
    const ways = [
      "..",
      ".",
      "../..",
      "..%2f..%2fadmin",
      "%2e%2e",
      "%252e%252e%252f",
      "a/../../admin",
      "..\\..",
      "．．/x",
      "..;/admin",
      "x/..;a=b/",
      ".. /",
      "%c0%ae%c0%ae/..",
      "a\0b",
      "a\r\nb",
      "%0d%0aSet-Cookie: x",
      "",
      "a/%2e%2E/b",
    ];
    for (const text of ways) {
      const { body } = await run(market, key, agent.address, { text: text.replaceAll("\0", "%00") });
      expect(body, text).toMatchObject({ success: false, credits_used: 0 });
    }
    expect(requests).toEqual([]);
    for (const text of ["a/b?c#d&admin=1", "1.5", "...", "a..b", "100%", "@evil.com:80//x", "héé 😀"]) {
      requests = [];
      expect((await run(market, key, agent.address, { text })).body.success, text).toBe(true);
      const url = new URL(requests[0]!.url, base);
      expect(url.pathname.split("/").map(decodeURIComponent)).toEqual(["", "files", text, "meta"]);
      expect([...url.searchParams]).toEqual([
        ["q", text],
        ["admin", "0"],
      ]);
    }
  });

  test("in a header, or in its part of one", async ({ market, base }) => {
    const { key, agent } = await seed(market, base, {
      method: "GET",
      headers: { "X-Whole": "{{text}}", Cookie: "a={{text}}; admin=0" },
    });
    for (const text of ["x; admin=1", 'x"', "x,y", "a\r\nb: c", "a\nb", "a\0".replace("\0", "\u0001"), "é"]) {
      expect((await run(market, key, agent.address, { text })).body.success, text).toBe(false);
    }
    expect(requests).toEqual([]);
    expect((await run(market, key, agent.address, { text: "plain one" })).body.success).toBe(true);
    const whole = await seed(market, base, { method: "GET", headers: { "X-Whole": "{{text}}" } });
    expect((await run(market, whole.key, whole.agent.address, { text: 'a, "b"; c' })).body.success).toBe(true);
  });

  test("as plain text where that is said, or nothing else could be meant", async ({ market, base }) => {
    const { key, agent } = await seed(market, base, { body: "Tell {{text}} about it." });
    await run(market, key, agent.address, { text: '{"a":1}' });
    expect(requests[0]).toMatchObject({ type: "text/plain; charset=utf-8", body: 'Tell {"a":1} about it.' });
  });

  test.for<[string, object]>([
    ["a form", { headers: { "content-type": "application/x-www-form-urlencoded" }, body: "x={{text}}" }],
    ["an address", { method: "GET", urlEnd: "{{text}}" }],
    ["a header", { method: "GET", headers: { "X-Whole": "{{text}}" } }],
  ])("but half a character in %s is an input that cannot be sent", async ([_name, given], { market, base }) => {
    const { urlEnd = "", ...settings } = given as { urlEnd?: string };
    const { key, agent } = await seed(market, base, { url: `${base}/${urlEnd}`, ...settings });
    const { body } = await run(market, key, agent.address, { text: "a\ud800" });
    expect(body).toMatchObject({ success: false, error: "The input holds characters that cannot be sent." });
    expect(requests).toEqual([]);
  });

  test("and no input is to blame for a secret that no header may hold", async ({ market, base }) => {
    const { key, agent } = await seed(
      market,
      base,
      { method: "GET", headers: { Authorization: "Bearer {{secret.word}}" } },
      { secrets: { word: "pasted with its line's end\n" } },
    );
    const { body } = await run(market, key, agent.address, { text: "a" });
    expect(body).toMatchObject({ success: false, error: expect.stringContaining("its creator has to see to it") });
  });

  test("and makes no template grow without end", async ({ market, base }) => {
    const many = "{{text}}".repeat(1_000);
    const { key, agent } = await seed(market, base, { body: { many } });
    const { body } = await run(market, key, agent.address, { text: "x".repeat(20_000) });
    expect(body).toMatchObject({ success: false, credits_used: 0 });
    expect(requests).toEqual([]);
  });
});

const form = { "content-type": "application/x-www-form-urlencoded" };
const refused: Array<[string, object, string]> = [
  ["a body that looks like JSON and is not said to be", { body: '{"x":"{{text}}"}' }, "settings.body"],
  [
    "one that says it is plain",
    { headers: { "content-type": "text/plain" }, body: ' {"x":"{{text}}"}' },
    "settings.body",
  ],
  ["one that begins with a slot", { body: '{{count}}{"x":"{{text}}"}' }, "settings.body"],
  [
    "one that says it is plain, with JSON further on",
    { headers: { "content-type": "text/plain" }, body: 'now/{"x":"{{text}}"}' },
    "settings.body",
  ],
  ["one that looks like a query language", { body: 'query { user(name: "{{text}}") }' }, "settings.body"],
  ["JSON inside of a JSON string", { body: { filter: '{"name":"{{text}}","admin":false}' } }, "settings.body"],
  [
    "GraphQL inside of a JSON string",
    {
      headers: { "content-type": "application/json" },
      body: '{"query":"query { user(name: \\"{{text}}\\") { id } }"}',
    },
    "settings.body",
  ],
  ["JSON inside of a form", { headers: form, body: 'filter={"name":"{{text}}"}' }, "settings.body"],
  ["JSON inside of a query's value", { url: 'http://localhost/?filter={"name":"{{text}}"}' }, "settings.url"],
  ["the same, encoded", { url: "http://localhost/?filter=%7B%22name%22%3A%22{{text}}%22%7D" }, "settings.url"],
  ["one that looks like XML", { body: "<a>{{text}}</a>" }, "settings.body"],
  ["one that looks like a form", { body: "a={{text}}&admin=0" }, "settings.body"],
  [
    "an unknown content-type",
    { headers: { "content-type": "application/graphql" }, body: "{{text}}" },
    "settings.body",
  ],
  ["XML", { headers: { "content-type": "text/xml" }, body: "<a>{{text}}</a>" }, "settings.body"],
  [
    "two content-types in one",
    { headers: { "content-type": "text/plain, application/json" }, body: "{{text}}" },
    "settings.body",
  ],
  [
    "another charset",
    { headers: { "content-type": "application/json; charset=utf-7" }, body: '"{{text}}"' },
    "settings.body",
  ],
  ["a text outside quotes", { headers: json, body: '{"x":{{text}}}' }, "quotes around {{text}}"],
  ["extra instructions outside quotes", { headers: json, body: '{"x":{{extraInstructions}}}' }, "quotes around"],
  ["a secret outside quotes", { headers: json, body: '{"x":{{secret.word}}}' }, "quotes around {{secret.word}}"],
  ["a slot in a name", { headers: json, body: '{"{{text}}": 1}' }, "settings.body"],
  ["a slot in a name, after much space", { headers: json, body: `{"{{text}}"${" ".repeat(500)}: 1}` }, "settings.body"],
  ["a slot after a backslash", { headers: json, body: '{"x":"\\{{text}}n"}' }, "settings.body"],
  ["a slot inside an escape", { headers: json, body: '{"x":"\\u00{{text}}"}' }, "settings.body"],
  ["a slot inside a number", { headers: json, body: '{"x":1{{count}}}' }, "settings.body"],
  ["what is no JSON", { headers: json, body: '{"x":"{{text}}",}' }, "settings.body"],
  ["a slot in a form's name", { headers: form, body: "{{text}}=1&b=2" }, "settings.body"],
  ["a slot alone in a form", { headers: form, body: "{{text}}&b=2" }, "settings.body"],
  ["JSON sent as a form", { headers: form, body: { a: "{{text}}" } }, "settings.body"],
  ["a slot in a property's name", { body: { "{{text}}": 1 } }, "no slots in its names"],
  ["a slot in a query's name", { url: "https://api.github.com/?{{text}}=1" }, "settings.url"],
  ["a slot in the scheme", { url: "{{text}}://api.github.com/" }, "settings.url"],
  ["a slot in the host", { url: "https://api.{{text}}.com/" }, "settings.url"],
  ["a slot right after the host", { url: "https://api.github.com{{text}}/" }, "settings.url"],
  ["a slot in the port", { url: "https://api.github.com:{{count}}/" }, "settings.url"],
  ["a slot before an @", { url: "https://{{text}}@api.github.com/" }, "settings.url"],
  ["encoded dots in the path", { url: "https://api.github.com/a/%2e%2E/{{text}}" }, "settings.url"],
  ["encoded dots and slashes in the path", { url: "https://api.github.com/a/..%2f{{text}}" }, "settings.url"],
  [
    "a content-type with a slot",
    { headers: { "Content-Type": "{{text}}" }, body: "x" },
    "settings.headers.Content-Type",
  ],
  ["a header that is there twice", { headers: { "X-A": "1", "x-a": "{{text}}" } }, "settings.headers.x-a"],
  ["a header with a line break", { headers: { "X-A": "a\r\nb: {{text}}" } }, "settings.headers.X-A"],
  ["an unclosed slot", { body: { x: "a {{text" } }, "settings.body.x"],
  ["an unclosed slot before another", { headers: { "X-A": "{{text {{count}}" } }, "settings.headers.X-A"],
  ["a slot that is misspelt", { headers: { "X-A": "{{secret.my-key}}" } }, "settings.headers.X-A"],
  ["braces that nothing opened", { headers: { "X-A": "text}} {{count}}" } }, "settings.headers.X-A"],
  ["a secret that is too short to be found again", { headers: { "X-A": "{{secret.short}}" } }, "secrets.short"],
  ["a secret of few digits", { headers: { "X-A": "{{secret.pin}}" } }, "secrets.pin"],
  ["a secret of hardly a letter", { headers: { "X-A": "{{secret.odd}}" } }, "secrets.odd"],
];

test.for(refused)(
  "%s is refused at publishing, with the place and the reason",
  async ([_name, settings, named], { market, base }) => {
    const secrets = { secrets: { word: "long enough", short: "1234567", odd: "--------!!ab", pin: "123456789" } };
    const refusal = await seed(market, base, settings, secrets).catch((error) => error);
    expect(refusal).toMatchObject({ code: "invalid_value" });
    expect(refusal.message).toContain(named);
  },
);

test.for<[string, object]>([
  ["plain words that a model is told", { connector: "llm", settings: { prompt: 'Answer {"a":{"b":1}} to {{text}}' } }],
  ["three braces", { connector: "llm", settings: { prompt: "{{{text}}}" } }],
  ["a lone query", { settings: { method: "GET", url: "https://api.github.com/?{{text}}" } }],
  ["a body without slots", { settings: { url: "https://api.github.com/", method: "POST", body: '{"a":{"b":1}}' } }],
])("%s can be published", async ([_name, agent], { market, base }) => {
  await expect(seed(market, base, {}, agent)).resolves.toBeDefined();
});

test.for<[string, object, string]>([
  ["llm", { prompt: "{{text}} {{secret.word}}" }, "settings"],
  ["llm", { prompt: "{{text}}", system: "{{ secret.word }}" }, "settings"],
  ["image-generator", { prompt: "{{text}} {{secret.word}}" }, "settings"],
  ["llm", { prompt: "an unclosed {{text" }, "settings.prompt"],
  ["llm", { prompt: "{{text}}", system: "text}} without a beginning" }, "settings.system"],
  ["image-generator", { prompt: "{{ user.name }}" }, "settings.prompt"],
])("an agent of %s with %j is refused", async ([connector, settings, named], { market, base }) => {
  const refusal = await seed(market, base, {}, { connector, settings, secrets: { word: "long enough" } }).catch(
    (error) => error,
  );
  expect(refusal).toMatchObject({ code: "invalid_value", message: expect.stringContaining(`"${named}"`) });
});

test.for<[string, { body: string } | { settings: object }]>([
  ["an escape from its body", { body: '{"x":"{{text}}"}' }],
  ["a secret for a model", { settings: { prompt: "{{text}} {{secret.word}}" } }],
])(
  "what was published with %s before that was refused is not run, costs nothing and says why",
  async ([_name, unsafe], { market, base }) => {
    const isModel = "settings" in unsafe;
    const { key, agent, buyer, creator } = await seed(
      market,
      base,
      {},
      {
        ...(isModel ? { connector: "llm", settings: { prompt: "x" } } : {}),
        secrets: { word: "long enough" },
      },
    );
    const stored = isModel ? unsafe.settings : { method: "POST", url: `${base}/`, ...unsafe };
    const text = "update agent_versions set settings = $2 where agent_id = $1";
    await market.context.db.query(text, [agent.agentId, JSON.stringify(stored)]);
    const { status, body } = await run(market, key, agent.address, { text: 'x","admin":true,"z":"' });
    expect({ status, body }).toMatchObject({ status: 500, body: { error: expect.stringContaining("misconfigured") } });
    expect(requests).toEqual([]);
    expect(await spendable(market.context, buyer)).toBe(10_000);
    expect(await spendable(market.context, creator)).toBe(0);
  },
);
