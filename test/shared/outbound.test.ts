import type { RequestListener, ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  createOutbound,
  type Outbound,
  OutboundFailedError,
  OutboundRefusedError,
  type Resolve,
} from "../../shared/outbound.ts";
import { addressProblem } from "../../shared/public-address.ts";
import { type HttpServer, startHttpServer } from "../support/http-server.ts";
import { type Listener, startListener } from "../support/listener.ts";

const ask = { timeoutMs: 2_000, bytesMax: 100_000 };
let listener: Listener;
let answer: RequestListener;
let server: HttpServer;
let open: Outbound;
let base: string;
let seen: Array<{ url: string | undefined; headers: Record<string, unknown> }> = [];

beforeAll(async () => {
  listener = await startListener();
  server = await startHttpServer((request, response) => {
    seen.push({ url: request.url, headers: request.headers });
    answer(request, response);
  });
  base = server.url;
  open = createOutbound({ allowHosts: [server.host] });
});
afterEach(() => {
  seen = [];
});
afterAll(async () => {
  await open.stop();
  await server.stop();
  await listener.stop();
});

/** With a port that the guard would accept, so that the address alone decides; nothing listens on 80 here. */
const literals = [
  "127.0.0.1",
  "127.1",
  "2130706433",
  "0x7f.1",
  "0x7f000001",
  "0177.0.0.1",
  "017700000001",
  "①②⑦.⓪.⓪.①",
  "127.0.0.1.",
  "0",
  "0.0.0.0",
  "[::]",
  "[::1]",
  "[::ffff:127.0.0.1]",
  "[0:0:0:0:0:ffff:127.0.0.1]",
  "[::127.0.0.1]",
  "[::a9fe:a9fe]",
  "[::1:0:0]",
  "[::ffff:a9fe:a9fe]",
  "[64:ff9b::7f00:1]",
  "[64:ff9b:1::7f00:1]",
  "[2002:7f00:1::]",
  "[2001:0:7f00:1::]",
  "[fd00:ec2::254]",
  "[fe80::1]",
  "[fec0::1]",
  "[ff02::1]",
  "[2001:db8::1]",
  "169.254.169.254",
  "168.63.129.16",
  "100.100.100.200",
  "10.0.0.1",
  "172.16.0.1",
  "192.168.1.1",
  "192.0.0.1",
  "198.18.0.1",
  "224.0.0.1",
  "255.255.255.255",
];

describe("the guard refuses before anything connects", () => {
  const guarded = createOutbound({
    denyHosts: ["market.example.com"],
    resolve: async () => [{ address: "127.0.0.1", family: 4 }],
  });
  afterAll(() => guarded.stop());

  test.each(literals)("the address %s", async (host) => {
    const before = listener.connections();
    for (const url of [`http://${host}/`, `https://${host}/`, `http://${host}:${listener.port}/`]) {
      await expect(guarded.fetch(url, ask)).rejects.toBeInstanceOf(OutboundRefusedError);
      expect(() => guarded.check(url)).toThrow(OutboundRefusedError);
    }
    expect(listener.connections()).toBe(before);
  });

  test.each([
    "localhost",
    "LOCALHOST.",
    "a.localhost",
    "printer",
    "metadata.google.internal",
    "db.local",
    "x.onion",
    "host.test",
    "market.example.com",
    "MARKET.example.com.",
  ])("the name %s", async (host) => {
    await expect(guarded.fetch(`http://${host}/`, ask)).rejects.toBeInstanceOf(OutboundRefusedError);
  });

  test.each([
    "user@127.0.0.1",
    "http://user:pw@github.com/",
    "http://good.example@127.0.0.1/",
    "https://good.example#@127.0.0.1/",
    "http://127.0.0.1#@github.com/",
    "http://127.0.0.1\\@github.com/",
    "ftp://github.com/",
    "file:///etc/passwd",
    "gopher://github.com/",
    "data:text/plain,x",
    "javascript:1",
    "//github.com/",
    "github.com",
    "",
    "http://github.com:22/",
    "http://github.com:8080/",
    `http://github.com/${"x".repeat(2_100)}`,
  ])("the URL %s", async (url) => {
    await expect(guarded.fetch(url, ask)).rejects.toBeInstanceOf(OutboundRefusedError);
  });

  test("a public name that resolves to a private address, at whatever place in the list", async () => {
    const before = listener.connections();
    for (const addresses of [["127.0.0.1"], ["93.184.215.14", "::1"], ["::ffff:127.0.0.1"], ["169.254.169.254"], []]) {
      const resolve: Resolve = async () =>
        addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
      const outbound = createOutbound({ resolve });
      await expect(outbound.fetch("http://public.example.com/", ask)).rejects.toBeInstanceOf(OutboundRefusedError);
      await outbound.stop();
    }
    expect(listener.connections()).toBe(before);
  });

  test("a name that turns private between two look-ups is asked once, and what was checked is what connects", async () => {
    let asked = 0;
    const resolve: Resolve = async () => {
      asked += 1;
      return [{ address: asked === 1 ? "192.0.2.1" : "127.0.0.1", family: 4 }];
    };
    const outbound = createOutbound({ resolve });
    await expect(outbound.fetch("http://rebind.example.com/", ask)).rejects.toBeInstanceOf(OutboundRefusedError);
    expect(asked).toBe(1);
    await outbound.stop();
  });
});

