import { request } from "undici";
import { expect } from "vitest";
import { Browser, newEmail, tokenIn } from "../support/browser.ts";
import { paidTest } from "../support/fixtures.ts";
import type { PaidMarket } from "../support/paid-market.ts";
import { sampleOf } from "../support/sample.ts";

// biome-ignore lint/suspicious/noExplicitAny: a JSON document is walked freely
type Json = any;

let paid: PaidMarket;
let browser: Browser;
let known: Record<string, string>;

const test = paidTest({ env: { MARKETPLACE_PUBLIC_URL: "http://127.0.0.1:4020", SMTP_URL: "" } });
test.beforeAll(async ({ paid: started }) => {
  paid = started;
  const { marketplace, market } = paid;
  browser = new Browser(marketplace.url);
  const { link } = (await browser.post("/api/account/sign-in/email", { email: newEmail() })).body;
  await browser.post("/api/account/sign-in/email/confirm", { token: tokenIn(link) });
  await browser.post("/api/account", { handle: `hostile-${market.creator.handle.slice(-6)}` });
  known = { handle: market.creator.handle, slug: "echo" };
});

const nested = (levels: number): Json => (levels === 0 ? 1 : [nested(levels - 1)]);
/** In JSON, so that names and halves of characters get there as they are. */
const hostileJson: readonly string[] = [
  ...["\\u0000", "a\\u0000b", "\\ud800", "\\udc00\\ud800", "__proto__", "constructor", "toString", "valueOf"],
  ...["", " ", "%00", "../..", "' or 1=1 --", "\\u202e", "1e999", "-1", "NaN", "hedera:__proto__", "eip155:1e3"],
].map((text) => `"${text}"`);
const hostileOther: readonly string[] = [
  ...["null", "true", "-1", "1e308", "9007199254740993", "0.1", "[]", "{}", '[["\\u0000"]]', '{"toString":1}'],
  ...[
    '{"__proto__":{"a":1}}',
    '{"constructor":{"name":1}}',
    '{"\\u0000":1}',
    '{"toJSON":1,"length":-1}',
    '["__proto__"]',
  ],
  JSON.stringify(nested(99)),
  JSON.stringify("x".repeat(10_000)),
];
const hostileText = [
  "%00",
  "a%00b",
  "%ed%a0%80",
  "%ff",
  "__proto__",
  "constructor",
  "toString",
  "%25",
  "%F0%9F",
  "%2e%2e",
  "-1",
  "1e3",
];
const hostileHeaders = ["__proto__", "\u00ff\u0080", "x".repeat(8_000), "="];

test("no hostile value anywhere is answered with a 5xx, or repeated as [object Object]", async () => {
  const document: Json = await (await fetch(`${paid.marketplace.url}/api/v1/openapi.json`)).json();
  const asked = Object.entries<Json>(document.paths).flatMap(([template, methods]) =>
    Object.entries<Json>(methods).flatMap(([method, operation]) => [...asksOf(template, method, operation, document)]),
  );
  expect(await problemsOf(asked)).toEqual([]);
}, 240_000);

