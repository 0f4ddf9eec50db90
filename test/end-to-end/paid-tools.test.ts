import { createHash } from "node:crypto";
import { connect } from "node:net";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { Resvg } from "@resvg/resvg-js";
import { x402Client } from "@x402/core/client";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { ExactEvmSchemeV1 } from "@x402/evm/v1";
import { createSIWxPayload } from "@x402/extensions/sign-in-with-x";
import { createPublicClient, http } from "viem";
import { expect, onTestFinished } from "vitest";
import { usdcStandIn } from "../../infra/local-evm/artifacts.ts";
import { createAccount } from "../../marketplace/accounts/create.ts";
import { renameAccount } from "../../marketplace/accounts/rename.ts";
import { moveAccount } from "../../marketplace/accounts/state.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { moveAgent } from "../../marketplace/agents/state.ts";
import { signAuthorization } from "../support/evm-payments.ts";
import { paidTest } from "../support/fixtures.ts";
import { call, echoAgent } from "../support/marketplace.ts";
import { callTool, textOf, toolNames } from "../support/mcp.ts";
import type { PaidMarket } from "../support/paid-market.ts";
import { bareProof, encodeHeader, payQuote, post, settleFirst } from "../support/pay-call.ts";
import { watchRequests } from "../support/watched-requests.ts";