test("public unicast addresses are no problem", () => {
  for (const address of ["93.184.215.14", "1.1.1.1", "2606:4700:4700::1111"])
    expect(addressProblem(address)).toBeUndefined();
  expect(() => open.check("https://api.github.com/x")).not.toThrow();
  expect(() => open.check("https://[2606:4700:4700::1111]/")).not.toThrow();
});

test("an allow-listed pair is let through, and that port or host alone is not", async () => {
  answer = (_request, response) => response.end("hello");
  const { status, body } = await open.fetch(`${base}/x`, ask);
  expect([status, body.toString()]).toEqual([200, "hello"]);
  await expect(open.fetch(`http://127.0.0.1:${listener.port}/`, ask)).rejects.toBeInstanceOf(OutboundRefusedError);
  await expect(open.fetch(base.replace("127.0.0.1", "localhost"), ask)).rejects.toBeInstanceOf(OutboundRefusedError);
});

describe("redirects", () => {
  const redirectTo =
    (location: string): RequestListener =>
    (_request, response) => {
      response.writeHead(302, { location }).end();
    };

  test("are followed three times, not four", async () => {
    answer = (request, response) => {
      const left = Number(request.url!.slice(1));
      if (left === 0) response.end("there");
      else response.writeHead(302, { location: `/${left - 1}` }).end();
    };
    expect((await open.fetch(`${base}/3`, ask)).body.toString()).toBe("there");
    await expect(open.fetch(`${base}/4`, ask)).rejects.toBeInstanceOf(OutboundRefusedError);
  });

  test.each([
    "http://169.254.169.254/latest/meta-data",
    "http://127.0.0.1/",
    "http://[::1]/",
    "http://localhost/",
    "file:///etc/passwd",
    "gopher://127.0.0.1/",
    "data:text/plain,x",
    "http://user:pw@github.com/",
    "http://[",
  ])("to %s are refused", async (location) => {
    answer = redirectTo(location);
    await expect(open.fetch(base, ask)).rejects.toBeInstanceOf(OutboundRefusedError);
  });

  test("to another origin lose the headers meant for the first", async () => {
    const second = await startHttpServer((request, response) => response.end(JSON.stringify(request.headers)));
    const outbound = createOutbound({ allowHosts: [new URL(base).host, second.host] });
    answer = redirectTo(`${second.url}/`);
    const { body } = await outbound.fetch(base, { ...ask, headers: { authorization: "Bearer creator" } });
    expect(seen[0]?.headers.authorization).toBe("Bearer creator");
    expect(body.toString()).not.toContain("creator");
    await outbound.stop();
    await second.stop();
  });

  test("of anything but GET are not followed", async () => {
    answer = redirectTo("/elsewhere");
    expect((await open.fetch(base, { ...ask, method: "POST", body: "x" })).status).toBe(302);
    expect(seen).toHaveLength(1);
  });
});

test("whatever becomes of an answer, its place among those under way is given back", async () => {
  const holder = { account: "a", agent: "b" };
  const ways: RequestListener[] = [
    (_request, response) => response.end("hello"),
    (_request, response) => response.writeHead(302, { location: "http://127.0.0.1/" }).end("there"),
    (_request, response) => response.end(Buffer.alloc(200_000)),
    (_request, response) =>
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(5_000_000))),
    (_request, response) => response.writeHead(200, { "content-encoding": "gzip" }).end("no gzip"),
    (_request, response) => response.writeHead(204).end(),
    (request) => request.socket.destroy(),
    () => {},
  ];
  for (const way of ways) {
    answer = way;
    const fetches = Array.from({ length: 150 }, () =>
      open.fetch(base, { ...ask, timeoutMs: 3_000, holder }).catch(() => {}),
    );
    await Promise.all(fetches);
  }
  answer = (_request, response) => response.writeHead(200).end(Buffer.alloc(50_000));
  for (let n = 0; n < 150; n += 1) (await open.open(base, { ...ask, holder })).discard();
  expect((await open.fetch(base, { ...ask, holder })).status).toBe(200);
  const atOnce = Array.from({ length: 100 }, () => open.fetch(base, { ...ask, timeoutMs: 8_000, holder }));
  expect((await Promise.all(atOnce)).every(({ status }) => status === 200)).toBe(true);
});

