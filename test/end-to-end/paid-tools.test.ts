import { createHash } from "node:crypto";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { Resvg } from "@resvg/resvg-js";
import { createSIWxPayload } from "@x402/extensions/sign-in-with-x";
import { createPublicClient, http } from "viem";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { usdcStandIn } from "../../infra/evm-chain/artifacts.ts";
import { moveAgent } from "../../marketplace/agents/state.ts";
import { callTool, textOf, toolNames } from "../support/mcp.ts";
import { type PaidMarket, startPaidMarket } from "../support/paid-market.ts";
import { encodeHeader, payQuote, settleFirst } from "../support/pay-call.ts";

let paid: PaidMarket;
let client: Client;
let image: string;
let tool: string;
beforeAll(async () => {
  paid = await startPaidMarket();
  client = new Client({ name: "test", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(`${paid.marketplace.url}/api/x402/mcp`));
  await client.connect(transport as never);
  tool = paid.address.replace("/", "--");
  const drawing = '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40"><rect width="60" height="40"/></svg>';
  image = new Resvg(drawing).render().asPng().toString("base64");
});
afterEach(() => {
  paid.toFacilitator.behave(() => "pass");
  paid.marketplace.model.clearFaults();
});
afterAll(async () => {
  await client?.close();
  await paid?.stop();
});

const paymentFor = (quoted: CallToolResult, chain: "hedera" | "evm") => {
  const headers = new Headers({ "payment-required": encodeHeader(quoted.structuredContent as object) });
  return payQuote(paid, chain, { status: 402, headers, body: {} });
};
const pay = async (name: string, input: object, chain: "hedera" | "evm" = "evm") => {
  const payment = await paymentFor(await callTool(client, name, input), chain);
  return { payment, answer: await callTool(client, name, input, { "x402/payment": payment }) };
};

test("without a key the three drawings are listed, each with its price", async () => {
  expect(await toolNames(client)).toEqual(["svg_vectorize", "svg_generate", "svg_generate_hd"]);
});

test("a call without a payment answers its price, in both places a client may look, and nothing else happens", async () => {
  const asked = paid.marketplace.model.requests.length;
  for (const [name, amount] of [
    ["svg_vectorize", "10000"],
    ["svg_generate", "30000"],
    ["svg_generate_hd", "80000"],
    [tool, "50000"],
  ] as const) {
    const quoted = await callTool(client, name);
    expect(quoted.isError).toBe(true);
    expect(quoted.structuredContent).toMatchObject({ x402Version: 2, resource: { url: `mcp://tool/${name}` } });
    const { accepts } = quoted.structuredContent as { accepts: Array<{ amount: string; network: string }> };
    expect(accepts.map((entry) => entry.amount)).toEqual([amount, amount]);
    expect(quoted.content).toEqual([{ type: "text", text: JSON.stringify(quoted.structuredContent) }]);
  }
  expect(paid.marketplace.model.requests.length).toBe(asked);
});

test.each(["hedera", "evm"] as const)("a payment on %s buys one result, once", async (chain) => {
  const { payment, answer } = await pay("svg_vectorize", { image }, chain);
  expect(answer.isError).toBeUndefined();
  expect(answer.structuredContent).toMatchObject({ width: 60, svg: expect.stringMatching(/^<svg/), cost_usd: 0.01 });
  expect(answer._meta?.["x402/payment-response"]).toMatchObject({ success: true, transaction: expect.any(String) });
  const again = await callTool(client, "svg_vectorize", { image }, { "x402/payment": payment });
  expect(again).toMatchObject({
    isError: true,
    structuredContent: { error: expect.stringContaining("already_settled") },
  });
  expect(textOf(again)).not.toContain("<svg");
});

test("an agent that is paid per call answers to its tool name, and its creator is paid", async () => {
  const request = { address: paid.setting.chain.usdc, abi: usdcStandIn.abi, functionName: "balanceOf" } as const;
  const chain = createPublicClient({ transport: http(paid.setting.chain.rpcUrl) });
  const earned = () => chain.readContract({ ...request, args: [paid.evmWallet] });
  const before = BigInt(await earned());
  const { answer } = await pay(tool, { text: "hello" });
  await expect.poll(earned).toBe(before + 50_000n);
  expect(textOf(answer)).toContain("Asked: hello");
  expect(answer._meta).toMatchObject({ run_id: expect.stringMatching(/^run_/) });
  expect(answer._meta?.["x402/payment-response"]).toMatchObject({ success: true, network: "eip155:84532" });
});

test("the same payment sent twice at once is one run and one charge", async () => {
  const payment = await paymentFor(await callTool(client, tool, { text: "twice" }), "evm");
  const asked = paid.marketplace.model.requests.length;
  const answers = await Promise.all(
    [1, 2].map(() => callTool(client, tool, { text: "twice" }, { "x402/payment": payment })),
  );
  expect(paid.marketplace.model.requests.length).toBe(asked + 1);
  expect(new Set(answers.map((answer) => answer._meta?.run_id)).size).toBe(1);
});

test("an agent that fails is not charged; what cannot be done without a key is refused before the payment is looked at", async () => {
  paid.marketplace.model.injectFault({ status: 500 });
  const { answer } = await pay(tool, { text: "hello" });
  expect(answer).toMatchObject({ isError: true, _meta: { charged: false } });
  expect(textOf(answer)).toContain("Nothing was charged.");
  for (const [name, input, field] of [
    ["svg_vectorize", { image, layers: true }, "layers"],
    ["svg_generate_hd", { prompt: "x", aspect: "wide" }, "aspect"],
    [tool, {}, "text"],
  ] as const) {
    const refused = (await pay(name, input)).answer;
    expect(refused).toMatchObject({ isError: true, _meta: { field } });
  }
});

test("a settlement that nobody knows the end of gives no result away, and the same payment takes it up", async () => {
  paid.toFacilitator.behave((path) => (path === "/settle" ? "lose-answer" : "pass"));
  const { payment, answer } = await pay(tool, { text: "unknown" });
  expect(answer.isError).toBe(true);
  expect(textOf(answer)).toMatch(/same payment again/);
  expect(textOf(answer)).not.toContain("Asked");
  paid.toFacilitator.behave(() => "pass");
  const after = await callTool(client, tool, { text: "unknown" }, { "x402/payment": payment });
  expect(textOf(after)).toContain("Asked: unknown");
});

test("a payment that was settled before is the quote's holder's or the shown wallet's, and no stranger's", async () => {
  const args = { text: "hello", extra: { b: 1, a: [2, { d: 3, c: 4 }] } };
  const call = (payment: object, meta: object = {}, sent: object = args) =>
    callTool(client, tool, sent, { "x402/payment": payment, ...meta });
  const asked = paid.marketplace.model.requests.length;
  const proof = await settleFirst(paid, await paymentFor(await callTool(client, tool, args), "evm"));
  const strangers = await paymentFor(await callTool(client, tool, args), "evm");
  const { payload } = proof;
  const bare = { x402Version: 1, scheme: "exact", network: proof.accepted.network, payload };
  for (const stolen of [{ ...strangers, payload }, bare]) {
    expect(textOf(await call(stolen))).toContain("wallet_proof_required");
  }
  expect(paid.marketplace.model.requests.length).toBe(asked);
  expect(textOf(await call(proof))).toContain("Asked: hello");

  const buyer = await paid.setting.fundedBuyer();
  const quoted = { status: 402, headers: new Headers(), body: {} };
  quoted.headers.set(
    "payment-required",
    encodeHeader((await callTool(client, tool, args)).structuredContent as object),
  );
  const terms = { extra: { name: "USDC", version: "2" } };
  const unquoted = await settleFirst(paid, await payQuote(paid, "evm", quoted, { buyer, terms }));
  const { structuredContent } = await call(unquoted);
  const { info } = (structuredContent as unknown as ChallengingQuote).extensions["sign-in-with-x"];
  // The arguments as RFC 8785 writes them.
  const canonical = '{"extra":{"a":[2,{"c":4,"d":3}],"b":1},"text":"hello"}';
  expect(info.resources).toContain(`urn:x402:input:sha256:${createHash("sha256").update(canonical).digest("hex")}`);
  const whole = { ...info, chainId: "eip155:84532", type: "eip191" as const };
  const signed = await createSIWxPayload(whole, buyer, paid.publicUrl);
  const meta = { "x402/sign-in-with-x": signed };
  expect(textOf(await call(unquoted, meta, { text: "another" }))).toContain("invalid_wallet_proof");
  const reordered = { extra: { a: [2, { c: 4, d: 3 }], b: 1 }, text: "hello" };
  expect(textOf(await call(unquoted, meta, reordered))).toContain("Asked: hello");
});

interface ChallengingQuote {
  readonly extensions: { readonly "sign-in-with-x": { readonly info: Parameters<typeof createSIWxPayload>[0] } };
}

test.each([
  ["no object", "money"],
  ["a list", []],
  ["of no version", { payload: {} }],
  ["of no network", { x402Version: 2, accepted: {} }],
  ["on another network", { x402Version: 2, accepted: { network: "eip155:1" }, payload: {} }],
  ["that cannot be read", { x402Version: 2, accepted: { network: "eip155:84532" }, payload: {} }],
])("a payment that is %s is answered with the price and why", async (_what, payment) => {
  const answer = await callTool(client, tool, { text: "hello" }, { "x402/payment": payment });
  expect(answer).toMatchObject({ isError: true, structuredContent: { x402Version: 2, error: expect.any(String) } });
  expect((answer.structuredContent as { error: string }).error).not.toBe("Payment is required.");
});

test("an agent that is not live is a tool that is not there, and a key opens nothing here", async () => {
  await moveAgent(paid.marketplace.context.db, paid.address, "unpublish");
  for (const name of [tool, "no--such", "agents_search"]) {
    await expect(callTool(client, name, { text: "x" })).rejects.toMatchObject({ code: -32602 });
  }
});
