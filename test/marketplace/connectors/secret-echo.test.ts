import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect } from "vitest";
import { noticesOf } from "../../../marketplace/agents/notices.ts";
import { SecretSearch } from "../../../marketplace/agents/secret-search.ts";
import { tryAgent } from "../../../marketplace/runs/try.ts";
import { upstreamTest } from "../../support/fixtures.ts";
import { call, run, seedMarket, spendable, type TestMarketplace } from "../../support/marketplace.ts";

const inBase64 = (data: string | Buffer) => Buffer.from(data as string).toString("base64");
const backwards = (text: string) => [...text].toReversed().join("");
const inBase32 = (text: string) =>
  [...Buffer.from(text)]
    .map((byte) => byte.toString(2).padStart(8, "0"))
    .join("")
    .replace(/.{1,5}/g, (bits) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[Number.parseInt(bits.padEnd(5, "0"), 2)]!);

function inBase58(text: string): string {
  let written = "";
  for (let rest = BigInt(`0x${Buffer.from(text).toString("hex")}`); rest > 0n; rest /= 58n) {
    written = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"[Number(rest % 58n)] + written;
  }
  return written;
}

const ascii85 = Array.from({ length: 85 }, (_, value) => String.fromCharCode(33 + value)).join("");
const z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";

function inBase85(text: string, alphabet: string): string {
  const bytes = Buffer.from(text);
  const whole = Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
  return Array.from({ length: whole.length / 4 }, (_, group) => {
    const value = whole.readUInt32BE(4 * group);
    return [4, 3, 2, 1, 0].map((power) => alphabet[Math.floor(value / 85 ** power) % 85]).join("");
  }).join("");
}

function moved(text: string, by: number): string {
  return text.replace(/[a-z]/gi, (letter) => {
    const first = letter < "a" ? 65 : 97;
    return String.fromCharCode(first + ((letter.charCodeAt(0) - first + by) % 26));
  });
}

