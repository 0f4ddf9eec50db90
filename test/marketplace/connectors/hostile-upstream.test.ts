import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Worker } from "node:worker_threads";
import { afterEach, describe, expect } from "vitest";
import { publishAgent } from "../../../marketplace/agents/publish.ts";
import { upstreamTest } from "../../support/fixtures.ts";
import {
  balanceOf,
  call,
  echoAgent,
  type Market,
  seedMarket,
  type TestMarketplace,
  until,
} from "../../support/marketplace.ts";
import { startProcess } from "../../support/marketplace-process.ts";
import { perFile } from "../../support/part.ts";
import { slowness } from "../../support/processor-time.ts";

/** A service that a stranger runs against us. The marketplace is a process of its own, so that only it is measured. */
let behave: (response: ServerResponse, message: { method?: string; id?: number }, request: IncomingMessage) => void;
let posts = 0;
let open = 0;
const test = upstreamTest(async (request, response) => {
  open += 1;
  response.on("close", () => (open -= 1)).on("error", () => {});
  posts += request.method === "POST" ? 1 : 0;
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  behave(response, text.startsWith("{") ? JSON.parse(text) : {}, request);
})
  .extend("other", perFile, async ({ market }, { onCleanup }) => {
    const other = await startProcess({ ...market.environment, LOG_LEVEL: "info" });
    onCleanup(() => {
      other.child.kill("SIGKILL");
    });
    return other;
  })
  .extend("seeded", perFile, ({ market }) => seedMarket(market.context, { balance: 100_000 }));
test.afterAll(() => bystander.terminate());

afterEach(() => {
  posts = 0;
  attempts = 0;
});

type Other = Awaited<ReturnType<typeof startProcess>>;

let published = 0;
const agentOf = async (
  market: TestMarketplace,
  seeded: Market,
  base: string,
  connector: string,
  settings: object,
  owner = seeded.creator,
): Promise<string> => {
  published += 1;
  const definition = {
    name: "Hostile",
    description: "Runs against us.",
    connector,
    price_credits: 1,
    fields: [],
    settings: { url: `${base}/x`, ...settings },
  };
  return (await publishAgent(market.context, owner, `agent-${published}`, definition)).address;
};
const run = (seeded: Market, other: Other, agent: string) =>
  call(other.url, "/api/v1/run", { key: seeded.key, body: { agent, input: {} } });

/**
 * What others feel of it, in ms: how long the service's thread ran while one of them waited, of the slowest but for one in a
 * hundred, at the speed of a usual machine. However busy it is, a thread that does not freeze answers after little work. The best of
 * a few attempts, since who waits may be late to see the answer: what freezes the service freezes it each time.
 */
async function bystanding<T>(
  other: Other,
  work: () => Promise<T>,
  question: Question = { path: "/health" },
): Promise<{ result: T; feltMs: number }> {
  let feltMs = Number.POSITIVE_INFINITY;
  for (;;) {
    bystander.postMessage({ url: other.url + question.path, init: question.init, pid: other.child.pid });
    const before = slowness();
    const result = await work();
    bystander.postMessage({});
    const [times] = (await once(bystander, "message")) as [number[]];
    const slowest = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)]!;
    feltMs = Math.min(feltMs, slowest / Math.max(before, slowness()));
    attempts += 1;
    if (feltMs < feltMsMax || attempts > 4) return { result, feltMs };
  }
}
const feltMsMax = 250;

interface Question {
  readonly path: string;
  readonly init?: RequestInit;
}
let attempts = 0;

/** In a thread of its own, since this one is busy being hostile. The clock serves where the system does not say how long a thread ran. */
const bystander = new Worker(
  `const { parentPort } = require("node:worker_threads");
   const { readFileSync } = require("node:fs");
   const ranMs = (pid) => {
     try {
       return Number(readFileSync("/proc/" + pid + "/task/" + pid + "/schedstat", "utf8").split(" ")[0]) / 1e6;
     } catch {
       return performance.now();
     }
   };
   let asked = {};
   parentPort.on("message", async (given) => {
     asked = given;
     if (!given.url) return;
     const times = [];
     while (asked === given) {
       const before = ranMs(given.pid);
       await fetch(given.url, given.init).then((answer) => answer.text());
       times.push(ranMs(given.pid) - before);
       await new Promise((resolve) => setTimeout(resolve, 2));
     }
     parentPort.postMessage(times);
   });`,
  { eval: true },
);

const json = { "content-type": "application/json" };
const stream = { "content-type": "text/event-stream" };
const result = (id: number | undefined, value: object) => JSON.stringify({ jsonrpc: "2.0", id, result: value });
const info = { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "h", version: "1" } };

