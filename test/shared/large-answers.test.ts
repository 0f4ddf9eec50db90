import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { createApp, listen } from "../../shared/http.ts";
import { LargeAnswers } from "../../shared/large-answers.ts";
import { sendPage } from "../../shared/page/send-page.ts";

test("a caller that asks for large answers and reads none is told to wait, and others have theirs", async ({
  onTestFinished,
}) => {
  const app = createApp({ trustProxy: "loopback" });
  const answers = new LargeAnswers({ perAddress: 10_000_000, total: 16_000_000 });
  app.get("/:length", (request, response) =>
    answers.send(request, response, { text: "x".repeat(Number(request.params.length)) }),
  );
  app.get("/pages/:length", (request, response) =>
    sendPage(request, response, { html: "x".repeat(Number(request.params.length)), status: 200 }),
  );
  const service = await listen(app, { host: "127.0.0.1", port: 0 });
  const sockets: Socket[] = [];
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    return service.stop();
  });
  /** Reads the status, and no more. */
  const ask = async (
    caller: string,
    length: number,
    under = "",
  ): Promise<{ status: string | undefined; socket: Socket }> => {
    const socket = connect(service.port, "127.0.0.1");
    sockets.push(socket);
    socket.write(
      `GET ${under}/${length} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${caller}\r\nConnection: close\r\n\r\n`,
    );
    const [head] = await once(socket, "data");
    socket.pause();
    return { socket, status: /^HTTP\/1.1 (\d+)/.exec(String(head))?.[1] };
  };
  // Pages have limits of their own.
  const pages = [await ask("192.0.2.9", 20_000_000, "/pages"), await ask("192.0.2.9", 20_000_000, "/pages")];
  expect(pages.map(({ status }) => status)).toEqual(["200", "429"]);
  const held = [await ask("192.0.2.1", 4_000_000), await ask("192.0.2.1", 4_000_000)];
  expect(held.map(({ status }) => status)).toEqual(["200", "200"]);
  expect((await ask("192.0.2.1", 4_000_000)).status).toBe("429");
  expect((await ask("192.0.2.1", 100_000)).status).toBe("200");
  held.push(await ask("192.0.2.2", 4_000_000));
  expect(held[2]?.status).toBe("200");
  expect((await ask("192.0.2.3", 5_000_000)).status).toBe("503");
  for (const { socket } of held) socket.destroy();
  await expect.poll(async () => (await ask("192.0.2.1", 9_000_000)).status).toBe("200");
});