describe("limits", () => {
  const failed = (path = "") =>
    expect(open.fetch(base + path, { ...ask, timeoutMs: 700 })).rejects.toBeInstanceOf(OutboundFailedError);

  test("a body larger than allowed is cut off, whatever length it promises", async () => {
    let written = 0;
    answer = (_request, response) => {
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(16_384))) written += 16_384;
      };
      response.on("drain", more);
      more();
    };
    await failed();
    expect(written).toBeLessThan(20_000_000);
  });

  test("a body in chunks of a byte is given up, and one in as many of a fair length is read", async () => {
    const chunks = (length: number) => `${length.toString(16)}\r\n${"x".repeat(length)}\r\n`.repeat(1_200);
    let length = 1;
    answer = ({ socket }) =>
      void socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks(length)}0\r\n\r\n`);
    await expect(open.fetch(`${base}/x`, ask)).rejects.toThrow("the body comes in too many chunks for its length");
    length = 80;
    expect((await open.fetch(`${base}/x`, ask)).body).toHaveLength(96_000);
  });

  test("large answers that stall have a share of the memory, and leave the rest to others", async ({
    onTestFinished,
  }) => {
    const stalled: ServerResponse[] = [];
    answer = (request, response) => {
      response.write(Buffer.alloc(640_000));
      if (request.url === "/stalls") stalled.push(response);
      else response.end();
    };
    const outbound = createOutbound({ allowHosts: [server.host], largeAnswers: { total: 4, waitMs: 200, part: 1 } });
    onTestFinished(() => outbound.stop());
    const large = { timeoutMs: 20_000, bytesMax: 1_000_000 };
    const one = { account: "one", agent: "one" };
    const refused: string[] = [];
    const stalling = Array.from({ length: 8 }, () =>
      outbound.fetch(`${base}/stalls`, { ...large, holder: one }).then(
        ({ body }) => body.length,
        (error) => refused.push(error.constructor.name),
      ),
    );
    await expect.poll(() => refused.length).toBeGreaterThan(5);
    const other = await outbound.fetch(base, { ...large, holder: { account: "other", agent: "other" } });
    expect(other.body).toHaveLength(640_000);
    for (const response of stalled) response.end();
    expect((await Promise.all(stalling)).filter((length) => length === 640_000)).not.toHaveLength(0);
    expect(new Set(refused)).toEqual(new Set(["OutboundBusyError"]));
    await Promise.all(Array.from({ length: 2 }, () => outbound.fetch(base, { ...large, holder: one })));
  });

  test("a small body that unpacks to a large one is cut off", async () => {
    answer = (_request, response) =>
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(50_000_000)));
    await failed();
  });

  test("a packed body within the limit is unpacked", async () => {
    answer = (_request, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("hello"));
    expect((await open.fetch(base, ask)).body.toString()).toBe("hello");
  });

  test.each([
    [
      "broken packing",
      (_: unknown, response: Parameters<RequestListener>[1]) =>
        response.writeHead(200, { "content-encoding": "gzip" }).end("no gzip"),
    ],
    [
      "an unknown packing",
      (_: unknown, response: Parameters<RequestListener>[1]) =>
        response.writeHead(200, { "content-encoding": "lzma" }).end("x"),
    ],
    ["no answer", () => {}],
    [
      "a body that drips",
      (_: unknown, response: Parameters<RequestListener>[1]) => {
        const timer = setInterval(() => response.write("x"), 50);
        response.on("close", () => clearInterval(timer));
      },
    ],
    ["a hang-up", (request: Parameters<RequestListener>[0]) => request.socket.destroy()],
  ])("%s is a failure, and not one that is waited for without end", async (_name, behaviour) => {
    answer = behaviour as RequestListener;
    await failed();
  });

  test("an answer in an unknown packing that never ends is hung up on at once, and not when its time is over", async () => {
    const closed = new Promise((resolve) => {
      answer = (request, response) => {
        request.socket.once("close", resolve);
        response.writeHead(200, { "content-encoding": "lzma" }).write("x");
      };
    });
    // Longer than a test waits.
    await expect(open.fetch(base, { ...ask, timeoutMs: 600_000 })).rejects.toBeInstanceOf(OutboundFailedError);
    await closed;
  });
});
