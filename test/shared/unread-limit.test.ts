import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { createApp, listen } from "../../shared/http.ts";
import { limitUnread } from "../../shared/unread-limit.ts";

test("a caller that reads none of its answers is refused before more of them are made, and others are not", async ({
  onTestFinished,
}) => {
  const app = createApp({ trustProxy: "loopback" });
  let made = 0;
  app.post("/", limitUnread(10_000_000), (_request, response) => {
    made += 1;
    response.type("text").send("x".repeat(20_000_000));
  });
  const service = await listen(app, { host: "127.0.0.1", port: 0 });
  const sockets: Socket[] = [];
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    return service.stop();
  });
  /** Reads the status, and no more. */
  const ask = async (caller: string): Promise<string | undefined> => {
    const socket = connect(service.port, "127.0.0.1");
    sockets.push(socket);
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${caller}\r\nContent-Length: 0\r\n\r\n`);
    const [head] = await once(socket, "data");
    socket.pause();
    return /^HTTP\/1.1 (\d+)/.exec(String(head))?.[1];
  };
  expect([await ask("192.0.2.1"), await ask("192.0.2.1"), await ask("192.0.2.1")]).toEqual(["200", "429", "429"]);
  expect([await ask("192.0.2.2"), made]).toEqual(["200", 2]);
  for (const socket of sockets.splice(0)) socket.destroy();
  await expect.poll(() => ask("192.0.2.1")).toBe("200");
});
