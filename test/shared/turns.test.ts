import { once } from "node:events";
import { connect } from "node:net";
import type { Response } from "express";
import { expect, test } from "vitest";
import { createApp, listen } from "../../shared/http.ts";
import { inTurns } from "../../shared/turns.ts";
import { elapse } from "../support/elapse.ts";

/** A service whose requests each wait until they are answered by the test, in the order in which they began. */
async function serve(onTestFinished: (stop: () => Promise<void>) => void) {
  const app = createApp({ trustProxy: "loopback" });
  const begun: Array<{ readonly caller: string; readonly response: Response }> = [];
  app.use(inTurns(), (request, response) => void begun.push({ caller: String(request.ip), response }));
  const service = await listen(app, { host: "127.0.0.1", port: 0 });
  onTestFinished(() => {
    for (const { response } of begun) response.end();
    return service.stop();
  });
  const ask = (caller: string, times = 1) =>
    Array.from({ length: times }, () => {
      const socket = connect(service.port, "127.0.0.1").on("error", () => {});
      socket.resume().write(`GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${caller}\r\nConnection: close\r\n\r\n`);
      return socket;
    });
  return { begun, ask, callers: () => begun.map(({ caller }) => caller) };
}

test("callers take turns, whoever asked first and however often", async ({ onTestFinished }) => {
  const { begun, ask, callers } = await serve(onTestFinished);
  ask("192.0.2.1", 60);
  await expect.poll(() => begun.length).toBe(16);
  ask("192.0.2.2", 2);
  ask("192.0.2.3", 2);
  // Those are on their way beside the first ones' answers.
  await elapse(50, "all requests have come");
  for (let answered = 0; answered < 64; answered += 1) {
    await expect.poll(() => begun.length).toBeGreaterThan(answered);
    begun[answered]?.response.end();
  }
  const others = callers().flatMap((caller, at) => (caller === "192.0.2.1" ? [] : [at]));
  expect(others).toHaveLength(4);
  expect(Math.max(...others)).toBeLessThan(16 + 8);
});

test("who waits for something else, and who is gone, keeps nobody waiting", async ({ onTestFinished }) => {
  const { begun, ask, callers } = await serve(onTestFinished);
  const gone = ask("192.0.2.1", 40);
  await expect.poll(() => begun.length).toBe(16);
  const closed = Promise.all(gone.slice(-20).map((socket) => once(socket, "close")));
  for (const socket of gone.slice(-20)) socket.destroy();
  await closed;
  ask("192.0.2.2");
  await expect.poll(callers).toContain("192.0.2.2");
  await expect.poll(() => begun.length, { timeout: 5_000 }).toBe(21);
});