/** Behaves until its tool is called, as every such server must. */
const onCall =
  (act: (response: ServerResponse, id: number) => void): typeof behave =>
  (response, { method, id }, request) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    if (method === "initialize") return void response.writeHead(200, json).end(result(id, info));
    if (method === "tools/call") return act(response, id as number);
    response.writeHead(202).end();
  };
/** Writes `piece` again and again, as fast as it is taken. */
const pour = (response: ServerResponse, piece: string, times = Number.POSITIVE_INFINITY, last = "") => {
  let left = times;
  const more = () => {
    while (left > 0 && !response.destroyed) {
      left -= 1;
      if (!response.write(piece)) return void response.once("drain", more);
    }
    if (!response.destroyed) response.end(last);
  };
  more();
};
const asked = (method: string, id: number) => `data: {"jsonrpc":"2.0","id":${id},"method":"${method}","params":{}}\n\n`;
const done = (id: number) => `data: ${result(id, { content: [{ type: "text", text: "done" }] })}\n\n`;

describe("a hostile tool server", () => {
  test.for<[string, typeof behave, number]>([
    [
      "asks us for 150,000 samplings",
      onCall((response, id) => {
        response.writeHead(200, stream);
        pour(response, asked("sampling/createMessage", 7).repeat(1_000), 150, done(id));
      }),
      3,
    ],
    [
      "asks for one, then answers",
      onCall((response, id) => {
        response.writeHead(200, stream).end(asked("elicitation/create", 1) + done(id));
      }),
      3,
    ],
    [
      "asks while we begin",
      (response, { id }) => {
        response.writeHead(200, stream).end(`${asked("roots/list", 1)}data: ${result(id, info)}\n\n`);
      },
      1,
    ],
    [
      "pings without end",
      onCall((response, id) => {
        response.writeHead(200, stream);
        pour(response, asked("ping", 5).repeat(1_000), 150, done(id));
      }),
      6,
    ],
    [
      "tells of its progress without end",
      onCall((response, id) => {
        response.writeHead(200, stream);
        pour(
          response,
          'data: {"jsonrpc":"2.0","method":"notifications/progress","params":{}}\n\n'.repeat(1_000),
          500,
          done(id),
        );
      }),
      3,
    ],
    [
      "answers calls that nobody made",
      onCall((response, id) => {
        response.writeHead(200, stream);
        pour(response, `data: ${result(99, {})}\n\n`.repeat(1_000), 500, done(id));
      }),
      3,
    ],
    [
      "sends nothing but comments",
      onCall((response) => {
        response.writeHead(200, stream);
        pour(response, ":\n\n".repeat(10_000));
      }),
      3,
    ],
    [
      "sends ids to be resumed from, and tells to come back at once",
      onCall((response) => {
        response.writeHead(200, stream).end("retry: 0\nid: 1\ndata:\n\n");
      }),
      3,
    ],
    [
      "sends one line without end",
      onCall((response) => {
        response.writeHead(200, stream);
        pour(response, `data: ${"x".repeat(65_536)}`);
      }),
      3,
    ],
    [
      "answers with a list of 150,000 requests",
      onCall((response) => {
        response.writeHead(200, json);
        pour(response, "", 1, `[${Array(150_000).fill(asked("ping", 1).slice(6).trim()).join(",")}]`);
      }),
      3,
    ],
    [
      "answers with deep JSON",
      onCall((response) => {
        response.writeHead(200, json).end("[".repeat(1_900_000) + "]".repeat(1_900_000));
      }),
      3,
    ],
    [
      "answers with broad JSON",
      onCall((response, id) => {
        response
          .writeHead(200, json)
          .end(`{"jsonrpc":"2.0","id":${id},"result":{"content":[${"{},".repeat(1_200_000)}{}]}}`);
      }),
      3,
    ],
    [
      "sends us around in a circle",
      (response, _message, { url }) => {
        response.writeHead(307, { location: `${url}x` }).end();
      },
      4,
    ],
    [
      "sends us to another origin",
      (response) => {
        response.writeHead(307, { location: `http://localhost:${response.socket?.localPort}/x` }).end();
      },
      1,
    ],
    ["turns a POST into a GET", (response) => void response.writeHead(303, { location: "/x" }).end(), 1],
    [
      "has early hints without end",
      (response) => {
        const { socket } = response;
        const hints = `HTTP/1.1 103 Early Hints\r\nlink: </${"y".repeat(500)}>\r\n\r\n`.repeat(100);
        const more = () => {
          while (!socket!.destroyed && socket!.write(hints));
        };
        socket!.on("drain", more).on("error", () => {});
        more();
      },
      1,
    ],
    [
      "has endless headers",
      (response) => {
        response.socket!.write("HTTP/1.1 200 OK\r\n");
        const timer = setInterval(() => response.socket?.write(`x-${"y".repeat(4_000)}: z\r\n`.repeat(10)), 1);
        response.socket!.on("close", () => clearInterval(timer)).on("error", () => {});
      },
      1,
    ],
  ])(
    "that %s fails the run, costs nothing and is felt by nobody",
    async ([_name, how, postsMax], { market, seeded, other, base }) => {
      behave = how;
      const agent = await agentOf(market, seeded, base, "mcp-tool", { tool: "x" });
      const { result: answer, feltMs } = await bystanding(other, () =>
        Promise.all(Array.from({ length: 4 }, () => run(seeded, other, agent))),
      );
      for (const { status, body } of answer) {
        expect({ status, body }).toMatchObject({ status: 200, body: { success: false, credits_used: 0 } });
      }
      expect(posts).toBeLessThanOrEqual(4 * attempts * postsMax);
      expect(feltMs).toBeLessThan(feltMsMax);
      await expect.poll(() => open).toBe(0);
    },
  );

  test("that hangs while its session is ended holds nobody up", async ({ market, seeded, other, base }) => {
    let ends = 0;
    behave = (response, { method, id }, request) => {
      if (request.method === "DELETE") {
        ends += 1;
        return;
      }
      const headers = { ...json, "mcp-session-id": "abc" };
      if (method === "initialize") return void response.writeHead(200, headers).end(result(id, info));
      if (method !== "tools/call") return void response.writeHead(202).end();
      response.writeHead(200, stream).end(done(id!));
    };
    const agent = await agentOf(market, seeded, base, "mcp-tool", { tool: "x" });
    expect((await run(seeded, other, agent)).body).toMatchObject({ success: true, output: { text: "done" } });
    await expect.poll(() => ends).toBe(1);
    await expect.poll(() => open).toBe(0);
  });

  test("whose texts are none gives the others, and nothing where there are no others", async ({
    market,
    seeded,
    other,
    base,
  }) => {
    const odd = [{ type: "text" }, { type: "text", text: null }, { type: "text", text: { toString: 1 } }];
    const agent = await agentOf(market, seeded, base, "mcp-tool", { tool: "x" });
    for (const [content, expected] of [
      [[...odd, { type: "text", text: "done" }], { success: true, output: { text: "done" } }],
      [odd, { success: false, credits_used: 0, error: "The tool behind this agent gave no text." }],
    ] as const) {
      behave = onCall((response, id) => void response.writeHead(200, json).end(result(id, { content })));
      expect((await run(seeded, other, agent)).body).toMatchObject(expected);
    }
  });

  test("may ping now and then, tell of its progress and move within its origin", async ({
    market,
    seeded,
    other,
    base,
  }) => {
    behave = (response, message, request) => {
      if (request.url === "/x") return void response.writeHead(308, { location: "/moved" }).end();
      onCall((response, id) => {
        response.writeHead(200, stream);
        response.end(
          `${asked("ping", 3)}data: {"jsonrpc":"2.0","method":"notifications/progress","params":{}}\r\n\r\n${done(id)}`,
        );
      })(response, message, request);
    };
    const agent = await agentOf(market, seeded, base, "mcp-tool", { tool: "x" });
    expect((await run(seeded, other, agent)).body).toMatchObject({ success: true, output: { text: "done" } });
  });
});