const secret = 'sk-Live/7f3A+92b"é&Zq=01';
const encodings: Array<[string, (text: string) => string]> = [
  ["as it is", (text) => text],
  ["in lower case", (text) => text.toLowerCase()],
  ["in base64", (text) => Buffer.from(text).toString("base64")],
  ["in base64 after one byte", (text) => Buffer.from(`x${text}y`).toString("base64")],
  ["as Basic credentials", (text) => `Basic ${Buffer.from(`me:${text}`).toString("base64")}`],
  ["in base64 for URLs", (text) => Buffer.from(`user=${text};`).toString("base64url")],
  ["in base64 of short lines", (text) => Buffer.from(text.repeat(3)).toString("base64").replace(/.{20}/g, "$&\r\n")],
  ["in base64 twice", (text) => Buffer.from(`(${Buffer.from(text).toString("base64")}`).toString("base64")],
  ["encoded for a URL, in base64", (text) => Buffer.from(`/?k=${encodeURIComponent(text)}`).toString("base64")],
  ["in base64, encoded for a URL", (text) => encodeURIComponent(Buffer.from(text).toString("base64"))],
  ["encoded for a URL", encodeURIComponent],
  [
    "encoded for a URL in small letters",
    (text) => encodeURIComponent(text).replace(/%../g, (byte) => byte.toLowerCase()),
  ],
  ["encoded for a URL twice", (text) => encodeURIComponent(encodeURIComponent(text))],
  ["encoded for a URL to the last letter", (text) => Buffer.from(text).toString("hex").replace(/../g, "%$&")],
  ["with JSON escapes", (text) => JSON.stringify(text)],
  [
    "with JSON escapes to the last letter",
    (text) => text.replace(/./gs, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`),
  ],
  ["as JSON in JSON in JSON", (text) => JSON.stringify(JSON.stringify({ headers: { key: text } }))],
  ["packed, in base64", (text) => gzipSync(`{"headers":{"key":"${text}"}}`).toString("base64")],
  ["deflated, in base64 for URLs", (text) => deflateSync(`{"headers":{"key":"${text}"}}`).toString("base64url")],
  ["in hex", (text) => Buffer.from(text).toString("hex")],
  ["in hex in capitals, with colons", (text) => Buffer.from(text).toString("hex").toUpperCase().replace(/../g, "$&:")],
  ["as bytes", (text) => JSON.stringify(Buffer.from(text))],
  [
    "as bytes in hex",
    (text) => [...Buffer.from(text)].map((byte) => `0x${byte.toString(16).padStart(2, "0")}`).join(", "),
  ],
  ["in HTML", (text) => text.replace(/[&"]/g, (char) => ({ "&": "&amp;", '"': "&quot;" })[char]!)],
  [
    "in HTML to the last letter",
    (text) => text.replace(/./gs, (char) => `&#x${char.charCodeAt(0).toString(16).toUpperCase()};`),
  ],
  ["in HTML in decimals", (text) => text.replace(/./gs, (char) => `&#0${char.charCodeAt(0)};`)],
  ["in HTML by the names of letters", (text) => text.replaceAll("é", "&eacute;").replaceAll("&Z", "&amp;Z")],
  ["in HTML twice", (text) => text.replace(/./gs, (char) => `&amp;#${char.charCodeAt(0)};`)],
  ["in HTML with tags within", (text) => text.replace(/.{5}/g, "$&</span><span class='part'>")],
  ["as bytes behind backslashes", (text) => Buffer.from(text).toString("hex").replace(/../g, "\\x$&")],
  ["as octal bytes", (text) => [...Buffer.from(text)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("")],
  ["as bytes of three digits", (text) => [...Buffer.from(text)].map((byte) => `${byte}`.padStart(3, "0")).join(" ")],
  ["in Latin-1, in hex", (text) => Buffer.from(text, "latin1").toString("hex")],
  ["in UTF-16, the larger byte first, in base64", (text) => Buffer.from(text, "utf16le").swap16().toString("base64")],
  ["backwards", (text) => [...text].toReversed().join("")],
  ["with marks apart", (text) => text.normalize("NFD")],
  ["in wide letters", (text) => text.replace(/[!-~]/g, (char) => String.fromCharCode(char.charCodeAt(0) + 0xfee0))],
  ["between characters that are not seen", (text) => [...text].join("\u200b")],
  ["in base32", (text) => inBase32(text)],
  ["in base32 of small letters, behind other bytes", (text) => inBase32(`key${text}.`).toLowerCase()],
  ["in base58", (text) => inBase58(text)],
  ["in ASCII85", (text) => `<~${inBase85(text, ascii85)}~>`],
  ["in ASCII85, behind other bytes", (text) => inBase85(`key=${text}.`.slice(1), ascii85)],
  ["in Z85, behind other bytes", (text) => inBase85(`{"${text}"`, z85)],
  ["in ROT13", (text) => moved(text, 13)],
  ["with each letter moved by three", (text) => moved(text, 3)],
  [
    "with its letters mirrored",
    (text) => text.replace(/[a-z]/gi, (letter) => String.fromCharCode(219 - letter.toLowerCase().charCodeAt(0))),
  ],
  ["as bits", (text) => [...Buffer.from(text)].map((byte) => byte.toString(2).padStart(8, "0")).join(" ")],
  ["in UTF-32, in hex", (text) => [...text].map((char) => char.codePointAt(0)!.toString(16).padStart(8, "0")).join("")],
  [
    "as Unicode's names of its letters",
    (text) => [...text].map((char) => `U+${char.codePointAt(0)!.toString(16).padStart(4, "0")}`).join(" "),
  ],
  ["as JSON in JSON, in base64", (text) => inBase64(JSON.stringify(JSON.stringify({ key: text })))],
  [
    "with JSON escapes to the last letter, in base64",
    (text) => inBase64(text.replace(/./gs, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`)),
  ],
  ["in HTML, in base64", (text) => inBase64(text.replace(/[&"]/g, (char) => (char === "&" ? "&amp;" : "&quot;")))],
  ["in base64 three times", (text) => inBase64(inBase64(inBase64(text)))],
  ["in hex in capitals, in base64", (text) => inBase64(Buffer.from(text).toString("hex").toUpperCase())],
  ["in base64, backwards", (text) => backwards(inBase64(text))],
  ["backwards, in base64", (text) => inBase64(backwards(text))],
  ["deflated without a header, in base64", (text) => inBase64(deflateRawSync(`{"key":"${text}"}`))],
  ["deflated without a header, in base64 for URLs", (text) => deflateRawSync(`key=${text}`).toString("base64url")],
  [
    "deflated without a header, of a longer text, in hex",
    (text) =>
      deflateRawSync(`${Array.from({ length: 40 }, (_, n) => `${n * 7919}. line;`).join(" ")} ${text}`).toString("hex"),
  ],
  ["packed, in hex", (text) => gzipSync(`{"key":"${text}"}`).toString("hex")],
  ["packed, in base64 of short lines", (text) => inBase64(gzipSync(`{"key":"${text}"}`)).replace(/.{20}/g, "$&\r\n")],
  ["packed, in base64, in base64", (text) => inBase64(JSON.stringify({ key: inBase64(gzipSync(text)) }))],
  ["cut into lines", (text) => text.replace(/.{5}/g, "$&\n")],
  ["between much else", (text) => "lorem ipsum ".repeat(30_000) + text + "dolor ".repeat(100)],
];

describe("a secret is found", () => {
  test.each(encodings)("a secret written %s is found, and another text so written is not", async (_name, encode) => {
    const search = new SecretSearch([secret, "another-secret"]);
    for (const before of ["", "a", "ab ", 'x":"']) expect(await search.isIn(before + encode(secret))).toBe(true);
    expect(await search.isIn(encode(`${secret.slice(0, 8)}x${secret.slice(10)}`))).toBe(false);
  });

  test("wherever it lies in a long text, and not where it is not", async () => {
    const long = "0123456789abcdef".repeat(40_000);
    const search = new SecretSearch([secret]);
    await fc.assert(
      fc.asyncProperty(fc.nat(long.length), fc.constantFrom(...encodings.slice(0, 20)), async (at, [, encode]) => {
        expect(await search.isIn(long.slice(0, at) + encode(secret) + long.slice(at))).toBe(true);
      }),
      { numRuns: 25 },
    );
    expect(await search.isIn(long)).toBe(false);
    expect(await new SecretSearch([]).isIn(long)).toBe(false);
  });

  test("also as what it means: Basic credentials, a long number", async () => {
    const basic = Buffer.from("robot:correct-horse-battery").toString("base64");
    expect(await new SecretSearch([basic]).isIn('{"password":"correct-horse-battery"}')).toBe(true);
    expect(await new SecretSearch(["Bearer sk-12345678"]).isIn('{"token":"sk-12345678"}')).toBe(true);
    const digits = "123456789012345678901234";
    expect(await new SecretSearch([digits]).isIn(JSON.stringify({ id: JSON.parse(digits) }))).toBe(true);
  });

  test("by a part of a long one, wherever that begins", async () => {
    const long = Array.from({ length: 60 }, (_, n) => ((n * 7919 + 13) % 36).toString(36)).join("");
    const search = new SecretSearch([long]);
    for (let at = 0; at + 24 <= long.length; at += 1) expect(await search.isIn(long.slice(at, at + 24))).toBe(true);
    expect(await search.isIn(long.slice(0, 8))).toBe(false);
    for (let at = 0; at + 24 <= long.length; at += 1) {
      const part = long.slice(at, at + 24);
      for (const before of ["", "x", "xy"]) {
        expect(await search.isIn(Buffer.from(`${before}${part}`).toString("base64"))).toBe(true);
      }
    }
  });

  test("however long it is, and twenty of them are made ready in a moment", async () => {
    const secrets = Array.from({ length: 20 }, () => randomBytes(2_900).toString("base64"));
    const [startedAt, search] = [process.cpuUsage(), new SecretSearch(secrets)];
    expect(process.cpuUsage(startedAt).user).toBeLessThan(250_000);
    for (const [, encode] of encodings) expect(await search.isIn(`a${encode(secrets[7]!)}`)).toBe(true);
    expect(await search.isIn(`a${randomBytes(5_000).toString("base64")}`)).toBe(false);
  });

  test("however much is packed: what cannot be searched through within a bound counts as holding one", async () => {
    const search = new SecretSearch([secret]);
    const packed = (text: string) => gzipSync(text).toString("base64");
    const small = Array.from({ length: 200 }, (_, n) => packed(`a part of an answer, number ${n}`));
    expect(await search.isIn(small.join(" "))).toBe(false);
    expect(await search.isIn([...small, packed(`the key is ${secret}`)].join(" "))).toBe(true);
    const [startedAt, bomb] = [process.cpuUsage(), packed("%ffa".repeat(1_000_000))];
    expect(await search.isIn(Array(64).fill(bomb).join(" "))).toBe(true);
    expect(await search.isIn(packed("a".repeat(5_000_000)))).toBe(true);
    expect(process.cpuUsage(startedAt).user).toBeLessThan(5_000_000);
  });

  test("however much reads as encoded: what reads as text in every way is not unwrapped without end", async () => {
    const search = new SecretSearch([secret]);
    expect(await search.isIn(`${"0".repeat(3_000_000)} and more`)).toBe(false);
    const startedAt = process.cpuUsage();
    expect(await search.isIn("V".repeat(4_000_000))).toBe(true);
    expect(process.cpuUsage(startedAt).user).toBeLessThan(5_000_000);
  });

  test("packed, on the line behind another word that looks packed", async () => {
    const packed = inBase64(gzipSync(`{"key":"${secret}"}`));
    expect(await new SecretSearch([secret]).isIn(`the idea eA was\neAbcdefghijklmnopqrst\n${packed}`)).toBe(true);
  });

  test("however much could be packed without a header, in a moment", async () => {
    const search = new SecretSearch([secret]);
    const startedAt = process.cpuUsage();
    const bomb = deflateRawSync("a".repeat(500_000)).subarray(0, 280).toString("base64");
    expect(await search.isIn(Array.from({ length: 8_000 }, () => bomb).join(" "))).toBe(true);
    const noise = Array.from({ length: 20_000 }, () => randomBytes(90).toString("base64"));
    expect(await search.isIn(noise.join(" "))).toBe(false);
    expect(process.cpuUsage(startedAt).user).toBeLessThan(5_000_000);
  });

  test("for as long as its run may take", async () => {
    const [search, stop] = [new SecretSearch([secret]), new AbortController()];
    const searching = search.isIn("%ffa".repeat(500_000), stop.signal);
    setImmediate(() => stop.abort(new Error("the run is over")));
    await expect(searching).rejects.toThrow("the run is over");
  });

  test.each([
    ["text and escapes", "%7Ba\\u0041&amp;lorem ipsum ".repeat(150_000)],
    ["escapes that are no UTF-8", "%ffa".repeat(500_000)],
  ])("in megabytes of %s, for twenty secrets, without holding up anybody else", async (_name, text) => {
    const secrets = Array.from({ length: 20 }, (_, n) => `secret-number-${n}-${"x".repeat(n)}`);
    const search = new SecretSearch(secrets);
    let turns = 0;
    let over = false;
    const turn = () => {
      turns += 1;
      if (!over) setImmediate(turn);
    };
    turn();
    expect(await search.isIn(text)).toBe(false);
    over = true;
    // In between others have their turns, one for each piece of the text.
    expect(turns).toBeGreaterThan(text.length / 100_000);
  });
});

let echo: (request: IncomingMessage, body: string) => { status?: number; headers?: object; body: string | Buffer };
const test = upstreamTest(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { status = 200, headers = {}, body } = echo(request, Buffer.concat(chunks).toString());
  response.writeHead(status, { ...headers }).end(body);
});

const word = "Token/Mark+4711";
const settings = {
  method: "POST",
  headers: { Authorization: "Bearer {{secret.word}}" },
  body: { key: "{{secret.word}}", text: "{{text}}" },
};
const seed = (market: TestMarketplace, base: string, more: object = {}) =>
  seedMarket(market.context, {
    agent: {
      connector: "http-api",
      fields: [{ name: "text", type: "text" }],
      settings: { ...settings, url: `${base}/x?k={{secret.word}}`, ...more },
      secrets: { word },
    },
  });

/** Everything that is kept or was said, in which nothing of the secret may be. */
async function everything(market: TestMarketplace): Promise<string> {
  const { rows } = await market.context.db.query("select tablename from pg_tables where schemaname = 'public'");
  const dumps = await Promise.all(
    rows.map(async ({ tablename }) => {
      const { rows } = await market.context.db.query(`select string_agg(t::text, ' ') as all from "${tablename}" t`);
      return rows[0].all ?? "";
    }),
  );
  return [...dumps, ...market.lines].join("\n");
}

describe("an upstream that echoes its request gives no secret away", () => {
  test.for<[string, typeof echo, object]>([
    ["the headers", ({ headers }) => ({ body: JSON.stringify(headers) }), {}],
    [
      "the body, as a name deep inside",
      (_, body) => ({ body: JSON.stringify({ a: [{ [JSON.parse(body).key]: 1 }] }) }),
      {},
    ],
    ["the address", ({ url }) => ({ body: String(url) }), { format: "text" }],
    [
      "everything, compressed",
      (_, body) => ({ headers: { "content-encoding": "gzip" }, body: gzipSync(body) }),
      { format: "text" },
    ],
    ["in base64", (_, body) => ({ body: Buffer.from(body).toString("base64") }), { format: "text" }],
    ["in an error", (_, body) => ({ status: 500, body }), {}],
    ["where JSON was wanted", (_, body) => ({ body: `<${body}>` }), {}],
  ])("of %s", async ([_name, how, more], { market, base }) => {
    echo = how;
    const { key, agent, creator, buyer } = await seed(market, base, more);
    const request = { agent: agent.address, input: { text: "hello" } };
    const headers = { "idempotency-key": `echo-${_name}` };
    const first = await call(market.url, "/api/v1/run", { key, body: request, headers });
    const again = await call(market.url, "/api/v1/run", { key, body: request, headers });
    const tried = await tryAgent(market.context, creator, "echo", { text: "hello" });
    expect(first.body).toMatchObject({ success: false, credits_used: 0, credits_remaining: 100 });
    expect(again.body).toMatchObject({ success: false, run_id: first.body.run_id });
    expect(tried.success).toBe(false);
    expect(await spendable(market.context, buyer)).toBe(100);
    const all = [first.text, again.text, JSON.stringify(tried), await everything(market)].join("\n");
    expect(await new SecretSearch([word]).isIn(all)).toBe(false);
  });

  test("and its creator is told when, and of which agent, but not the value", async ({ market, base }) => {
    echo = (_, body) => ({ body });
    const startedAt = Date.now();
    const { key, agent } = await seed(market, base);
    await run(market, key, agent.address, { text: "a" });
    await run(market, key, agent.address, { text: "b" });
    const notices = await noticesOf(market.context.db, agent.agentId);
    expect(notices).toMatchObject([{ kind: "secret_in_answer", version: 1, times: 2 }]);
    expect(notices[0]!.last_at.getTime()).toBeGreaterThanOrEqual(startedAt);
  });

  test("while an answer without one is given as ever", async ({ market, base }) => {
    echo = (_, body) => ({ body: JSON.stringify({ said: JSON.parse(body).text, starts: word.slice(0, 4) }) });
    const { key, agent } = await seed(market, base);
    const { body } = await run(market, key, agent.address, { text: "hi" });
    expect(body).toMatchObject({ success: true, output: { data: { said: "hi", starts: "Toke" } } });
    expect(await noticesOf(market.context.db, agent.agentId)).toEqual([]);
  });
});
