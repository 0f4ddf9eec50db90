import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { expect, test } from "vitest";
import { within } from "../../shared/within.ts";

/** Both ends of a connection. */
async function connection(onTestFinished: (end: () => void) => void): Promise<[Socket, Socket]> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const here = connect((server.address() as { port: number }).port, "127.0.0.1");
  const [[there]] = (await Promise.all([once(server, "connection"), once(here, "connect")])) as [[Socket], unknown];
  onTestFinished(() => {
    for (const socket of [there, here]) socket.destroy();
    server.close();
  });
  return [here, there];
}

test("an answer that came while the process stood still beyond the limit has come in time", async ({
  onTestFinished,
}) => {
  const [here, there] = await connection(onTestFinished);
  const answer = within(20, once(here, "data"));
  there.write("yes");
  for (const until = performance.now() + 60; performance.now() < until; );
  expect(String(await answer)).toBe("yes");
});

test("an answer that does not come is given up, and so is one that failed", async ({ onTestFinished }) => {
  const [here] = await connection(onTestFinished);
  await expect(within(20, once(here, "data"))).rejects.toThrow("no answer within 20 ms");
  const failed = within(60_000, once(here, "data"));
  here.destroy(new Error("the connection is cut"));
  await expect(failed).rejects.toThrow("the connection is cut");
});
