import { createTestClient, encodeFunctionData, http, publicActions, walletActions } from "viem";
import { expect } from "vitest";
import { EvmChain } from "../../../facilitator/schemes/exact-evm/chain.ts";
import { JsonRpc, RpcUnreachableError } from "../../../facilitator/schemes/exact-evm/rpc.ts";
import { usdcStandIn } from "../../../infra/local-evm/artifacts.ts";
import type { EvmSetting } from "../../support/evm-facilitator.ts";
import { newBuyer, paymentBody } from "../../support/evm-payments.ts";
import { proxiedEvmTest } from "../../support/fixtures.ts";
import { startHttpServer } from "../../support/http-server.ts";

const test = proxiedEvmTest();

const tester = ({ chain }: EvmSetting) =>
  createTestClient({ mode: "anvil", transport: http(chain.rpcUrl) })
    .extend(publicActions)
    .extend(walletActions);

/** As EIP-3009 allows every account that has seen the authorization. */
async function submitByAnother(setting: EvmSetting, body: Awaited<ReturnType<typeof paymentBody>>): Promise<string> {
  const { authorization, signature } = body.paymentPayload.payload;
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const account = newBuyer().address;
  await setting.chain.fund(account, { wei: 10n ** 18n });
  await tester(setting).impersonateAccount({ address: account });
  const data = encodeFunctionData({
    abi: usdcStandIn.abi,
    functionName: "transferWithAuthorization",
    args: [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce, signature],
  });
  const hash = await tester(setting).sendTransaction({ account, to: setting.chain.usdc, data, chain: null });
  await setting.chain.receipt(hash);
  return hash;
}

/** As nodes do that search no more blocks than that at once. */
const searching = (blocksMax: number) => (method: string, params: readonly unknown[]) => {
  if (method !== "eth_getLogs") return "pass" as const;
  const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string };
  const message = `You can make eth_getLogs requests with up to a ${blocksMax} block range.`;
  return Number(toBlock) - Number(fromBlock) < blocksMax ? ("pass" as const) : { error: { code: -32600, message } };
};

test("what another's transaction settled is found by a node that searches few blocks at once", async ({
  setting,
  proxy,
  facilitator,
}) => {
  const body = await paymentBody(await setting.fundedBuyer(), setting.terms);
  await tester(setting).mine({ blocks: 1_500 });
  const transaction = await submitByAnother(setting, body);
  await tester(setting).mine({ blocks: 30 });
  for (const blocksMax of [500, 5]) {
    proxy.behave(searching(blocksMax));
    expect((await facilitator.settle(body)).body).toMatchObject({ errorReason: "already_settled", transaction });
  }
});

test("where a node searches too few blocks to look far enough back, it is not said that there is nothing", async ({
  setting,
  proxy,
}) => {
  const body = await paymentBody(await setting.fundedBuyer(), setting.terms);
  const { from, nonce } = body.paymentPayload.payload.authorization;
  await submitByAnother(setting, body);
  await tester(setting).mine({ blocks: 1_000 });
  proxy.behave(searching(5));
  const rpc = new JsonRpc(proxy.url, 5_000);
  try {
    const spending = new EvmChain(rpc, 200_000n).spendingOf(setting.chain.usdc, from, nonce);
    await expect(spending).rejects.toThrow(RpcUnreachableError);
  } finally {
    await rpc.stop();
  }
});

test("what a node says with a 400 to one call is its answer, and a 400 that says nothing is none", async () => {
  const error = { code: -32600, message: "You can make eth_getLogs requests with up to a 10 block range." };
  let said = JSON.stringify({ jsonrpc: "2.0", id: 0, error });
  const node = await startHttpServer((_request, response) => void response.writeHead(400).end(said));
  const rpc = new JsonRpc(node.url, 5_000);
  try {
    await expect(rpc.call("eth_getLogs", [])).rejects.toMatchObject({ name: "RpcError", ...error });
    said = "Bad Request";
    await expect(rpc.call("eth_getLogs", [])).rejects.toThrow(RpcUnreachableError);
  } finally {
    await rpc.stop();
    await node.stop();
  }
});