test("no hostile value is answered with a 5xx by the tool servers", async () => {
  const names = ["tools/call", "tools/list", "initialize", "__proto__", "\\u0000"];
  const bodies: string[] = [];
  for (const value of [...hostileJson, ...hostileOther]) {
    for (const name of names) bodies.push(`{"jsonrpc":"2.0","id":1,"method":"${name}","params":${value}}`);
    bodies.push(`{"jsonrpc":"2.0","id":${value},"method":"tools/list"}`);
    bodies.push(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":${value}}}`);
    for (const tool of [`"${known.handle}--echo"`, '"svg_vectorize"', '"agents_search"', value]) {
      bodies.push(call(tool, `{"text":${value},"image":${value},"query":${value}}`));
      bodies.push(call(tool, value));
      bodies.push(
        call(tool, '{"text":"x"}', `{"idempotency_key":${value},"max_credits":${value},"progressToken":${value}}`),
      );
      bodies.push(call(tool, '{"text":"x"}', `{"x402/payment":${value}}`));
    }
  }
  const headers = { accept: "application/json, text/event-stream", "content-type": "application/json" };
  const paths = ["/api/mcp", "/api/x402/mcp"];
  const asked = paths.flatMap((path) => bodies.map((body) => ({ path, method: "post", body, headers })));
  expect(await problemsOf(asked)).toEqual([]);
}, 240_000);

test("no hostile value in a proof of payment is answered with a 5xx", async () => {
  const proofs: string[] = [];
  for (const value of [...hostileJson, ...hostileOther]) {
    for (const version of [1, 2]) {
      const names = ["network", "scheme", "asset", "payTo", "amount", "extra"];
      proofs.push(
        ...names.map(
          (name) => `{"x402Version":${version},"${name}":${value},"accepted":{"${name}":${value}},"payload":{}}`,
        ),
      );
      for (const network of ["eip155:84532", "hedera:testnet"]) {
        const accepted = `"network":"${network}","scheme":"exact","accepted":{"network":"${network}","scheme":"exact","extra":${value}}`;
        const payload = `{"signature":${value},"transaction":${value},"authorization":{"from":${value},"to":${value},"value":${value},"validAfter":${value},"validBefore":${value},"nonce":${value}}}`;
        proofs.push(`{"x402Version":${version},${accepted},"payload":${payload}}`);
        proofs.push(
          `{"x402Version":${version},${accepted},"payload":${value},"resource":${value},"extensions":${value}}`,
        );
      }
    }
    proofs.push(value, `{"x402Version":${value}}`);
  }
  proofs.push(
    "[".repeat(9_000),
    `{"x402Version":2,"accepted":{"network":"eip155:84532"},"payload":${"[".repeat(4_000)}${"]".repeat(4_000)}}`,
  );
  const asked = proofs.flatMap((proof) =>
    ["payment-signature", "x-payment", "sign-in-with-x"].map((name) => {
      const headers = { [name]: Buffer.from(proof).toString("base64"), "content-type": "application/json" };
      return { path: `/api/agent/${known.handle}/echo`, method: "post", body: '{"text":"x"}', headers };
    }),
  );
  expect(await problemsOf(asked)).toEqual([]);
}, 240_000);

const call = (tool: string, input: string, meta = "{}") =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":${tool},"arguments":${input},"_meta":${meta}}}`;

interface Ask {
  readonly path: string;
  readonly method: string;
  readonly body?: string | undefined;
  readonly headers?: Record<string, string>;
}

function* asksOf(template: string, method: string, operation: Json, document: Json): Generator<Ask> {
  // Signing out and closing end what the others need.
  if (/sign-out|\/close$/.test(template)) return;
  const parameters: Json[] = operation.parameters ?? [];
  const names = (template.match(/\{\w+\}/g) ?? []).map((name) => name.slice(1, -1));
  const pathWith = (odd: Record<string, string> = {}) =>
    template.replace(/\{(\w+)\}/g, (_all, name: string) => odd[name] ?? known[name] ?? "x");
  const schema = operation.requestBody?.content?.["application/json"]?.schema;
  const good = schema && bodyOf(schema, document);
  const body = good && JSON.stringify(good);
  for (const name of names) for (const text of hostileText) yield { path: pathWith({ [name]: text }), method, body };
  const queries = [
    ...parameters.filter((one) => one.in === "query").map(({ name }) => name),
    "__proto__",
    "x402Version",
  ];
  for (const name of queries) {
    for (const text of hostileText) yield { path: `${pathWith()}?${name}=${text}&${name}=a`, method, body };
    yield { path: `${pathWith()}?${name}=${"x".repeat(5_000)}`, method, body };
    for (const json of ["{}", "\0", "1.\0", "__proto__"]) {
      yield { path: `${pathWith()}?${name}=${Buffer.from(json).toString("base64url")}`, method, body };
    }
  }
  const headers = [
    "idempotency-key",
    "x-request-id",
    "authorization",
    "cookie",
    "if-none-match",
    "x-payment",
    "payment-signature",
  ];
  for (const name of headers) {
    for (const value of hostileHeaders) yield { path: pathWith(), method, body, headers: { [name]: value } };
  }
  if (!schema) return;
  for (const value of [...hostileJson, ...hostileOther]) {
    yield { path: pathWith(), method, body: value };
    yield { path: pathWith(), method, body: `{${value.startsWith('"') ? value : '"x"'}:${value}}` };
    for (const name of Object.keys(good)) {
      const others = Object.entries(good).filter(([other]) => other !== name);
      const rest = others.map(([other, one]) => `,${JSON.stringify(other)}:${JSON.stringify(one)}`).join("");
      yield { path: pathWith(), method, body: `{${JSON.stringify(name)}:${value}${rest}}` };
      const within = `[{"name":${value},"type":${value}}]`;
      yield { path: pathWith(), method, body: `{${JSON.stringify(name)}:{"text":${value},"a":${within}}${rest}}` };
    }
  }
}

/** A body that says something in every field. */
function bodyOf(schema: Json, document: Json): Json {
  const { $ref, properties } = schema;
  if ($ref) return bodyOf(document.components.schemas[$ref.split("/").at(-1)], document);
  return Object.fromEntries(Object.entries<Json>(properties ?? {}).map(([name, one]) => [name, exampleOf(name, one)]));
}

function exampleOf(name: string, schema: Json): Json {
  if (name === "agent") return `${known.handle}/echo`;
  if (name === "input") return { text: "hello" };
  if (name === "connector") return "llm";
  if (schema.enum) return schema.enum[0];
  const byType: Record<string, Json> = {
    string: "hello",
    integer: 1,
    number: 1,
    boolean: false,
    array: [],
    object: {},
  };
  return byType[schema.type] ?? "hello";
}

/** What is wrong with the answers; eight are asked for at a time, and no limit on calls is what answers. */
async function problemsOf(all: readonly Ask[]): Promise<string[]> {
  const bad: string[] = [];
  const left = sampleOf(all, 1 / 10, "hostile values").entries();
  const worker = async () => {
    for (const [index, one] of left) {
      if (index % 40 === 0) await paid.marketplace.context.db.query("delete from rate_limits");
      const answer = await ask(one);
      const problem = problemOf(one.path, answer);
      if (problem) bad.push(`${problem}: ${JSON.stringify(one).slice(0, 400)} ${answer.text.slice(0, 200)}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return bad;
}

async function ask({ path, method, body, headers = {} }: Ask): Promise<{ status: number; text: string }> {
  const usual = {
    authorization: `Bearer ${paid.market.key}`,
    cookie: browser.cookie,
    "content-type": "application/json",
  };
  const from = { "x-forwarded-for": `10.${octet()}.${octet()}.${octet()}` };
  // Thousands of questions: fetch would take as long to ask as the service takes to answer.
  const response = await request(new URL(path, paid.marketplace.url), {
    method: method.toUpperCase() as "GET" | "POST",
    headers: { ...usual, ...from, ...headers },
    ...(body === undefined || method === "get" ? {} : { body }),
  });
  return { status: response.statusCode, text: await response.body.text() };
}

const documents = /^\/(api\/v1\/openapi\.json|openapi\.json|docs\/|llms)/;

const octet = () => Math.floor(Math.random() * 256);

function problemOf(path: string, { status, text }: { status: number; text: string }): string | undefined {
  if (status >= 500) return String(status);
  // The documents have these words as an example of a 500.
  if (!documents.test(path) && text.includes("wrong on our side")) return "our side";
  return /\[object |native code/.test(text) ? "repeats" : undefined;
}
