import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { createApp, errorHandler, type Listening, listen } from "../../shared/http.ts";
import { type HttpLimits, usualHttpLimits } from "../../shared/http-limits.ts";
import { createLog } from "../../shared/log.ts";
import { jsonBody } from "../../shared/request-body.ts";

const running: Listening[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const service of running.splice(0)) await service.stop();
});

/** A service that takes two megabytes at /said and answers /late when it is told to. */
async function start(limits: Partial<HttpLimits> = {}, trustProxy: boolean | string = false) {
  const app = createApp({ trustProxy, http: { ...usualHttpLimits, ...limits } });
  let finish: () => void = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  app.get("/health", (_request, response) => void response.json({}));
  app.get("/late", async (_request, response) => {
    await finished;
    response.json({});
  });
  app.post("/said", jsonBody({ bytesMax: 2_000_000 }), (request, response) => {
    response.json({ length: String(request.body).length });
  });
  app.use(errorHandler(createLog("test", "silent")));
  const service = await listen(app, { host: "127.0.0.1", port: 0 });
  running.push(service);
  return { service, finish };
}

/** A connection on which something was said, and all that is heard on it. */
async function say({ port }: Listening, said: string): Promise<{ socket: Socket; heard: () => string }> {
  const socket = connect(port, "127.0.0.1");
  let heard = "";
  socket.on("error", () => {}).on("data", (chunk) => (heard += chunk));
  sockets.push(socket);
  await once(socket, "connect");
  socket.write(said);
  return { socket, heard: () => heard };
}

const upload = (length: number, from = "192.0.2.1") =>
  `POST /said HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${from}\r\nContent-Length: ${length}\r\n\r\n`;

async function said(service: Listening, length: number, from = "192.0.2.1"): Promise<number> {
  const headers = { "x-forwarded-for": from };
  const answer = await fetch(`${service.url}/said`, {
    method: "POST",
    headers,
    body: JSON.stringify("x".repeat(length)),
  });
  if (answer.status === 503) expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  return answer.status;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test("a request with two Host headers is refused and its connection closed", async () => {
  const { service } = await start();
  const { socket, heard } = await say(service, "GET /health HTTP/1.1\r\nHost: a\r\nhOST: b\r\n\r\n");
  await once(socket, "close");
  expect(heard()).toMatch(/^HTTP\/1\.1 400 .*more than one Host/s);
});

test("a body that is too large is answered and not read on", async () => {
  const { service } = await start();
  const { socket, heard } = await say(service, upload(500_000_000));
  let sent = 0;
  const chunk = Buffer.alloc(1_000_000, " ");
  const more = () => {
    while (sent < 500_000_000 && !socket.destroyed && socket.write(chunk)) sent += chunk.length;
  };
  socket.on("drain", more);
  more();
  await once(socket, "close");
  expect(heard()).toMatch(/^HTTP\/1\.1 413 /);
  expect(heard().toLowerCase()).toContain("connection: close");
  expect(sent).toBeLessThan(50_000_000);
});

test("a body that stops coming is given up", async () => {
  const { service } = await start();
  const { socket, heard } = await say(service, `${upload(1_000)}{`);
  await once(socket, "close");
  expect(heard()).toMatch(/^HTTP\/1\.1 408 /);
});

test("at its limit of connections an address loses its idlest one, and no other", async () => {
  const { service, finish } = await start({ connectionsPerAddress: 5 });
  const late = await say(service, "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
  await pause(50);
  const idle = [];
  for (let one = 0; one < 4; one += 1) idle.push(await say(service, "GET /half HTTP/1.1\r\n"));
  const { socket, heard } = await say(service, "GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  await once(socket, "close");
  expect(heard()).toMatch(/^HTTP\/1\.1 200 /);
  await pause(50);
  expect(idle.map(({ socket }) => socket.destroyed)).toEqual([true, false, false, false]);
  finish();
  await once(late.socket, "data");
  expect(late.heard()).toMatch(/^HTTP\/1\.1 200 /);
});

test("while all of an address's connections are being answered, one more is closed", async () => {
  const { service, finish } = await start({ connectionsPerAddress: 3 });
  const asked = await Promise.all([1, 2, 3].map(() => say(service, "GET /late HTTP/1.1\r\nHost: x\r\n\r\n")));
  await pause(50);
  const { socket } = await say(service, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
  await once(socket, "close");
  finish();
  await Promise.all(asked.map(({ socket }) => once(socket, "data")));
});

test("connections of a trusted proxy are not counted", async () => {
  const { service } = await start({ connectionsPerAddress: 2 }, "loopback");
  const idle = [];
  for (let one = 0; one < 10; one += 1) idle.push(await say(service, ""));
  expect((await fetch(`${service.url}/health`)).status).toBe(200);
  expect(idle.every(({ socket }) => !socket.destroyed)).toBe(true);
});

test("who fills their share of the memory for bodies waits for it, and nobody else does", async () => {
  const { service } = await start({ bodyBytes: 4_000_000 }, "loopback");
  // The oldest may go on, whatever it is; these hold what they have.
  const oldest = await say(service, `${upload(1_900_000)}"${"x".repeat(1_700_000)}`);
  const second = await say(service, `${upload(1_900_000)}"${"x".repeat(400_000)}`);
  await pause(200);
  expect(await said(service, 1_000)).toBe(200);
  expect(await said(service, 1_000_000, "192.0.2.2")).toBe(200);
  expect(await said(service, 1_000_000)).toBe(503);
  const waiting = said(service, 1_000_000);
  await pause(200);
  oldest.socket.destroy();
  expect(await waiting).toBe(200);
  second.socket.destroy();
  expect(await said(service, 1_900_000)).toBe(200);
}, 60_000);

test("large bodies that come together take turns, and none is refused", async () => {
  const { service } = await start({ bodyBytes: 4_000_000 });
  const statuses = await Promise.all(Array.from({ length: 20 }, () => said(service, 1_900_000)));
  expect(statuses).toEqual(Array(20).fill(200));
});

test("an address may have so many large bodies at a time", async () => {
  const { service } = await start({ largeBodiesPerAddress: 2 }, "loopback");
  for (let one = 0; one < 2; one += 1) await say(service, `${upload(1_000_000)}"${"x".repeat(100_000)}`);
  await pause(100);
  expect(await said(service, 100_000)).toBe(503);
  expect(await said(service, 1_000)).toBe(200);
  expect(await said(service, 100_000, "192.0.2.2")).toBe(200);
});