describe("a hostile HTTP service", () => {
  test.for<[string, typeof behave]>([
    ["deep JSON", (response) => void response.writeHead(200, json).end("[".repeat(1_000_000) + "]".repeat(1_000_000))],
    ["broad JSON", (response) => void response.writeHead(200, json).end(`[${"{},".repeat(650_000)}{}]`)],
    ["a body without end", (response) => pour(response.writeHead(200, json), "x".repeat(65_536))],
  ])(
    "that answers with %s fails the run and is felt by nobody",
    async ([_name, how], { market, seeded, other, base }) => {
      behave = how;
      const agent = await agentOf(market, seeded, base, "http-api", {});
      const { result: answers, feltMs } = await bystanding(other, () =>
        Promise.all(Array.from({ length: 4 }, () => run(seeded, other, agent))),
      );
      for (const { status, body } of answers) {
        expect({ status, body }).toMatchObject({ status: 200, body: { success: false, credits_used: 0 } });
      }
      expect(feltMs).toBeLessThan(feltMsMax);
    },
  );

  test("whose twenty runs at a time answer with megabytes is felt by no other run, and each is answered whole", async ({
    market,
    seeded,
    other,
    base,
  }) => {
    const items = Array.from({ length: 20_000 }, (_, id) => ({ id, name: `item ${id} "q"`, tags: ["a", "b"] }));
    const large = JSON.stringify({ items });
    behave = (response, _message, { url }) => void response.writeHead(200, json).end(url === "/large" ? large : "{}");
    const agent = await agentOf(market, seeded, base, "http-api", { url: `${base}/large` });
    const quick = await agentOf(market, seeded, base, "http-api", {});
    const postOf = (named: string, { key }: Market): RequestInit => ({
      method: "POST",
      headers: { authorization: `Bearer ${key}`, ...json },
      body: JSON.stringify({ agent: named, input: {} }),
    });
    const outputOf = async () => {
      const answer = await fetch(`${other.url}/api/v1/run`, postOf(agent, seeded));
      return ((await answer.json()) as { output: { data: object } }).output.data;
    };
    const tenant = await seedMarket(market.context, { balance: 100_000 });
    const { result: outputs, feltMs } = await bystanding(
      other,
      () => Promise.all(Array.from({ length: 20 }, outputOf)),
      { path: "/api/v1/run", init: postOf(quick, tenant) },
    );
    expect(outputs).toEqual(Array(20).fill({ items }));
    expect(feltMs).toBeLessThan(feltMsMax);
  });
});

