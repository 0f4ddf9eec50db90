import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { receiveBody } from "../../shared/receive-body.ts";
import { startHttpServer } from "../support/http-server.ts";

const bodies = 16;
const bodyBytes = 15_000_000;
const chunkBytes = 65_536;

/** In a process of its own, so that the connections are full whenever the server looks at them. */
const sender = `
  const { request } = require("node:http");
  const body = Buffer.alloc(${bodyBytes}, " ");
  for (let n = 0; n < ${bodies}; n += 1) {
    request(process.argv[1], { method: "POST", agent: false }, (answer) => answer.resume()).end(body);
  }
`;

test("of sixteen large bodies that arrive at once, few bring a chunk in a turn of the event loop", async () => {
  let ofThisTurn = 0;
  let most = 0;
  let received = 0;
  const server = await startHttpServer(async (request, response) => {
    let chunks = 0;
    await receiveBody(request, bodyBytes, (chunk) => {
      received += chunk.length;
      chunks += 1;
      // The first is here with the request, and the second is on its way before the body waits for its turn.
      if (chunks <= 2) return undefined;
      if (ofThisTurn === 0) {
        setImmediate(() => {
          ofThisTurn = 0;
        });
      }
      ofThisTurn += chunk.length;
      most = Math.max(most, ofThisTurn);
      return undefined;
    });
    response.end();
  });
  await promisify(execFile)(process.execPath, ["--eval", sender, server.url]);
  await server.stop();
  expect(received).toBe(bodies * bodyBytes);
  // A turn as it is told here may hold several of the reader's own, which end before it on a busy machine. Left alone, the
  // connections bring 2 MB.
  expect(most).toBeLessThanOrEqual(12 * chunkBytes);
});
