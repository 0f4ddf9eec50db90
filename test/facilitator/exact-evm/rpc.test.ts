import { expect, test } from "vitest";
import { JsonRpc, RpcUnreachableError } from "../../../facilitator/schemes/exact-evm/rpc.ts";
import { startHttpServer } from "../../support/http-server.ts";

test("calls that waited behind a node that hangs for longer than one may take are given up, and never sent", async () => {
  const received: string[] = [];
  const node = await startHttpServer(async (request) => {
    for await (const chunk of request) received.push(String(chunk));
  });
  const rpc = new JsonRpc(node.url, 500);
  try {
    const calls = Array.from({ length: 400 }, () => rpc.call("eth_blockNumber", []));
    const results = await Promise.allSettled(calls);
    expect(results.every(({ status }) => status === "rejected")).toBe(true);
    for (const result of results) expect(result).toMatchObject({ reason: expect.any(RpcUnreachableError) });
    // Four batches of forty were under way.
    expect(received.join("").match(/eth_blockNumber/g)).toHaveLength(160);
  } finally {
    await rpc.stop();
    await node.stop();
  }
});