const test = paidTest();
let client: Client;
let image: string;
let tool: string;
test.beforeAll(async ({ paid }) => {
  client = new Client({ name: "test", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(`${paid.marketplace.url}/api/x402/mcp`));
  await client.connect(transport as never);
  tool = paid.address.replace("/", "--");
  const drawing = '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40"><rect width="60" height="40"/></svg>';
  image = new Resvg(drawing).render().asPng().toString("base64");
});
test.afterEach(({ paid }) => {
  paid.toFacilitator.behave(() => "pass");
  paid.marketplace.model.clearFaults();
});
test.afterAll(async () => {
  await client?.close();
  process.off("warning", noteWarning);
});

const warned = new Set<string>();
const noteWarning = ({ name }: Error) => warned.add(name);
process.on("warning", noteWarning);

const paymentFor = (paid: PaidMarket, quoted: CallToolResult, chain: "hedera" | "evm") => {
  const headers = new Headers({ "payment-required": encodeHeader(quoted.structuredContent as object) });
  return payQuote(paid, chain, { status: 402, headers, body: {} });
};
const pay = async (paid: PaidMarket, name: string, input: object, chain: "hedera" | "evm" = "evm") => {
  const payment = await paymentFor(paid, await callTool(client, name, input), chain);
  return { payment, answer: await callTool(client, name, input, { "x402/payment": payment }) };
};

test("without a key the three drawings are listed, each with its price", async () => {
  expect(await toolNames(client)).toEqual(["svg_vectorize", "svg_generate", "svg_generate_hd"]);
});

test("a call without a payment answers its price, in both places a client may look, and nothing else happens", async ({
  paid,
}) => {
  const asked = paid.marketplace.model.asked();
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
  expect(paid.marketplace.model.asked()).toBe(asked);
});

test.for(["hedera", "evm"] as const)("a payment on %s buys one result, once", async (chain, { paid }) => {
  const { payment, answer } = await pay(paid, "svg_vectorize", { image }, chain);
  expect(answer.isError).toBeUndefined();
  expect(answer.structuredContent).toMatchObject({ width: 60, svg: expect.stringMatching(/^<svg/), cost_usd: 0.01 });
  expect(answer._meta?.["x402/payment-response"]).toMatchObject({ success: true, transaction: expect.any(String) });
  const again = await callTool(client, "svg_vectorize", { image }, { "x402/payment": payment });
  expect(again).toMatchObject({
    isError: true,
    structuredContent: { error: expect.stringContaining("already_settled"), charged: true, accepts: [] },
    _meta: { charged: true, "x402/payment-response": { success: false, errorReason: "already_settled" } },
  });
  expect(textOf(again)).not.toContain("<svg");
});

test.for([
  [1, "?x402Version=1", "structuredContent", (payment: object) => ({ "x402/payment": payment })],
  [1, "?x402Version=1", "text", (payment: object) => ({ "x402.payment": encodeHeader(payment) })],
  [2, "", "_meta", (payment: object) => ({ "x402/payment": encodeHeader(payment) })],
  [2, "?x402Version=2", "structuredContent", (payment: object) => ({ "x402/payment": payment })],
] as const)(
  "a stock client of x402 version %i at %s pays what it reads in %s, in the form that it sends",
  async ([version, query, place, metaOf], { paid }) => {
    const reader = new Client({ name: "test", version: "1" });
    const url = new URL(`${paid.marketplace.url}/api/x402/mcp${query}`);
    await reader.connect(new StreamableHTTPClientTransport(url) as never);
    // The client holds what comes to the schemas that it was shown.
    await reader.listTools();
    const buyer = await paid.setting.fundedBuyer();
    const allowed = { network: "eip155:84532", asset: paid.setting.chain.usdc } as const;
    const wallet = x402Client.fromConfig({
      schemes: [
        { network: "eip155:84532", client: new ExactEvmScheme(buyer) },
        { network: "base-sepolia" as never, client: new ExactEvmSchemeV1(buyer), x402Version: 1 },
      ],
      spendControls: { allowedAssets: [allowed, { ...allowed, network: "base-sepolia" as never }] },
    });
    for (const [name, input, words] of [
      ["svg_vectorize", { image }, "<svg"],
      [tool, { text: `by version ${version} in ${place}` }, "Asked: by version"],
    ] as const) {
      const quoted = await callTool(reader, name, input);
      const read = { structuredContent: quoted.structuredContent, text: JSON.parse(textOf(quoted)) };
      const quote = { ...read, _meta: quoted._meta?.["x402/error"] }[place] as never;
      expect(quote).toMatchObject({ x402Version: version });
      const payment = await wallet.createPaymentPayload(quote);
      const bought = await callTool(reader, name, input, metaOf(payment));
      expect(textOf(bought)).toContain(words);
      expect(bought._meta?.["x402/payment-response"]).toMatchObject({ success: true });
    }
    await reader.close();
  },
);

test("an agent that is paid per call answers to its tool name, and its creator is paid", async ({ paid }) => {
  const request = { address: paid.setting.chain.usdc, abi: usdcStandIn.abi, functionName: "balanceOf" } as const;
  const chain = createPublicClient({ transport: http(paid.setting.chain.rpcUrl) });
  const earned = () => chain.readContract({ ...request, args: [paid.evmWallet] });
  const before = BigInt(await earned());
  const { answer } = await pay(paid, tool, { text: "hello" });
  await expect.poll(earned).toBe(before + 50_000n);
  expect(textOf(answer)).toContain("Asked: hello");
  expect(answer._meta).toMatchObject({ run_id: expect.stringMatching(/^run_/) });
  expect(answer._meta?.["x402/payment-response"]).toMatchObject({ success: true, network: "eip155:84532" });
});

test("a free agent answers to the tool that the catalogue names, within the limits of callers without a key", async ({
  paid,
}) => {
  const { context, url } = paid.marketplace;
  await publishAgent(context, paid.market.creator, "gratis", { ...echoAgent, name: "Gratis", price_credits: 0 });
  const { body } = await call(url, "/api/x402/catalog?free=true");
  expect(body.agents).toHaveLength(1);
  const { mcp_tool: free, price_usd: price } = body.agents[0];
  expect(price).toBe(0);
  const ran = await callTool(client, free, { text: "hello" });
  expect(textOf(ran)).toContain("Asked: hello");
  expect(ran).toMatchObject({ _meta: { run_id: expect.stringMatching(/^run_/), charged: false } });
  expect(await callTool(client, free, {})).toMatchObject({ isError: true, _meta: { field: "text", charged: false } });
  const { rows } = await context.db.query("select 1 from rate_limits where subject like 'free-of:%'");
  expect(rows).toHaveLength(1);
});

test("the same payment sent twice at once is one run and one charge", async ({ paid }) => {
  const payment = await paymentFor(paid, await callTool(client, tool, { text: "twice" }), "evm");
  const asked = paid.marketplace.model.asked();
  const answers = await Promise.all(
    [1, 2].map(() => callTool(client, tool, { text: "twice" }, { "x402/payment": payment })),
  );
  expect(paid.marketplace.model.asked()).toBe(asked + 1);
  expect(new Set(answers.map((answer) => answer._meta?.run_id)).size).toBe(1);
});

test("an agent that fails is not charged; what cannot be done without a key is refused before the payment is looked at", async ({
  paid,
}) => {
  paid.marketplace.model.injectFault({ status: 500 });
  const { answer } = await pay(paid, tool, { text: "hello" });
  expect(answer).toMatchObject({ isError: true, _meta: { charged: false } });
  expect(textOf(answer)).toContain("Nothing was charged.");
  for (const [name, input, field] of [
    ["svg_vectorize", { image, layers: true }, "layers"],
    ["svg_generate_hd", { prompt: "x", aspect: "wide" }, "aspect"],
    ["svg_vectorize", { image, max_credits: 2 }, "max_credits"],
    [tool, {}, "text"],
  ] as const) {
    const { payment, answer: refused } = await pay(paid, name, input);
    expect(refused).toMatchObject({ isError: true, _meta: { field } });
    // It is said once the facilitator could be asked: strangers may have it asked a few times a second.
    const charged = async () => (await callTool(client, name, input, { "x402/payment": payment }))._meta?.charged;
    await expect.poll(charged).toBe(false);
  }
});

test("of a payment that its buyer had settled first, wrong input is not said to have cost nothing", async ({
  paid,
}) => {
  for (const [name, wrong, input] of [
    ["svg_vectorize", { image, layers: true }, { image }],
    [tool, {}, { text: "hello" }],
  ] as const) {
    const payment = await settleFirst(paid, await paymentFor(paid, await callTool(client, name, input), "evm"));
    const refused = await callTool(client, name, wrong, { "x402/payment": payment });
    expect(refused.isError).toBe(true);
    expect(refused._meta).not.toHaveProperty("charged");
    expect(textOf(refused)).not.toContain("Nothing was charged");
    const url = `${paid.marketplace.url}/api/x402/svg-vectorize`;
    if (name === tool) continue;
    const posted = await post(url, { body: wrong, proof: payment });
    expect([posted.status, "charged" in posted.body]).toEqual([400, false]);
  }
});

test("a settlement that nobody knows the end of gives no result away, and the same payment takes it up", async ({
  paid,
}) => {
  paid.toFacilitator.behave((path) => (path === "/settle" ? "lose-answer" : "pass"));
  const { payment, answer } = await pay(paid, tool, { text: "unknown" });
  expect(answer.isError).toBe(true);
  expect(textOf(answer)).toMatch(/same payment again/);
  expect(textOf(answer)).not.toContain("Asked");
  paid.toFacilitator.behave(() => "pass");
  const after = await callTool(client, tool, { text: "unknown" }, { "x402/payment": payment });
  expect(textOf(after)).toContain("Asked: unknown");
});

test("a payment that was settled before is the quote's holder's or the shown wallet's, and no stranger's", async ({
  paid,
}) => {
  const args = { text: "hello", extra: { b: 1, a: [2, { d: 3, c: 4 }] } };
  const call = (payment: object, meta: object = {}, sent: object = args) =>
    callTool(client, tool, sent, { "x402/payment": payment, ...meta });
  const asked = paid.marketplace.model.asked();
  const proof = await settleFirst(paid, await paymentFor(paid, await callTool(client, tool, args), "evm"));
  const strangers = await paymentFor(paid, await callTool(client, tool, args), "evm");
  const { payload } = proof;
  const bare = { x402Version: 1, scheme: "exact", network: proof.accepted.network, payload };
  for (const stolen of [{ ...strangers, payload }, bare]) {
    expect(textOf(await call(stolen))).toContain("wallet_proof_required");
  }
  expect(paid.marketplace.model.asked()).toBe(asked);
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

test("a name that an agent had as a tool stays its own: it is called under it, and no stranger's agent gets it", async ({
  paid,
}) => {
  const { context } = paid.marketplace;
  const { creator } = paid.market;
  const definition = { ...echoAgent, settings: { prompt: "{{text}}" } };
  await publishAgent(context, creator, "one--two", definition);
  const former = `${creator.handle}--one--two`;
  const quoted = await callTool(client, former, { text: "hello" });
  const headers = new Headers({ "payment-required": encodeHeader(quoted.structuredContent as object) });
  const buyer = await paid.setting.fundedBuyer();
  const terms = { extra: { name: "USDC", version: "2" } };
  const settled = await settleFirst(
    paid,
    await payQuote(paid, "evm", { status: 402, headers, body: {} }, { buyer, terms }),
  );

  const renamed = await renameAccount(context.db, creator, `renamed-${creator.handle}`);
  onTestFinished(async () => {
    await context.db.query("update accounts set handle_changed_at = null where id = $1", [creator.id]);
    await renameAccount(context.db, renamed, creator.handle);
  });
  const stranger = await createAccount(context.db, { handle: `${creator.handle}--one` });
  await publishAgent(context, stranger, "two", definition);
  const again = (await callTool(client, former, { text: "hello" })).structuredContent as object;
  const payees = ({ accepts }: { accepts?: Array<{ payTo: string }> }) => accepts?.map(({ payTo }) => payTo);
  expect(payees(again)).toEqual(payees(quoted.structuredContent as object));

  const show = (meta: object = {}) =>
    callTool(client, `${renamed.handle}--one--two`, { text: "hello" }, { "x402/payment": settled, ...meta });
  const { info } = ((await show()).structuredContent as unknown as ChallengingQuote).extensions["sign-in-with-x"];
  const whole = { ...info, chainId: "eip155:84532", type: "eip191" as const };
  const signed = await createSIWxPayload(whole, buyer, paid.publicUrl);
  expect(textOf(await show({ "x402/sign-in-with-x": signed }))).toContain("Asked: hello");
});

test("a payment that was settled before its tool was suspended, or its creator's account, is a debt, and nothing to a stranger", async ({
  paid,
}) => {
  const { context } = paid.marketplace;
  const input = { text: "hello" };
  const owed = await settleFirst(paid, await paymentFor(paid, await callTool(client, tool, input), "evm"));
  const strangers = { ...(await paymentFor(paid, await callTool(client, tool, input), "evm")), payload: owed.payload };
  const expectOwed = async () => {
    const told = await callTool(client, tool, input, { "x402/payment": owed });
    expect(told).toMatchObject({ isError: true, _meta: { charged: true, debt: { agent: paid.address } } });
    expect(told._meta?.["x402/payment-response"]).toMatchObject({ success: true });
  };
  await moveAgent(context.db, paid.address, "suspend");
  await expectOwed();
  const stolen = callTool(client, tool, input, {
    "x402/payment": { ...strangers, accepted: { ...owed.accepted, extra: {} } },
  });
  await expect(stolen).rejects.toMatchObject({ code: -32602 });
  await moveAgent(context.db, paid.address, "restore");
  await moveAccount(context.db, paid.market.creator, "suspend");
  await expectOwed();
  await moveAccount(context.db, paid.market.creator, "restore");
  expect(textOf(await callTool(client, tool, input, { "x402/payment": owed }))).toContain("Asked: hello");
});

test("a payment of version 1 that was settled before it is shown buys the input that it was quoted for, and no other", async ({
  paid,
}) => {
  const reader = new Client({ name: "test", version: "1" });
  const url = new URL(`${paid.marketplace.url}/api/x402/mcp?x402Version=1`);
  await reader.connect(new StreamableHTTPClientTransport(url) as never);
  const input = { text: "settled by version 1" };
  const { accepts } = (await callTool(reader, tool, input)).structuredContent as unknown as VersionOneQuote;
  const quoted = accepts.find(({ network }) => network === "base-sepolia")!;
  const terms = { ...paid.setting.terms, payTo: quoted.payTo, amount: quoted.maxAmountRequired };
  const payload = await signAuthorization(await paid.setting.fundedBuyer(), terms);
  const payment = { x402Version: 1, scheme: "exact", network: quoted.network, payload };
  await paid.facilitator.settle({ x402Version: 1, paymentPayload: payment, paymentRequirements: quoted });
  const show = (sent: object) => callTool(reader, tool, sent, { "x402/payment": payment });
  expect(textOf(await show({ text: "another" }))).toContain("wallet_proof_required");
  await moveAgent(paid.marketplace.context.db, paid.address, "suspend");
  expect(await show(input)).toMatchObject({ isError: true, _meta: { charged: true, debt: { agent: paid.address } } });
  await moveAgent(paid.marketplace.context.db, paid.address, "restore");
  expect(textOf(await show(input))).toContain("Asked: settled by version 1");
  await reader.close();
});

test("an answer warns of no leak in the log", async ({ paid }) => {
  expect((await pay(paid, tool, { text: "quietly" })).answer.isError).toBeUndefined();
  expect([...warned]).not.toContain("MaxListenersExceededWarning");
});

test("a payment for a tool that its creator took off the market meanwhile is answered as it was bought, and a stranger's is not", async ({
  paid,
}) => {
  const { db } = paid.marketplace.context;
  const input = { text: "bought before" };
  const quoted = await callTool(client, tool, input);
  const [bought, another] = [await paymentFor(paid, quoted, "evm"), await paymentFor(paid, quoted, "evm")];
  await settleFirst(paid, bought);
  await moveAgent(db, paid.address, "unpublish");
  expect(textOf(await callTool(client, tool, input, { "x402/payment": bought }))).toContain("Asked: bought before");
  const unpaid = { ...another, accepted: { ...another.accepted, extra: {} } };
  await expect(callTool(client, tool, input, { "x402/payment": unpaid })).rejects.toMatchObject({ code: -32602 });
  await expect(callTool(client, tool, input)).rejects.toMatchObject({ code: -32602 });
  await db.query("update agents set state = 'live' where id = $1", [paid.market.agent.agentId]);
});

test("a stranger whose request began before a result was delivered, and shows its payment after, has no copy of it", async ({
  paid,
}) => {
  const input = { text: "few inputs" };
  const payment = await paymentFor(paid, await callTool(client, tool, input), "evm");
  const { hostname, port, host } = new URL(paid.marketplace.url);
  const { begun, stop } = watchRequests("/api/x402/mcp");
  onTestFinished(stop);
  const socket = connect(Number(port), hostname);
  let answer = "";
  socket.on("data", (chunk) => {
    answer += chunk;
  });
  const send = (text: string) => socket.write(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
  const head = [
    "POST /api/x402/mcp HTTP/1.1",
    `host: ${host}`,
    "content-type: application/json",
    "accept: application/json, text/event-stream",
    "transfer-encoding: chunked",
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  const params = `{"name":"${tool}","arguments":${JSON.stringify(input)}`;
  send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params},`);
  await expect.poll(() => begun[0]?.socket.bytesRead).toBe(socket.bytesWritten);
  const url = `${paid.marketplace.url}/api/agent/${paid.address}`;
  const quoted = await payQuote(paid, "evm", await post(url, { body: input }));
  const proof = bareProof(quoted);
  expect((await post(url, { body: input, proof, header: "X-PAYMENT" })).status).toBe(200);
  await expect
    .poll(async () => (await post(url, { body: input, proof, header: "X-PAYMENT" })).body.error)
    .toContain("already_settled");
  send(`"_meta":{"x402/payment":${JSON.stringify(proof)}}}}`);
  socket.write("0\r\n\r\n");
  await expect.poll(() => answer).toContain("already_settled");
  expect(answer).not.toContain("Asked: few inputs");
  socket.destroy();
  // One that was not used stays good.
  expect(textOf(await callTool(client, tool, input, { "x402/payment": payment }))).toContain("Asked");
});

interface VersionOneQuote {
  readonly accepts: ReadonlyArray<{
    readonly network: string;
    readonly payTo: string;
    readonly maxAmountRequired: string;
  }>;
}

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

test("an agent that is not live is a tool that is not there, and a key opens nothing here", async ({ paid }) => {
  await moveAgent(paid.marketplace.context.db, paid.address, "unpublish");
  for (const name of [tool, "no--such", "agents_search"]) {
    await expect(callTool(client, name, { text: "x" })).rejects.toMatchObject({ code: -32602 });
  }
});
