import { expect, test } from "vitest";
import { Mirror, MirrorSilentError } from "../../../facilitator/schemes/exact-hedera/mirror.ts";
import { startHttpServer } from "../../support/http-server.ts";

const transaction = "0.0.1001@1700000000.000000001";

/** The records of a transaction by a mirror that answers so. */
async function recordsBy(status: number, body: string) {
  const server = await startHttpServer((_request, response) => {
    response.writeHead(status, { "content-type": "application/json" }).end(body);
  });
  const mirror = new Mirror(server.url);
  try {
    return await mirror.records(transaction);
  } finally {
    await mirror.close();
    await server.stop();
  }
}

test.each(["{}", "null", '"no"', '{"transactions":null}', '{"error":"over the quota"}'])(
  "a mirror that answers %s has not said that nothing was executed",
  async (body) => {
    await expect(recordsBy(200, body)).rejects.toThrow(MirrorSilentError);
  },
);

test("a mirror that knows no such transaction has said so", async () => {
  expect(await recordsBy(404, '{"_status":{"messages":[{"message":"Not found"}]}}')).toEqual([]);
  expect(await recordsBy(200, '{"transactions":[]}')).toEqual([]);
});
