import { hash } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Request } from "express";
import { test as base, expect } from "vitest";
import { createApp, errorHandler, listen } from "../../shared/http.ts";
import { createLog } from "../../shared/log.ts";
import { jsonBody, laterBody, pendingBody } from "../../shared/request-body.ts";

const bytesMax = 1_000_000;

/** Its requests to /late are read after `readLate` only. */
// biome-ignore lint/correctness/noEmptyPattern: Vitest reads from the pattern which other fixtures this one takes
const test = base.extend("service", async ({}, { onCleanup }) => {
  const app = createApp({ trustProxy: false });
  const late: Array<{ request: Request; read: () => void }> = [];
  app.post("/read", jsonBody({ bytesMax }), (request, response) => void response.json(request.body));
  app.post("/drained", laterBody({ bytesMax }), async (_request, response) => {
    await pendingBody(response).drain();
    response.json("drained");
  });
  app.post("/ignored", (_request, response) => void response.json("ignored"));
  app.post("/late", async (request, response) => {
    await new Promise<void>((resolve) => late.push({ request, read: resolve }));
    response.json(digestOf(await slowly(request)));
  });
  app.post("/late-stream", async (request, response) => {
    await new Promise<void>((resolve) => late.push({ request, read: resolve }));
    response.json(digestOf(await text(request)));
  });
  app.use(errorHandler(createLog("test", "silent")));
  const service = await listen(app, { host: "127.0.0.1", port: 0 });
  onCleanup(() => service.stop());
  /** Sends each text as a chunk of its own; resolves with what came back. */
  const post = async (path: string, chunks: Iterable<string>, keepAlive = false): Promise<string> => {
    const socket = connect(service.port, "127.0.0.1").setEncoding("utf8");
    const close = keepAlive ? "" : "Connection: close\r\n";
    const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${close}Transfer-Encoding: chunked\r\n\r\n`;
    const body = Array.from(chunks, (chunk) => `${Buffer.byteLength(chunk).toString(16)}\r\n${chunk}\r\n`).join("");
    socket.write(`${head}${body}0\r\n\r\n`);
    let said = "";
    socket.on("data", (data: string) => {
      said += data;
    });
    // A connection that is refused is left open for a while by its server.
    socket.on("error", () => {});
    await expect.poll(() => /\r\n\r\n./.test(said), { interval: 1 }).toBe(true);
    socket.destroy();
    return said;
  };
  return { post, late };
});

/** Reads a piece, waits, and reads the next. */
async function slowly(request: Request): Promise<string> {
  let said = "";
  request.setEncoding("utf8").on("data", (piece: string) => {
    said += piece;
    request.pause();
    setImmediate(() => request.resume());
  });
  await once(request, "end");
  return said;
}

const digestOf = (said: string) => hash("sha256", said);
const statusIn = (said: string) => Number(said.slice(9, 12));
const bodyIn = (said: string) => said.slice(said.indexOf("\r\n\r\n") + 4);
/** Chunks of one to `most` characters, some of several bytes. */
function chunksOf(count: number, most: number): string[] {
  return Array.from({ length: count }, (_, n) => "aé€".charAt(n % 3).repeat(1 + ((n * 7) % most)));
}

test.for([
  ["/late", 900, 3],
  ["/late", 3_000, 200],
  ["/late-stream", 900, 3],
  ["/late-stream", 3_000, 200],
] as const)(
  "a body to %s in %i chunks of up to %i characters is read as it was written",
  async ([path, count, most], { service: { post, late } }) => {
    const chunks = chunksOf(count, most);
    const answered = post(path, chunks);
    await expect.poll(() => late.length, { interval: 1 }).toBe(1);
    for (let turn = 0; turn < 50; turn += 1) await nextTurn();
    late[0]?.read();
    expect(JSON.parse(bodyIn(await answered))).toBe(digestOf(chunks.join("")));
  },
);

test("what nobody reads yet is kept in a few pieces", async ({ service: { post, late } }) => {
  const answered = post("/late", "x".repeat(900));
  await expect.poll(() => late.length, { interval: 1 }).toBe(1);
  const { request, read } = late[0] as (typeof late)[0];
  await expect.poll(() => request.complete, { interval: 1 }).toBe(true);
  expect(request.readableLength).toBeLessThan(20);
  read();
  expect(JSON.parse(bodyIn(await answered))).toBe(digestOf("x".repeat(900)));
});

test.for(["/read", "/drained"])(
  "to %s, too many chunks for the length are 400",
  async (path, { service: { post } }) => {
    const said = await post(path, JSON.stringify("x".repeat(20_000)));
    expect(statusIn(said)).toBe(400);
    expect(said).toMatch(/connection: close/i);
    expect(JSON.parse(bodyIn(said))).toEqual({ error: "The body comes in too many chunks for its length." });
  },
);

test("connections that come after such bodies have theirs read, and nothing after these is taken for a request", async ({
  service: { post },
}) => {
  const next = "0\r\n\r\nPOST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}";
  for (let round = 0; round < 20; round += 1) {
    for (const path of ["/read", "/ignored", "/drained"]) {
      const said = await post(path, [...JSON.stringify("x".repeat(5_000)), next], true);
      expect(said.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    }
    expect(
      bodyIn(
        await post(
          "/read",
          chunksOf(50, 100)
            .map((chunk) => chunk.replaceAll(/./g, " "))
            .concat('{"a":1}'),
        ),
      ),
    ).toBe('{"a":1}');
  }
});

test("a hundred at once, which take longer to parse than one turn may, are all read", async ({ service: { post } }) => {
  const said = JSON.stringify("x".repeat(63));
  const chunks = ["[", ...Array.from({ length: 5_000 }, () => `${said},`), `${said}]`];
  const answers = await Promise.all(Array.from({ length: 100 }, () => post("/drained", chunks)));
  expect(answers.map(statusIn)).toEqual(Array.from({ length: 100 }, () => 200));
});
