import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import type { RequestHandler } from "express";
import { test as base, expect, vi } from "vitest";
import { BodyBudget, type HeldBody } from "../../shared/body-budget.ts";
import { ApiError } from "../../shared/errors.ts";
import { createApp, errorHandler, type Listening, listen } from "../../shared/http.ts";
import { type HttpLimits, usualHttpLimits } from "../../shared/http-limits.ts";
import { createLog } from "../../shared/log.ts";
import { jsonBody } from "../../shared/request-body.ts";
import { onceClosed } from "../../shared/response-closed.ts";
import { elapse } from "../support/elapse.ts";

/**
 * A service that takes two megabytes at /said, answers /late when it is told to, and /never never. `bodyWaitMs`: how long a body
 * waits for room, where that is not to depend on the machine.
 */
async function serve(
  limits: Partial<HttpLimits> = {},
  { trustProxy = false, bodyWaitMs }: { trustProxy?: boolean | string; bodyWaitMs?: number } = {},
) {
  const http = { ...usualHttpLimits, ...limits };
  const app = createApp({ trustProxy, http });
  const budget = new WatchedBudget(http, bodyWaitMs);
  app.locals.bodyBudget = budget;
  const sockets = new Set<Socket>();
  let latest: IncomingMessage | undefined;
  app.use((request, _response, next) => {
    sockets.add(request.socket);
    latest = request;
    next();
  });
  let finish: () => void = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  app.get("/health", (_request, response) => void response.json({}));
  let asked = 0;
  app.get("/late", async (_request, response) => {
    asked += 1;
    await finished;
    response.json({});
  });
  let endStream: () => void = () => {};
  app.get("/stream", (_request, response) => {
    response.write("begun");
    endStream = () => response.end("ended");
  });
  let waiting = 0;
  app.get("/sending", (_request, response) => {
    response.json({ connections: [...sockets].filter((socket) => socket.writableLength > 0).length });
  });
  app.get("/waiting", (_request, response) => void response.json({ waiting }));
  app.get("/never", (_request, response) => {
    waiting += 1;
    onceClosed(response, () => (waiting -= 1));
  });
  app.get("/cut", (request) => void request.socket.destroy());
  app.get("/large", (_request, response) => {
    asked += 1;
    response.end(Buffer.alloc(30_000_000));
  });
  const keep: RequestHandler = async (_request, response) => {
    asked += 1;
    await finished;
    response.json({});
  };
  app.post("/kept", jsonBody({ bytesMax: 2_000_000 }), keep);
  // The body has come before it is read.
  app.post(
    "/kept-later",
    async (_request, _response, next) => {
      await elapse(50, "its body has come");
      next();
    },
    jsonBody({ bytesMax: 2_000_000 }),
    keep,
  );
  app.post("/said", jsonBody({ bytesMax: 2_000_000 }), (request, response) => {
    response.json({ length: String(request.body).length });
  });
  let refused: IncomingMessage | undefined;
  app.post("/refused", (request) => {
    refused = request;
    throw new ApiError("forbidden", "Not from here.");
  });
  app.use(errorHandler(createLog("test", "silent")));
  return {
    service: await listen(app, { host: "127.0.0.1", port: 0 }),
    finish,
    asked: () => asked,
    /** Bytes that have come on all connections. */
    received: () => [...sockets].reduce((sum, { bytesRead }) => sum + bytesRead, 0),
    /** Connections that are not closed. */
    connected: () => [...sockets].filter(({ destroyed }) => !destroyed).length,
    waits: () => budget.waits,
    /** The request that came last. */
    latest: () => latest,
    refused: () => refused,
    endStream: () => endStream(),
  };
}

/** Counts how often a body had to wait for room. */
class WatchedBudget extends BodyBudget {
  waits = 0;

  override open(...given: Parameters<BodyBudget["open"]>): HeldBody {
    const body = super.open(...given);
    return {
      ...body,
      grow: (bytes) => {
        const room = body.grow(bytes);
        if (room) this.waits += 1;
        return room;
      },
    };
  }
}

