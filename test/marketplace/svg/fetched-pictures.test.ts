import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { readImage } from "../../../marketplace/svg/image-source.ts";
import { createOutbound } from "../../../shared/outbound.ts";

/** As many as may be under way to wherever, and some. */
const slowHosts = Array.from({ length: 1_100 }, (_, n) => `127.1.${Math.floor(n / 250)}.${(n % 250) + 1}`);

test("pictures that one caller has fetched from any number of slow hosts leave the rest to others", async () => {
  const held: ServerResponse[] = [];
  const server = createServer((request, response) => {
    if (request.url === "/quick") response.end("picture");
    else held.push(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
  const { port } = server.address() as AddressInfo;
  const outbound = createOutbound({ allowHosts: ["127.0.0.1", ...slowHosts].map((host) => `${host}:${port}`) });
  onTestFinished(async () => {
    await outbound.stop();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { signal, abort } = withAbort();
  const slow = slowHosts.map((host) =>
    readImage(outbound, `http://${host}:${port}/slow`, "one", signal).catch(() => {}),
  );
  const other = await readImage(outbound, `http://127.0.0.1:${port}/quick`, "other", withAbort().signal);
  expect(other.toString()).toBe("picture");
  abort();
  await Promise.all(slow);
});

function withAbort(): { readonly signal: AbortSignal; readonly abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}
