import { hash } from "node:crypto";
import { once } from "node:events";
import { createServer, request as httpRequest, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import request from "supertest";
import { describe, expect, test } from "vitest";
import { createApp, errorHandler } from "../../shared/http.ts";
import { createLog } from "../../shared/log.ts";
import { jsonBody, laterBody, pendingBody } from "../../shared/request-body.ts";

const bytesMax = 400_000;
const app = createApp({ trustProxy: false });
app.post("/said", jsonBody({ bytesMax, storable: true }), (asked, response) => {
  response.json({ said: asked.body ?? "nothing" });
});
const digest = (bytes: Buffer) => bytes.toString("hex");
app.post("/unread", laterBody({ bytesMax }), async (_asked, response) => {
  await pendingBody(response).drain();
  response.json({ digest: digest(response.locals.bodyDigest) });
});
app.post("/read", laterBody({ bytesMax }), async (_asked, response) => {
  const said = await pendingBody(response).json();
  response.json({ said, digest: digest(response.locals.bodyDigest) });
});
app.post("/large", jsonBody({ bytesMax: 8_000_000, storable: true }), (asked, response) => {
  response.json({ digest: hash("sha256", JSON.stringify(asked.body)) });
});
app.use(errorHandler(createLog("test", "silent")));

async function post(path: string, body: string, headers: Record<string, string> = {}) {
  const asked = request(app)
    .post(path)
    .set({ "content-type": "text/plain;charset=UTF-8", ...headers });
  const { status, body: told } = await asked.send(body);
  return { status, body: told as Record<string, unknown> };
}

/** What is said is the same as what the parser reads of the whole. */
async function expectRead(body: string): Promise<void> {
  const digest = hash("sha256", JSON.stringify(JSON.parse(body.replace("\ufeff", ""))));
  expect(await post("/large", body)).toEqual({ status: 200, body: { digest } });
}

/** Sent in chunks of these, each a chunk of its own on the wire. */
async function postChunks(path: string, chunks: Iterable<string>): Promise<number | undefined> {
  const server = createServer(app).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const asked = httpRequest({ port, path, method: "POST" }).on("error", () => {});
  for (const chunk of chunks) asked.write(chunk, "utf8");
  asked.end();
  const [{ statusCode }] = (await once(asked, "response")) as [IncomingMessage];
  // A connection that is refused is left open for a while.
  server.closeAllConnections();
  server.close();
  return statusCode;
}

describe("a JSON body", () => {
  test.each([
    ["an object", '{"a":[1,"b"]}', { a: [1, "b"] }],
    ["a text with brackets in it", JSON.stringify("[".repeat(30_000)), "[".repeat(30_000)],
    ["a text that ends in a backslash", '{"a":"\\\\","b":"\\""}', { a: "\\", b: '"' }],
    ["JSON that begins with a byte order mark", '\ufeff{"a":1}', { a: 1 }],
    ["nothing", "", {}],
  ])("of %s is read as it was said", async (_name, body, said) => {
    expect(await post("/said", body)).toEqual({ status: 200, body: { said } });
  });

  test("of characters that lie across its chunks is read whole", async () => {
    const text = "añ€😀".repeat(20_000);
    expect(await post("/read", JSON.stringify({ text }))).toMatchObject({ status: 200, body: { said: { text } } });
  });

  const long = "A+/=".repeat(265_000);
  test.each([
    ["one", { image: long }],
    ["itself", long],
    [
      "several, among others",
      { a: ["ü", long, { b: `${long}b`, c: "€".repeat(400_000) }, 1], "": long, z: "\n\u0001" },
    ],
    ["one with escapes", { a: `${long}"\\`, b: long }],
    ["one with characters of more bytes than one", { a: `é${long}`, b: long }],
    ["names", { [long]: long, b: { [`${long}b`]: null } }],
  ])("with long texts, %s, is read as it was said", async (_name, said) => {
    await expectRead(`\ufeff ${JSON.stringify(said, null, 2)}\n`);
  });

  test.each(["\\u00fc", "\\\\", '\\"\\\\n', "\\ud83d\\ude00€", '😀\\"', "\\\\u12"])(
    "with a long text of %s is read as it was said",
    async (unit) => {
      for (const before of ["", "x"]) {
        await expectRead(`{"a":["${before}${unit.repeat(1_100_000 / unit.length)}"]}`);
      }
    },
  );

  test.each([
    ["an escape that is none", `{"a":"${long}\\x"}`],
    ["half an escape at its end", `{"a":"${long}\\u12"}`],
    ["half an escape within", `{"a":"\\u12${long}"}`],
    ["a line break beside an escape", `{"a":"\\n${long}\n"}`],
    ["a line break", `{"a":"${long}\n"}`],
    ["a NUL", `{"a":"${long}\0"}`],
    ["no end", `{"a":"${long}`],
    ["another right after it", `{"a":"${long}""${long}"}`],
    ["two colons", `{"${long}"::"${long}"}`],
    ["letters after it", `["${long}"A]`],
  ])("with a long text and %s is no JSON", async (_name, body) => {
    expect(await post("/large", body)).toMatchObject({ status: 400, body: { error: "Body must be JSON." } });
  });

  test.each([
    ["no JSON", "{", "must be JSON"],
    ["20,000 levels", "[".repeat(20_000), "100 levels"],
    ["101 levels of objects", `${'{"a":'.repeat(101)}1${"}".repeat(101)}`, "100 levels"],
    ["too many small values", `[${"1,".repeat(20_001)}1]`, "20000 parts"],
    ["too many names", `{${Array.from({ length: 10_001 }, (_, i) => `"${i}":1`)}}`, "20000 parts"],
    ["a NUL", '{"a":{"b":["\\u0000"]}}', '"b"'],
    ["half of a surrogate pair", '{"a":"\\ud800"}', '"a"'],
    ["half of one in a name", '{"a":{"\\udc00":1}}', '"a name"'],
  ])("of %s is 400 and says why", async (_name, body, why) => {
    const answer = await post("/said", body);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toContain(why);
  });

  test.each([
    ["with a Content-Encoding", { "content-encoding": "gzip" }],
    ["in another charset", { "content-type": "application/json; charset=iso-8859-1" }],
  ])("%s is 400", async (_name, headers) => expect((await post("/said", "{}", headers)).status).toBe(400));

  test("that is too large is 413, whether it says its length or not", async () => {
    expect((await post("/said", JSON.stringify("x".repeat(bytesMax)))).status).toBe(413);
    expect(await postChunks("/said", ["x".repeat(bytesMax), "x"])).toBe(413);
    expect((await post("/unread", "x".repeat(bytesMax + 1))).status).toBe(413);
  });
});

test("bodies that come at the same time, and one after another, are each read as they were written", async () => {
  const bodyOf = (n: number) =>
    JSON.stringify({
      n,
      text: String.fromCharCode(97 + n).repeat(200_000 + 65_536 * n),
      list: Array(5_000).fill(n),
      end: `é${n}`,
    });
  for (let round = 0; round < 3; round += 1) await Promise.all([7, 3, 9, 1, 5].map((n) => expectRead(bodyOf(n))));
  for (const n of [9, 1, 8]) await expectRead(bodyOf(n));
});

test("a body has the same digest whether it is read or drained", async () => {
  const body = JSON.stringify({ text: "x".repeat(200_000) });
  const digest = hash("sha256", body);
  expect((await post("/unread", body)).body.digest).toBe(digest);
  expect((await post("/read", body)).body.digest).toBe(digest);
  expect((await post("/unread", "{")).body.digest).toBe(hash("sha256", "{"));
  expect((await post("/unread", "")).body.digest).toBe(hash("sha256", ""));
});
