import { randomBytes } from "node:crypto";
import { expect } from "vitest";
import { createAccount } from "../../marketplace/accounts/create.ts";
import { addPayoutWallet } from "../../marketplace/accounts/payout-wallets.ts";
import { moveAccount } from "../../marketplace/accounts/state.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { moveAgent } from "../../marketplace/agents/state.ts";
import { listDebts } from "../../marketplace/payments/debts.ts";
import { paidTest } from "../support/fixtures.ts";
import { startCopy } from "../support/marketplace.ts";
import type { PaidMarket } from "../support/paid-market.ts";
import { decodeHeader, encodeHeader, payQuote, post, settleFirst } from "../support/pay-call.ts";

const test = paidTest({ env: { LLM_MODELS: "small=0:500:2000" } });
test.afterEach(({ paid }) => {
  paid.marketplace.model.clearFaults();
  paid.toFacilitator.behave(() => "pass");
});

const text = { name: "text", type: "text", required: true };
const echo = { connector: "llm", price_credits: 5, settings: { system: "Repeat.", prompt: "{{text}}" } };
const body = { text: "a text that is worth something" };

/** An agent of a creator of its own, and what changes it. */
async function seller({ marketplace, evmWallet }: PaidMarket) {
  const { context } = marketplace;
  const creator = await createAccount(context.db, { handle: `seller-${randomBytes(4).toString("hex")}` });
  const wallet = { accountId: creator.id, network: "eip155:84532", address: evmWallet, checked: true };
  await addPayoutWallet(context.db, wallet);
  const publish = (more: object = {}, fields: object[] = [text]) =>
    publishAgent(context, creator, "echo", { name: "Echo", description: "Says it.", ...echo, fields, ...more });
  const { address } = await publish();
  return { address, creator, publish, url: `${marketplace.url}/api/agent/${address}` };
}

type Seller = Awaited<ReturnType<typeof seller>>;

/** Bought, and its end is not known yet: the result is kept. */
async function boughtUnknown(paid: PaidMarket, { url }: Seller) {
  const proof = await payQuote(paid, "evm", await post(url, { body }));
  paid.toFacilitator.behave((path) => (path === "/settle" ? "lose-answer" : "pass"));
  expect((await post(url, { body, proof })).status).toBe(503);
  paid.toFacilitator.behave(() => "pass");
  return proof;
}

const changes: ReadonlyArray<readonly [string, (paid: PaidMarket, seller: Seller) => Promise<unknown>]> = [
  [
    "runs on another connector with other fields",
    (_paid, { publish }) =>
      publish({ connector: "http-api", settings: { method: "GET", url: "https://example.com/{{city}}" } }, [
        { name: "city", type: "text", required: true },
      ]),
  ],
  ["takes shorter texts", (_paid, { publish }) => publish({}, [{ ...text, max_length: 5 }])],
  [
    "needs one more input",
    (_paid, { publish }) => publish({}, [text, { name: "tone", type: "string", required: true }]),
  ],
  ["is suspended", ({ marketplace }, { address }) => moveAgent(marketplace.context.db, address, "suspend")],
  ["is off the market", ({ marketplace }, { address }) => moveAgent(marketplace.context.db, address, "unpublish")],
  ["costs nothing", (_paid, { publish }) => publish({ price_credits: 0 })],
  [
    "is of a suspended creator",
    ({ marketplace }, { creator }) => moveAccount(marketplace.context.db, creator, "suspend"),
  ],
];

test.for(changes)(
  "a result that waits for its buyer is had when the agent %s, from one run for one charge",
  async ([, change], { paid }) => {
    const sold = await seller(paid);
    const asked = paid.marketplace.model.asked();
    const proof = await boughtUnknown(paid, sold);
    await change(paid, sold);
    const answer = await post(sold.url, { body, proof });
    expect(answer).toMatchObject({ status: 200, body: { success: true, output: { kind: "text" } } });
    expect(paid.marketplace.model.asked()).toBe(asked + 1);
    // It was handed out, and nothing is had twice.
    const again = await post(sold.url, { body, proof });
    expect(again.status).not.toBe(200);
  },
);

test("a result that waits for its buyer is had where the operator has made the model's texts shorter since", async ({
  paid,
}) => {
  const sold = await seller(paid);
  const proof = await boughtUnknown(paid, sold);
  const { environment, ...copied } = paid.marketplace;
  const copy = await startCopy({ ...copied, environment: { ...environment, LLM_MODELS: "small=0:500:5" } });
  try {
    const answer = await post(`${copy.url}/api/agent/${sold.address}`, { body, proof });
    expect(answer).toMatchObject({ status: 200, body: { success: true } });
  } finally {
    await copy.stop();
  }
});