/** Calls that hang, and how many of them have been answered. */
function counted(calls: ReadonlyArray<ReturnType<typeof run>>) {
  const count = { answered: 0, all: Promise.all(calls) };
  for (const one of calls) one.then(() => (count.answered += 1));
  return count;
}

describe("while one agent's calls wait", () => {
  test("for an HTTP service that hangs, no other agent's do, and what is more than its share is refused in time", async ({
    market,
    seeded,
    other,
    base,
  }) => {
    const hanging: ServerResponse[] = [];
    behave = (response, _message, { url }) => {
      if (url === "/hang") hanging.push(response);
      else response.writeHead(200, json).end("{}");
    };
    const hangs = await agentOf(market, seeded, base, "http-api", { url: `${base}/hang` });
    const neighbour = await agentOf(market, seeded, base, "http-api", {});
    const tenant = await seedMarket(market.context);
    const others = await agentOf(market, seeded, base, "http-api", {}, tenant.creator);
    const hung = counted(Array.from({ length: 300 }, () => run(seeded, other, hangs)));
    await until(() => hanging.length >= 64);
    for (const agent of [others, neighbour, others]) {
      expect((await run(seeded, other, agent)).body).toMatchObject({ success: true });
    }
    expect(hung.answered).toBe(0);
    // Those that are refused have waited for their turn.
    await until(() => hung.answered + hanging.length >= 300);
    expect(hung.answered).toBeGreaterThan(100);
    expect(hanging.length).toBeLessThanOrEqual(128);
    hanging.forEach((response) => void response.writeHead(200, json).end("{}"));
    const busy = (await hung.all).filter(({ body }) => !body.success);
    for (const { status, body } of busy) {
      expect({ status, body }).toMatchObject({
        status: 200,
        body: { credits_used: 0, error: expect.stringContaining("too many calls") },
      });
    }
  });

  test("for a model that is slow, no other agent's do, and each is answered", async ({ market, seeded, other }) => {
    const define = async (slug: string, owner = seeded.creator) =>
      (
        await publishAgent(market.context, owner, slug, {
          ...echoAgent,
          price_credits: 1,
          fields: [],
          settings: { prompt: slug },
        })
      ).address;
    const slow = await define("slow-prompts");
    const tenant = await seedMarket(market.context);
    const others = await define("quick-prompts", tenant.creator);
    const askedBefore = market.model.asked();
    market.model.injectFault({ delayMs: 600_000, times: 301 });
    const waiting = counted(Array.from({ length: 300 }, () => run(seeded, other, slow)));
    await until(() => market.model.asked() - askedBefore >= 64);
    // The rest are about to ask, or wait for their turn.
    await until(async () => (await balanceOf(market, seeded.key)).held_credits === 300);
    const neighbour = run(seeded, other, others);
    await until(() => market.model.requests.some(({ body }) => JSON.stringify(body).includes("quick-prompts")));
    expect(waiting.answered).toBe(0);
    market.model.answerHeld();
    expect((await neighbour).body).toMatchObject({ success: true });
    expect((await waiting.all).filter(({ body }) => body.success)).toHaveLength(300);
  });
});
