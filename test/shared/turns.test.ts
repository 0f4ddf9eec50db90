import { connect, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { ErrorRequestHandler, Response } from "express";
import { expect, test } from "vitest";
import { createApp, listen } from "../../shared/http.ts";
import { jsonBody } from "../../shared/request-body.ts";
import { pagesInTurns } from "../../shared/turns.ts";

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await nextTurn();
}

/** A service whose requests keep it busy until they are let go on, or are never answered at /never. */
async function serve(onTestFinished: (stop: () => Promise<void>) => void) {
  const app = createApp({ trustProxy: "loopback" });
  const begun: string[] = [];
  const givenUp: string[] = [];
  const unanswered: Response[] = [];
  let isOpen = false;
  app.all("/never", (_request, response) => void unanswered.push(response));
  app.use("/page", pagesInTurns());
  app.use("/parts", jsonBody({ bytesMax: 65_536 }));
  app.use(async (request, response) => {
    begun.push(String(request.ip));
    do await nextTurn();
    while (!isOpen);
    response.end();
  });
  app.use(((_error, request, response, _next) => {
    givenUp.push(String(request.ip));
    response.end();
  }) satisfies ErrorRequestHandler);
  const service = await listen(app, { host: "127.0.0.1", port: 0 });
  onTestFinished(() => {
    for (const response of unanswered) response.end();
    return service.stop();
  });
  const ask = (caller: string, times = 1, path = "/") =>
    Array.from({ length: times }, () => {
      const socket = connect(service.port, "127.0.0.1").on("error", () => {});
      const body = path === "/parts" ? JSON.stringify(Array(1_200).fill(0)) : "";
      socket
        .resume()
        .write(
          `POST ${path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${caller}\r\nContent-Length: ${body.length}\r\n` +
            `Connection: close\r\n\r\n${body}`,
        );
      return socket;
    });
  /** Lets requests go on once all that were asked are there; how many had begun by then. On a slow machine some turns have ended. */
  const open = async (asked: readonly Socket[]) => {
    await expect.poll(() => asked.every(({ pending }) => !pending), { interval: 1 }).toBe(true);
    await turns(100);
    isOpen = true;
    return begun.length;
  };
  const areBegun = (count: number) => expect.poll(() => begun.length, { interval: 1 }).toBeGreaterThanOrEqual(count);
  return { begun, areBegun, givenUp, ask, unanswered, open };
}

test.for<[string, string, number]>([
  ["requests", "/", 48],
  ["pages", "/page", 8],
  ["bodies of many parts", "/parts", 2],
])(
  "callers take turns for %s, whoever asked first and however often",
  async ([_what, path, atOnce], { onTestFinished }) => {
    const { begun, areBegun, ask, open } = await serve(onTestFinished);
    const first = ask("192.0.2.1", 100, path);
    await areBegun(atOnce);
    const all = [...first, ...ask("192.0.2.2", 2, path), ...ask("192.0.2.3", 2, path)];
    const before = await open(all);
    await expect.poll(() => all.every(({ closed }) => closed)).toBe(true);
    expect(begun).toHaveLength(104);
    const others = begun.flatMap((caller, at) => (caller === "192.0.2.1" ? [] : [at]));
    expect(others).toHaveLength(4);
    expect(Math.max(...others)).toBeLessThan(before + 8);
  },
);

test("who waits for something else, and who is gone, keeps nobody waiting", async ({ onTestFinished }) => {
  const { begun, areBegun, ask, unanswered, open } = await serve(onTestFinished);
  ask("192.0.2.1", 40, "/never");
  await expect.poll(() => unanswered.length).toBe(40);
  const gone = ask("192.0.2.1", 400);
  await areBegun(48);
  await turns(100);
  const asked = ask("192.0.2.2");
  for (const socket of gone) socket.destroy();
  await open(asked);
  await expect.poll(() => asked[0]?.closed).toBe(true);
  expect(begun.at(-1)).toBe("192.0.2.2");
  expect(begun.length).toBeLessThan(400);
});

test("however busy the process is, nobody waits for ever for those that were begun", async ({ onTestFinished }) => {
  const { begun, areBegun, ask, open } = await serve(onTestFinished);
  const all = ask("192.0.2.1", 48);
  await areBegun(48);
  all.push(...ask("192.0.2.2"));
  await expect.poll(() => begun.at(-1)).toBe("192.0.2.2");
  await open(all);
});

test("who is gone before a body of many parts has its turn does not keep its handler waiting", async ({
  onTestFinished,
}) => {
  const { areBegun, givenUp, ask, open } = await serve(onTestFinished);
  const busy = ask("192.0.2.1", 2, "/parts");
  await areBegun(2);
  const [gone] = ask("192.0.2.2", 1, "/parts");
  await expect.poll(() => gone?.pending, { interval: 1 }).toBe(false);
  await turns(100);
  gone?.destroy();
  await expect.poll(() => givenUp, { interval: 1 }).toEqual(["192.0.2.2"]);
  await open(busy);
});