test.for([
  ["with one error for all of it", 200],
  ["with 413", 413],
  ["with 500", 500],
] as const)("calls go on in smaller batches to a node that refuses a large one %s", async ([_how, status]) => {
  const sizes: number[] = [];
  const node = await startHttpServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const posted = JSON.parse(text);
    const calls: ReadonlyArray<{ id: number }> = Array.isArray(posted) ? posted : [posted];
    sizes.push(calls.length);
    response.setHeader("content-type", "application/json");
    if (calls.length > 3) {
      const error = { code: -32600, message: "Batch of more than 3 requests are not allowed" };
      return void response.writeHead(status).end(JSON.stringify({ jsonrpc: "2.0", id: null, error }));
    }
    const answers = calls.map(({ id }) => ({ jsonrpc: "2.0", id, result: "0x1" }));
    response.end(JSON.stringify(Array.isArray(posted) ? answers : answers[0]));
  });
  const rpc = new JsonRpc(node.url, 5_000);
  const ask = (count: number) => Promise.all(Array.from({ length: count }, () => rpc.call("eth_chainId", [])));
  try {
    expect(await ask(50)).toEqual(Array(50).fill("0x1"));
    const before = sizes.length;
    await ask(50);
    expect(Math.max(...sizes.slice(before))).toBeLessThanOrEqual(3);
  } finally {
    await rpc.stop();
    await node.stop();
  }
});

test("a node that refuses whatever comes is asked in large batches again once it answers", async () => {
  const sizes: number[] = [];
  let isDown = true;
  const node = await startHttpServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const calls = [JSON.parse(text)].flat() as ReadonlyArray<{ id: number }>;
    sizes.push(calls.length);
    if (isDown) return void response.writeHead(500).end();
    response.end(JSON.stringify(calls.map(({ id }) => ({ jsonrpc: "2.0", id, result: "0x1" }))));
  });
  const rpc = new JsonRpc(node.url, 5_000);
  const ask = () => Promise.allSettled(Array.from({ length: 40 }, () => rpc.call("eth_chainId", [])));
  try {
    expect((await ask()).every(({ status }) => status === "rejected")).toBe(true);
    expect(sizes.length).toBeLessThan(60);
    isDown = false;
    const largest = async () => {
      sizes.splice(0);
      expect((await ask()).every(({ status }) => status === "fulfilled")).toBe(true);
      return Math.max(...sizes);
    };
    await expect.poll(largest, { timeout: 5_000 }).toBe(40);
  } finally {
    await rpc.stop();
    await node.stop();
  }
});

test("of a payment whose nonce is used, however often it is verified, few are looked for in the chain's events at once", async ({
  setting,
  facilitator,
  proxy,
}) => {
  const body = await paymentBody(await setting.fundedBuyer(), setting.terms);
  await submitByAnother(setting, body);
  const before = proxy.counts.get("eth_getLogs") ?? 0;
  proxy.behave((method) => (method === "eth_getLogs" ? "hold" : "pass"));
  const verified = Array.from({ length: 30 }, () => facilitator.verify(body));
  await expect.poll(() => (proxy.counts.get("eth_getLogs") ?? 0) - before).toBeGreaterThan(0);
  expect((await facilitator.settle(await paymentBody(await setting.fundedBuyer(), setting.terms))).body).toMatchObject({
    success: true,
  });
  expect((proxy.counts.get("eth_getLogs") ?? 0) - before).toBeLessThan(3);
  proxy.behave(() => "pass");
  const reasons = (await Promise.all(verified)).map((answer) => answer.body.invalidReason);
  expect(new Set(reasons)).toEqual(new Set(["already_settled"]));
});

test("of payments that are over and whose nonces are used, however many are posted, few are looked for in the chain's events at once", async ({
  setting,
  facilitator,
  proxy,
}) => {
  const authorizationState = "0xe94a0102";
  proxy.behave((method, params) => {
    if (method === "eth_getLogs") return "hold";
    const [call] = params as [{ data?: string } | undefined];
    return method === "eth_call" && call?.data?.startsWith(authorizationState)
      ? { result: `0x${"1".padStart(64, "0")}` }
      : "pass";
  });
  const before = proxy.counts.get("eth_getLogs") ?? 0;
  const over = await Promise.all(
    Array.from({ length: 60 }, () => paymentBody(newBuyer(), setting.terms, { validBefore: "1000" })),
  );
  const statuses: number[] = [];
  const posted = Promise.all(over.map((body) => facilitator.settle(body).then(({ status }) => statuses.push(status))));
  // The others are told that it cannot be said now.
  await expect.poll(() => statuses.length).toBeGreaterThan(50);
  expect((proxy.counts.get("eth_getLogs") ?? 0) - before).toBeLessThan(10);
  expect((await facilitator.settle(await paymentBody(await setting.fundedBuyer(), setting.terms))).body).toMatchObject({
    success: true,
  });
  proxy.behave(() => "pass");
  await posted;
  // Of the few that were looked for, the node's silence may have ended the search before.
  expect(statuses.every((status) => status === 200 || status === 503)).toBe(true);
  expect((await facilitator.settle(over[0])).status).toBe(200);
});