interface Fixtures {
  /** Services and connections of this test alone, which end with it. */
  readonly start: typeof serve;
  /** `allowHalfOpen`: it does not close when the service does. */
  readonly open: (service: Listening, allowHalfOpen?: boolean) => Socket;
  /** A connection on which something was said, and all that is heard on it. */
  readonly say: (
    service: Listening,
    said: string,
    allowHalfOpen?: boolean,
  ) => Promise<{ readonly socket: Socket; readonly heard: () => string }>;
}

const alone = base.extend<Fixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from it what a fixture needs
  start: async ({}, use) => {
    const running: Listening[] = [];
    await use(async (...given) => {
      const started = await serve(...given);
      running.push(started.service);
      return started;
    });
    for (const service of running) await service.stop();
  },
  open: async ({ start: _ }, use) => {
    const sockets: Socket[] = [];
    await use(({ port }, allowHalfOpen = false) => {
      const socket = connect({ port, host: "127.0.0.1", allowHalfOpen }).on("error", () => {});
      sockets.push(socket);
      return socket;
    });
    for (const socket of sockets) socket.destroy();
  },
  say: async ({ open }, use) => {
    await use(async (service, said, allowHalfOpen) => {
      const socket = open(service, allowHalfOpen);
      let heard = "";
      socket.on("data", (chunk) => (heard += chunk));
      await once(socket, "connect");
      socket.write(said);
      return { socket, heard: () => heard };
    });
  },
});
/** Most of these wait, so they do it together. */
const test = alone.concurrent;

const upload = (length: number, from = "192.0.2.1") =>
  `POST /said HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${from}\r\nContent-Length: ${length}\r\n\r\n`;

async function said(service: Listening, length: number, from = "192.0.2.1"): Promise<number> {
  const headers = { "x-forwarded-for": from };
  const answer = await fetch(`${service.url}/said`, {
    method: "POST",
    headers,
    body: JSON.stringify("x".repeat(length)),
  });
  if (answer.status === 503 || answer.status === 429)
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  return answer.status;
}

/** Tests that run together have no `expect.poll`. */
const eventually = (holds: () => unknown) => vi.waitFor(holds, { timeout: 60_000, interval: 10 });

test("the address of a service on IPv6 is one to call", async ({ onTestFinished }) => {
  const service = await listen(createApp({ trustProxy: false }), { host: "::1", port: 0 });
  onTestFinished(() => service.stop());
  expect((await fetch(service.url)).status).toBe(404);
});

test("a request with two Host headers is refused and its connection closed", async ({ start, say }) => {
  const { service } = await start();
  const { socket, heard } = await say(service, "GET /health HTTP/1.1\r\nHost: a\r\nhOST: b\r\n\r\n");
  await once(socket, "close");
  expect(heard()).toMatch(/^HTTP\/1\.1 400 .*more than one Host/s);
});

test("a body that is too large is answered and not read on", async ({ start, say }) => {
  const { service } = await start();
  const { socket, heard } = await say(service, upload(500_000_000));
  let sent = 0;
  const chunk = Buffer.alloc(1_000_000, " ");
  const more = () => {
    while (sent < 500_000_000 && !socket.destroyed && socket.write(chunk)) sent += chunk.length;
  };
  socket.on("drain", more);
  // What it still wrote when the service closed has nowhere to go.
  socket.on("error", () => {});
  const closed = new Promise((resolve) => socket.once("close", resolve));
  more();
  await closed;
  expect(heard()).toMatch(/^HTTP\/1\.1 413 /);
  expect(heard().toLowerCase()).toContain("connection: close");
  expect(sent).toBeLessThan(50_000_000);
});