test("a result whose buyer hung up is had after the agent became another one; for another input there is none", async ({
  paid,
}) => {
  const sold = await seller(paid);
  const { model } = paid.marketplace;
  const proof = await payQuote(paid, "evm", await post(sold.url, { body }));
  const asked = model.asked();
  model.injectFault({ delayMs: 600_000 });
  const buyer = new AbortController();
  const headers = { "payment-signature": Buffer.from(JSON.stringify(proof)).toString("base64") };
  const posting = fetch(sold.url, { method: "POST", headers, body: JSON.stringify(body), signal: buyer.signal });
  await expect.poll(() => model.asked()).toBe(asked + 1);
  buyer.abort();
  await expect(posting).rejects.toThrow();
  model.answerHeld();
  const { db } = paid.marketplace.context;
  const isKept = async () =>
    (
      await db.query(
        "select from paid_calls where output is not null and transaction_id is not null and product in (select id from agents where handle || '/' || slug = $1)",
        [sold.address],
      )
    ).rowCount;
  await expect.poll(isKept).toBe(1);
  await sold.publish({}, [{ ...text, max_length: 5 }]);
  expect((await post(sold.url, { body: { text: "other" }, proof })).status).toBe(402);
  expect(await post(sold.url, { body, proof })).toMatchObject({ status: 200, body: { success: true } });
  expect(model.asked()).toBe(asked + 1);
});

test("by the tool server a waiting result is had as well, when the agent became free", async ({ paid }) => {
  const sold = await seller(paid);
  const tool = sold.address.replace("/", "--");
  const call = (meta?: object) => callPaidTool(paid, tool, meta);
  const quoted = await call();
  const asked = paid.marketplace.model.asked();
  const headers = new Headers();
  headers.set("payment-required", Buffer.from(JSON.stringify(quoted.structuredContent)).toString("base64"));
  const proof = await payQuote(paid, "evm", { status: 402, headers, body: quoted.structuredContent });
  paid.toFacilitator.behave((path) => (path === "/settle" ? "lose-answer" : "pass"));
  expect((await call({ "x402/payment": proof })).isError).toBe(true);
  paid.toFacilitator.behave(() => "pass");
  await sold.publish({ price_credits: 0 });
  const answer = await call({ "x402/payment": proof });
  expect(answer).toMatchObject({ _meta: { "x402/payment-response": { success: true } } });
  expect(answer.isError).not.toBe(true);
  expect(paid.marketplace.model.asked()).toBe(asked + 1);
});

/** Calls the tool as a stranger to every library does. */
async function callPaidTool({ marketplace }: PaidMarket, name: string, meta?: object) {
  const params = { name, arguments: body, ...(meta && { _meta: meta }) };
  const answer = await fetch(`${marketplace.url}/api/x402/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  });
  const said = await answer.text();
  return JSON.parse(said.startsWith("{") ? said : (/^data: (.*)$/m.exec(said)?.[1] ?? "{}")).result;
}

test("a payment that was settled before its agent became free buys its result, one that was not costs nothing", async ({
  paid,
}) => {
  const sold = await seller(paid);
  const tool = sold.address.replace("/", "--");
  const settled = await settleFirst(paid, await payQuote(paid, "evm", await post(sold.url, { body })));
  const quoted = await callPaidTool(paid, tool);
  const headers = new Headers({ "payment-required": encodeHeader(quoted.structuredContent) });
  const forTool = await settleFirst(paid, await payQuote(paid, "evm", { status: 402, headers, body: {} }));
  const unsettled = await payQuote(paid, "evm", await post(sold.url, { body }));
  await sold.publish({ price_credits: 0 });

  const bought = await post(sold.url, { body, proof: settled });
  expect(bought).toMatchObject({ status: 200, body: { success: true } });
  expect(decodeHeader(bought.headers.get("payment-response"))).toMatchObject({ success: true });
  const called = await callPaidTool(paid, tool, { "x402/payment": forTool });
  expect(called).toMatchObject({ _meta: { "x402/payment-response": { success: true } } });

  const free = await post(sold.url, { body, proof: unsettled });
  expect(free).toMatchObject({ status: 200, body: { success: true } });
  expect(free.headers.get("payment-response")).toBeNull();
});

test("what a payment bought that gave no result yet is had when the agent became free", async ({ paid }) => {
  const sold = await seller(paid);
  const settled = await settleFirst(paid, await payQuote(paid, "evm", await post(sold.url, { body })));
  paid.marketplace.model.injectFault({ status: 500, times: 10 });
  expect(await post(sold.url, { body, proof: settled })).toMatchObject({ status: 503, body: { charged: true } });
  paid.marketplace.model.clearFaults();
  await sold.publish({ price_credits: 0 });
  const bought = await post(sold.url, { body, proof: settled });
  expect(bought).toMatchObject({ status: 200, body: { success: true } });
  expect(decodeHeader(bought.headers.get("payment-response"))).toMatchObject({ success: true });
  expect(await listDebts(paid.marketplace.context.db, sold.creator.id, { limit: 10, offset: 0 })).toEqual([]);
});
