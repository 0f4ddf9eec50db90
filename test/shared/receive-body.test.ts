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

test("sixteen large bodies that arrive at once bring three megabytes in a turn of the event loop at most", async () => {
  let ofThisTurn = 0;
  let most = 0;
  let received = 0;
  const server = await startHttpServer(async (request, response) => {
    await receiveBody(request, bodyBytes, (chunk) => {
      if (ofThisTurn === 0) {
        setImmediate(() => {
          ofThisTurn = 0;
        });
      }
      ofThisTurn += chunk.length;
      received += chunk.length;
      most = Math.max(most, ofThisTurn);
      return undefined;
    });
    response.end();
  });
  await promisify(execFile)(process.execPath, ["--eval", sender, server.url]);
  await server.stop();
  expect(received).toBe(bodies * bodyBytes);
  // What all may bring together, and of each body the chunk that was on its way.
  expect(most).toBeLessThanOrEqual(1_048_576 + 2 * bodies * chunkBytes);
});