test.for<[number, string]>([
  [413, "/said"],
  [403, "/refused"],
])(
  "what follows a body's first piece is thrown away unparsed once %i was answered, at %s",
  async ([status, path], { start, say }) => {
    const { service, latest } = await start();
    const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 15000000\r\n\r\n`;
    const { socket, heard } = await say(service, head + " ".repeat(15_000_000));
    await eventually(() => expect(socket.closed).toBe(true));
    expect(heard()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} .*connection: close`, "is"));
    // Its end was never parsed.
    expect([latest()?.complete, latest()?.readableLength]).toEqual([false, 0]);
  },
);

test.for(["/said", "/refused"])(
  "a client that reads no answer before it has sent all of its body is answered why %s refused it",
  async (path, { start, open }) => {
    const { service } = await start();
    const socket = open(service).pause();
    let failed: Error | undefined;
    socket.on("error", (error) => (failed = error));
    socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 15000000\r\n\r\n`);
    await new Promise<unknown>((resolve) => socket.write(Buffer.alloc(15_000_000, " "), resolve));
    expect(failed).toBeUndefined();
    let heard = "";
    socket.on("data", (data) => (heard += data)).resume();
    await once(socket, "end");
    expect(heard).toMatch(/^HTTP\/1\.1 (413|403) /);
  },
);

test("of a body that comes with a request which is refused nothing is kept, and its connection is closed", async ({
  start,
  say,
}) => {
  const { service, refused } = await start();
  const chunked = "POST /refused HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  const { socket, heard } = await say(service, chunked + "1\r\n \r\n".repeat(100_000));
  await eventually(() => expect(socket.closed).toBe(true));
  expect(heard()).toMatch(/^HTTP\/1\.1 403 .*connection: close/is);
  expect(refused()?.readableLength).toBe(0);
});

test("a body that stops coming is given up", async ({ start, say }) => {
  const { service } = await start();
  const { socket, heard } = await say(service, `${upload(1_000)}{`);
  await once(socket, "close");
  expect(heard()).toMatch(/^HTTP\/1\.1 408 /);
});

test("at its limit of connections an address loses its idlest one, and no other", async ({ start, say }) => {
  const { service, finish, asked } = await start({ connectionsPerAddress: 5 });
  const late = await say(service, "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
  await eventually(() => expect(asked()).toBe(1));
  const idle: Array<Awaited<ReturnType<typeof say>>> = [];
  for (let one = 0; one < 4; one += 1) idle.push(await say(service, "GET /half HTTP/1.1\r\n"));
  const { socket, heard } = await say(service, "GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  await once(socket, "close");
  expect(heard()).toMatch(/^HTTP\/1\.1 200 /);
  await eventually(() => expect(idle.map(({ socket }) => socket.destroyed)).toEqual([true, false, false, false]));
  finish();
  await once(late.socket, "data");
  expect(late.heard()).toMatch(/^HTTP\/1\.1 200 /);
});

test("while all of an address's connections are being answered, one more is closed", async ({ start, say }) => {
  const { service, finish, asked } = await start({ connectionsPerAddress: 3 });
  const late = await Promise.all([1, 2, 3].map(() => say(service, "GET /late HTTP/1.1\r\nHost: x\r\n\r\n")));
  await eventually(() => expect(asked()).toBe(3));
  const { socket } = await say(service, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
  await once(socket, "close");
  finish();
  await Promise.all(late.map(({ socket }) => once(socket, "data")));
});

test("connections of a trusted proxy are not counted", async ({ start, say }) => {
  const { service } = await start({ connectionsPerAddress: 2 }, { trustProxy: "loopback" });
  const idle = [];
  for (let one = 0; one < 10; one += 1) idle.push(await say(service, ""));
  expect((await fetch(`${service.url}/health`)).status).toBe(200);
  expect(idle.every(({ socket }) => !socket.destroyed)).toBe(true);
});

test("who fills their share of the memory for bodies waits for it, and nobody else does", async ({ start, say }) => {
  const { service, waits } = await start({ bodyBytes: 4_000_000 }, { trustProxy: "loopback" });
  // The oldest may go on, whatever it is; these hold what they have.
  const oldest = await say(service, `${upload(1_900_000)}"${"x".repeat(1_700_000)}`);
  const second = await say(service, `${upload(1_900_000)}"${"x".repeat(400_000)}`);
  await eventually(async () => expect(await said(service, 1_000_000)).toBe(429));
  expect(await said(service, 1_000)).toBe(200);
  expect(await said(service, 1_000_000, "192.0.2.2")).toBe(200);
  const earlier = waits();
  const waiting = said(service, 1_000_000);
  await eventually(() => expect(waits()).toBeGreaterThan(earlier));
  oldest.socket.destroy();
  expect(await waiting).toBe(200);
  second.socket.destroy();
  expect(await said(service, 1_900_000)).toBe(200);
});

test("large bodies that come together take turns, and none is refused", async ({ start }) => {
  const { service } = await start({ bodyBytes: 4_000_000 }, { bodyWaitMs: 60_000 });
  const statuses = await Promise.all(Array.from({ length: 20 }, () => said(service, 1_900_000)));
  expect(statuses).toEqual(Array(20).fill(200));
});

test("an address may have so many large bodies at a time", async ({ start, say }) => {
  const { service } = await start({ largeBodiesPerAddress: 2 }, { trustProxy: "loopback" });
  for (let one = 0; one < 2; one += 1) await say(service, `${upload(1_000_000)}"${"x".repeat(100_000)}`);
  await eventually(async () => expect(await said(service, 100_000)).toBe(429));
  expect(await said(service, 1_000)).toBe(200);
  expect(await said(service, 100_000, "192.0.2.2")).toBe(200);
});

test("a connection is closed when its client takes nothing of an answer, and no other", async ({
  start,
  open,
  say,
}) => {
  // Reader and service are one process: where it stood still for a second, nobody has read, and it is tried again.
  for (;;) {
    const { service, finish } = await start({ unreadSeconds: 1 });
    const large = "GET /large HTTP/1.1\r\nHost: x\r\n\r\n";
    const [unread, slow] = [open(service), open(service)];
    unread.pause().write(large);
    slow.pause().write(large);
    const late = await say(service, "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
    // By the clock, so that it takes as much where a busy machine wakes it seldom.
    const startedAt = performance.now();
    const isAhead = () => taken > (performance.now() - startedAt) * 6_000;
    let taken = 0;
    let wokenAt = startedAt;
    let longestStandstillMs = 0;
    slow.on("data", (chunk) => {
      taken += chunk.length;
      if (isAhead()) slow.pause();
    });
    slow.pause();
    const reading = setInterval(() => {
      longestStandstillMs = Math.max(longestStandstillMs, performance.now() - wokenAt);
      wokenAt = performance.now();
      if (!isAhead()) slow.resume();
    }, 10);
    await elapse(4_000, "several times as long as an answer may be left unread");
    clearInterval(reading);
    finish();
    await once(late.socket, "data");
    slow.removeAllListeners("data").resume();
    unread.resume();
    await once(unread, "close");
    expect(unread.bytesRead).toBeLessThan(30_000_000);
    if (longestStandstillMs > 500) continue;
    expect(taken).toBeGreaterThan(1_000_000);
    await eventually(() => expect(slow.bytesRead).toBeGreaterThan(30_000_000));
    return;
  }
});

alone(
  "while large answers that were made together wait unread, who takes none is not waited for, and who reads is",
  async ({ start, open }) => {
    const { service, asked } = await start();
    const large = "GET /large HTTP/1.1\r\nHost: x\r\n\r\n";
    const begunAt = performance.now();
    const unread = Array.from({ length: 6 }, () => open(service).pause());
    const slow = open(service).pause();
    for (const socket of [...unread, slow]) socket.write(large);
    await eventually(() => expect(asked()).toBe(7));
    slow.on("data", () => {
      if (slow.bytesRead < (performance.now() - begunAt) * 1_500) return;
      slow.pause();
      void elapse(20, "a client that reads, though slowly").then(() => slow.resume());
    });
    slow.resume();
    await eventually(async () => {
      const { connections } = (await (await fetch(`${service.url}/sending`)).json()) as { connections: number };
      expect(connections).toBeLessThanOrEqual(4);
    });
    expect(performance.now() - begunAt).toBeLessThan(20_000);
    await eventually(() => expect(slow.bytesRead).toBeGreaterThan(30_000_000));
  },
);

test.for([13, 60_000])("%i bytes that come in two pieces are no large body", async (length, { start, say }) => {
  const { service, finish, asked, received } = await start({ largeBodiesPerAddress: 2 });
  const body = JSON.stringify("x".repeat(length - 2));
  const half = Math.floor(length / 2);
  const request = `POST /kept HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`;
  const posts = await Promise.all(Array.from({ length: 20 }, () => say(service, request + body.slice(0, half))));
  await eventually(() => expect(received()).toBe(20 * (request.length + half)));
  for (const { socket } of posts) socket.write(body.slice(half));
  await eventually(() => expect(asked()).toBe(20));
  finish();
  const statuses = posts.map(async ({ socket, heard }) => {
    if (!heard()) await once(socket, "data");
    return heard().slice(0, 12);
  });
  expect(await Promise.all(statuses)).toEqual(Array(20).fill("HTTP/1.1 200"));
});

test("bodies of many small parts wait for the room that they take parsed, also those that came whole", async ({
  start,
  say,
}) => {
  const { service, finish, asked } = await start({ bodyBytes: 4_000_000 }, { bodyWaitMs: 500 });
  const body = `[${"[],".repeat(6_000)}1]`;
  const post = `POST /kept-later HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const posts = await Promise.all(Array.from({ length: 8 }, () => say(service, post)));
  const answered = (status: number) => posts.filter(({ heard }) => heard().startsWith(`HTTP/1.1 ${status}`)).length;
  await eventually(() => expect(answered(429) + asked()).toBe(8));
  expect(asked()).toBeGreaterThan(0);
  expect(asked()).toBeLessThan(6);
  finish();
  await eventually(() => expect(answered(200)).toBe(asked()));
});

test("uploads that fill the memory for bodies and drip are given up for those who wait for room", async ({
  start,
  say,
}) => {
  const { service, waits } = await start({ bodyBytes: 4_000_000 }, { trustProxy: "loopback" });
  const dripping: Array<Awaited<ReturnType<typeof say>>> = [];
  for (const from of ["192.0.2.3", "192.0.2.4", "192.0.2.5"]) {
    dripping.push(await say(service, `${upload(1_900_000, from)}"${"x".repeat(1_400_000)}`));
  }
  await eventually(() => expect(waits()).toBeGreaterThan(0));
  const drip = setInterval(() => {
    for (const { socket } of dripping) socket.write("x");
  }, 500);
  try {
    const answers = await Promise.all([said(service, 1_000, "192.0.2.6"), said(service, 1_900_000, "192.0.2.6")]);
    expect(answers).toEqual([200, 200]);
  } finally {
    clearInterval(drip);
  }
  await eventually(() => expect(dripping.map(({ heard }) => heard().slice(0, 12))).toContain("HTTP/1.1 408"));
});

test("a body behind another request takes no memory before its turn", async ({ start, say }) => {
  const { service, finish, asked } = await start({ bodyBytes: 4_000_000 }, { trustProxy: "loopback" });
  // The oldest would be let through whatever is counted.
  const oldest = await say(service, `${upload(1_900_000, "192.0.2.9")}"${"x".repeat(100_000)}`);
  const late = "GET /late HTTP/1.1\r\nHost: x\r\n\r\n";
  const { heard } = await say(service, `${late}${upload(1_900_000)}"${"x".repeat(1_899_998)}"`);
  await eventually(() => expect(asked()).toBe(1));
  expect(await said(service, 1_500_000)).toBe(200);
  finish();
  await eventually(() => expect(heard()).toMatch(/200 OK.*200 OK.*{"length":1899998}/s));
  oldest.socket.destroy();
});

test("what a connection asks for while it is being answered is not begun once it has ended", async ({ start, say }) => {
  const { service } = await start();
  const waiting = async () => (await (await fetch(`${service.url}/waiting`)).json()) as object;
  const { socket } = await say(service, "GET /never HTTP/1.1\r\nHost: x\r\n\r\n".repeat(5));
  await eventually(async () => expect(await waiting()).toEqual({ waiting: 1 }));
  socket.destroy();
  await eventually(async () => expect(await waiting()).toEqual({ waiting: 0 }));
  expect(await waiting()).toEqual({ waiting: 0 });
});

test("a server that leaves answers everybody, and asks each client to come back by another connection", async ({
  start,
  say,
}) => {
  const { service, finish, asked } = await start();
  const waiting = await say(service, "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
  const idle = await say(service, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
  await eventually(() => expect([asked(), idle.heard().includes("200 OK")]).toEqual([1, true]));
  expect(idle.heard()).toMatch(/connection: keep-alive/i);
  await service.leave(0);
  finish();
  idle.socket.write("GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
  const fresh = await say(service, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
  for (const { socket, heard } of [waiting, idle, fresh]) {
    if (!socket.closed) await once(socket, "close");
    expect(heard()).toMatch(/HTTP\/1\.1 200 OK(?!.*HTTP\/1\.1).*connection: close/is);
  }
  const kept = await say(service, "");
  await service.stop();
  await eventually(() => expect(kept.socket.closed).toBe(true));
  await expect(fetch(`${service.url}/health`)).rejects.toThrow();
});

test("an answer that had begun before its server left goes on to its end, and its client may ask once more", async ({
  start,
  say,
}) => {
  const { service, endStream } = await start();
  const { socket, heard } = await say(service, "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  await eventually(() => expect(heard()).toContain("begun"));
  await service.leave(0);
  const stopped = service.stop();
  endStream();
  await eventually(() => expect(heard()).toContain("ended"));
  socket.write("GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
  await once(socket, "close");
  expect(heard().match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
  await stopped;
});

test("a client that is just using an idle connection when its server closes is answered, and asked to leave", async ({
  start,
  say,
}) => {
  const { service } = await start();
  const { socket, heard } = await say(service, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
  await eventually(() => expect(heard()).toMatch(/200 OK.*connection: keep-alive/is));
  await service.leave(0);
  const stopped = service.stop();
  socket.write("GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
  await once(socket, "close");
  expect(heard().match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
  expect(heard()).toMatch(/connection: close/i);
  await stopped;
});

test("eight requests of a connection may wait for their answers, which come in order; with one more, theirs are its last", async ({
  start,
  say,
}) => {
  const { service, finish, asked } = await start();
  const late = "GET /late HTTP/1.1\r\nHost: x\r\n\r\n";
  const health = "GET /health HTTP/1.1\r\nHost: x\r\n\r\n";
  const waiting = "GET /waiting HTTP/1.1\r\nHost: x\r\n\r\n";
  const eight = await say(service, late + (waiting + health).repeat(3) + waiting);
  await eventually(() => expect(asked()).toBe(1));
  const nine = await say(service, `${late.repeat(9)}CONNECT x HTTP/1.1\r\nHost: x\r\n\r\n`);
  await eventually(() => expect(asked()).toBe(2));
  finish();
  await once(nine.socket, "end");
  expect(nine.heard().match(/HTTP\/1\.1 200 /g)).toHaveLength(8);
  expect(nine.heard()).toMatch(/^(.*connection: keep-alive){7}.*connection: close/is);
  expect(asked()).toBe(9);
  await eventually(() => expect(eight.heard().match(/HTTP\/1\.1 200 /g)).toHaveLength(8));
  const bodies = ["{}", '{"waiting":0}'];
  expect(eight.heard().match(/\{.*?\}/g)).toEqual([...bodies, ...bodies, ...bodies, ...bodies]);
  // Answered, they count no more.
  eight.socket.write(health.repeat(8));
  await eventually(() => expect(eight.heard().match(/HTTP\/1\.1 200 /g)).toHaveLength(16));
});

test("a client that takes no answer has one made for it, whatever else it asks for", async ({ start, open }) => {
  const { service, asked } = await start();
  const unread = open(service).pause();
  unread.write("GET /large HTTP/1.1\r\nHost: x\r\n\r\n".repeat(3));
  await eventually(() => expect(asked()).toBe(1));
  for (let turn = 0; turn < 20; turn += 1) await fetch(`${service.url}/health`);
  expect(asked()).toBe(1);
  unread.resume();
  await eventually(() => expect(unread.bytesRead).toBeGreaterThan(3 * 30_000_000));
});

test("a request without a Host header is refused and its connection closed, unless it is of HTTP/1.0", async ({
  start,
  say,
}) => {
  const { service } = await start();
  const { socket, heard } = await say(service, "GET /health HTTP/1.1\r\n\r\n");
  await once(socket, "close");
  expect(heard()).toMatch(/^HTTP\/1\.1 400 .*connection: close.*no Host/is);
  const old = await say(service, "GET /health HTTP/1.0\r\n\r\n");
  await once(old.socket, "close");
  expect(old.heard()).toMatch(/^HTTP\/1\.1 200 /);
});

alone("so many connections may wait for their clients to read why they were refused", async ({ start, say }) => {
  const { service, connected } = await start();
  const head = "POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: 15000000\r\n\r\n";
  // They neither go on nor close.
  const all = await Promise.all(Array.from({ length: 520 }, () => say(service, head, true)));
  // They wait five seconds: on a busy machine the first have gone before the last are refused.
  let most = 0;
  await eventually(() => {
    most = Math.max(most, connected());
    expect(all.every(({ heard }) => heard().startsWith("HTTP/1.1 403 "))).toBe(true);
  });
  await fetch(`${service.url}/health`);
  expect(connected()).toBeLessThanOrEqual(501);
  expect(most).toBeGreaterThan(250);
});

const nine = [9];
alone.for<[string, readonly number[], string]>([
  ["asks back to back", nine, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n"],
  ["names no host", nine, "GET / HTTP/1.1\r\n\r\n"],
  ["expects what there is not", nine, "GET /health HTTP/1.1\r\nHost: x\r\nExpect: more\r\n\r\n"],
  // As many as the others where the first waits for its turn.
  ["is cut by its first answer", [2, ...nine], "GET /cut HTTP/1.1\r\nHost: x\r\n\r\n"],
])(
  "of a connection that %s, nine requests are read at most, and others are answered meanwhile",
  async ([_name, counts, one], { start, say, onTestFinished }) => {
    const { service } = await start();
    const read = new Map<number | undefined, number>();
    const count = (message: unknown) => {
      const { remotePort } = (message as { request: IncomingMessage }).request.socket;
      read.set(remotePort, (read.get(remotePort) ?? 0) + 1);
    };
    subscribe("http.server.request.start", count);
    onTestFinished(() => void unsubscribe("http.server.request.start", count));
    const sockets: Socket[] = [];
    const ports: Array<number | undefined> = [];
    for (let round = 0; round < 10; round += 1) {
      const { socket } = await say(service, one.repeat(20_000));
      sockets.push(socket);
      ports.push(socket.localPort);
      expect((await fetch(`${service.url}/health`)).status).toBe(200);
    }
    await eventually(() => expect(sockets.every(({ closed }) => closed)).toBe(true));
    for (const port of ports) expect(counts).toContain(read.get(port));
  },
);
