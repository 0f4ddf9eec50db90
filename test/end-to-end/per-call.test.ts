import { ExactEvmScheme } from "@x402/evm/exact/client";
import { wrapFetchWithPaymentFromConfig } from "@x402/fetch";
import { createPublicClient, http } from "viem";
import { describe, expect } from "vitest";
import { usdcStandIn } from "../../infra/local-evm/artifacts.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { deleteUnpaidResults } from "../../marketplace/payments/paid-calls/delete-results.ts";
import { paidTest } from "../support/fixtures.ts";
import { usdcOf } from "../support/hedera-payments.ts";
import { echoAgent, type TestMarketplace } from "../support/marketplace.ts";
import type { PaidMarket } from "../support/paid-market.ts";
import { decodeHeader, encodeHeader, payQuote, post as postTo } from "../support/pay-call.ts";

let paid: PaidMarket;

const test = paidTest();
test.beforeAll(({ paid: started }) => {
  paid = started;
});

const input = { text: "hello" };
const encode = encodeHeader;
const decode = decodeHeader;

const post = (proof?: object, options: { body?: unknown; url?: string; header?: string } = {}) => {
  const { url = paid.url, ...rest } = options;
  return postTo(url, { body: input, ...rest, ...(proof && { proof }) });
};
const hederaPayment = async () => payQuote(paid, "hedera", await post());
const evmPayment = async () => payQuote(paid, "evm", await post());

const evmBalance = async () => {
  const client = createPublicClient({ transport: http(paid.setting.chain.rpcUrl) });
  const request = { address: paid.setting.chain.usdc, abi: usdcStandIn.abi, functionName: "balanceOf" } as const;
  return Number(await client.readContract({ ...request, args: [paid.evmWallet] }));
};
const hederaBalance = () => usdcOf(paid.ledger, paid.ledger.accounts.creator.accountId);
const settled = () => paid.facilitator.context.db.query("select count(*) from payments where state = 'settled'");

describe("the quote", () => {
  test("is the specification's body and version 2's header, one entry a chain, the price exact", async () => {
    const { status, headers, body } = await post();
    expect(status).toBe(402);
    expect(headers.get("cache-control")).toBe("no-store");
    expect(body).toMatchObject({ x402Version: 1, error: expect.any(String) });
    const evm = { scheme: "exact", network: "eip155:84532", asset: paid.setting.chain.usdc, payTo: paid.evmWallet };
    const hedera = {
      scheme: "exact",
      network: "hedera:testnet",
      asset: "0.0.429274",
      payTo: paid.ledger.accounts.creator.accountId,
      extra: { feePayer: paid.ledger.accounts.feePayer.accountId },
    };
    const common = { amount: "50000", maxTimeoutSeconds: 180 };
    expect(body.accepts).toMatchObject(
      [evm, hedera].map((entry) => ({ ...entry, ...common, resource: paid.publicUrl })),
    );
    const v2 = decode(headers.get("payment-required"));
    expect(v2).toMatchObject({
      x402Version: 2,
      resource: { url: paid.publicUrl },
      accepts: [
        { ...evm, ...common },
        { ...hedera, ...common },
      ],
    });
    expect(v2.extensions.bazaar.info.input).toEqual({
      type: "http",
      method: "POST",
      bodyType: "json",
      body: { text: "text" },
    });
  });

  test("asked for with ?x402Version=1 names EVM networks as version 1 does, and nothing such clients cannot read", async () => {
    const url = `${paid.url}?x402Version=1`;
    const quoted = await post(undefined, { url });
    expect(quoted.body.accepts).toMatchObject([{ network: "base-sepolia", maxAmountRequired: "50000" }]);
    const { payload } = await evmPayment();
    const proof = { x402Version: 1, scheme: "exact", network: "base-sepolia", payload };
    const answer = await post(proof, { url, header: "X-PAYMENT" });
    expect(answer.status).toBe(200);
    expect(decode(answer.headers.get("x-payment-response"))).toMatchObject({ success: true, network: "base-sepolia" });
  });

  test.each([
    ["what is no JSON", "{", 402],
    ["a million levels", "[".repeat(1_000_000), 402],
    ["two megabytes of small values", `[${"1,".repeat(1_000_000)}1]`, 402],
    ["more than the route takes", "x".repeat(2_097_153), 413],
  ])("is given for %s without a look at it", async (_what, body, status) => {
    expect((await fetch(paid.url, { method: "POST", body })).status).toBe(status);
  });

  test("a path that leads to no live agent is the same 404 as no agent", async () => {
    const nowhere = await post(undefined, { url: `${paid.marketplace.url}/api/agent/nobody/nothing` });
    expect(nowhere.status).toBe(404);
  });

  test("GET is 405 and names POST", async () => {
    const response = await fetch(paid.url);
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toContain("POST");
  });
});

describe.each([
  ["Hedera", hederaPayment, hederaBalance],
  ["EVM", evmPayment, evmBalance],
] as const)("a payment on %s", (_chain, payment, balance) => {
  test("runs the agent, pays the creator's wallet exactly, and is refused when it comes again", async () => {
    const before = await balance();
    const proof = await payment();
    const first = await post(proof);
    expect(first.status).toBe(200);
    expect(first.body).toMatchObject({
      success: true,
      run_id: expect.stringMatching(/^run_/),
      output: { kind: "text" },
    });
    const result = decode(first.headers.get("payment-response"));
    expect(result).toMatchObject({ success: true, transaction: expect.stringMatching(/./), payer: expect.any(String) });
    expect(first.headers.get("x-payment-response")).toBe(first.headers.get("payment-response"));
    await expect.poll(balance).toBe(before + 50_000);

    const again = await post(proof);
    // No offer: who signs one pays twice.
    expect(again).toMatchObject({
      status: 402,
      body: { error: expect.stringMatching(/^already_settled: /), charged: true, accepts: [] },
    });
    expect(again.body.advice).toMatch(/^Do not pay anew/);
    expect(decode(again.headers.get("payment-required"))).toMatchObject({ x402Version: 2, accepts: [] });
    const told = decode(again.headers.get("payment-response"));
    expect(told).toEqual({ ...result, success: false, errorReason: "already_settled" });
    expect(await balance()).toBe(before + 50_000);
  });

  test("posted ten times at once is one run, one charge, one result", async () => {
    const before = await balance();
    const proof = await payment();
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(proof)));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(new Set(answers.map(({ body }) => body.run_id)).size).toBe(1);
    await expect.poll(balance).toBe(before + 50_000);
  });

  test("posted by the hundred while its agent runs is one run, and only so many posts wait for it", async () => {
    const before = await balance();
    const proof = await payment();
    const { model } = paid.marketplace;
    model.injectFault({ delayMs: 600_000 });
    let answered = 0;
    const posts = Array.from({ length: 100 }, () => post(proof).finally(() => (answered += 1)));
    // One runs it, and 64 wait.
    await expect.poll(() => answered).toBe(100 - 1 - 64);
    model.answerHeld();
    const answers = await Promise.all(posts);
    const given = answers.filter(({ status }) => status === 200);
    expect(new Set(given.map(({ body }) => body.run_id)).size).toBe(1);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused).toHaveLength(35);
    for (const { status, headers } of refused) {
      expect(status).toBe(503);
      expect(headers.get("retry-after")).toBe("5");
    }
    await expect.poll(balance).toBe(before + 50_000);
  });

  test("whose buyer hangs up while the agent runs has its result waiting, from one run for one charge", async () => {
    const { model } = paid.marketplace;
    const before = await balance();
    const proof = await payment();
    const asked = model.asked();
    model.injectFault({ delayMs: 600_000 });
    const buyer = new AbortController();
    const call = { method: "POST", headers: { "payment-signature": encode(proof) }, body: JSON.stringify(input) };
    const posting = fetch(paid.url, { ...call, signal: buyer.signal });
    await expect.poll(() => model.asked()).toBe(asked + 1);
    buyer.abort();
    await expect(posting).rejects.toThrow();
    model.answerHeld();
    await expect.poll(balance).toBe(before + 50_000);
    expect(await post(proof)).toMatchObject({ status: 200, body: { success: true } });
    expect((await post(proof)).status).toBe(402);
    expect(model.asked()).toBe(asked + 1);
    expect(await balance()).toBe(before + 50_000);
  });

  test("settled by the buyer with the facilitator first is a proof, once", async () => {
    const before = await balance();
    const proof = await payment();
    const settlement = {
      x402Version: 2,
      paymentPayload: proof,
      paymentRequirements: proof.accepted,
    };
    expect((await paid.facilitator.settle(settlement)).body).toMatchObject({ success: true });
    const answer = await post(proof);
    expect(answer).toMatchObject({ status: 200, body: { success: true } });
    expect((await post(proof)).status).toBe(402);
    await expect.poll(balance).toBe(before + 50_000);
  });

  test("for an agent that fails is not charged, and buys a later run that works", async () => {
    const before = await balance();
    const proof = await payment();
    paid.marketplace.model.injectFault({ status: 500 });
    const failed = await post(proof);
    paid.marketplace.model.clearFaults();
    expect(failed).toMatchObject({ status: 500, body: { success: false, charged: false } });
    expect(await balance()).toBe(before);
    expect((await post(proof)).status).toBe(200);
    await expect.poll(balance).toBe(before + 50_000);
  });

  test("read from version 1's header is taken as well", async () => {
    const proof = await payment();
    const v1 = { x402Version: 1, scheme: "exact", network: proof.accepted.network, payload: proof.payload };
    expect((await post(v1, { header: "X-PAYMENT" })).status).toBe(200);
  });

  test("buys only the call it was first used for", async () => {
    const proof = await payment();
    expect((await post(proof)).status).toBe(200);
    const other = await post(proof, { body: { text: "something else" } });
    expect(other).toMatchObject({ status: 402, body: { error: expect.stringContaining("another call") } });
  });
});

describe.each([
  ["Hedera", hederaPayment, hederaBalance],
  ["EVM", evmPayment, evmBalance],
] as const)("when the facilitator is hard to reach, a payment on %s", (_chain, payment, balance) => {
  test("is not looked at, runs nothing and costs nothing while nobody answers", async () => {
    const proof = await payment();
    const before = await balance();
    paid.toFacilitator.behave((path) => (path === "/verify" ? "lose-call" : "pass"));
    const answer = await post(proof);
    paid.toFacilitator.behave(() => "pass");
    expect(answer.status).toBe(503);
    expect(await balance()).toBe(before);
    expect((await post(proof)).status).toBe(200);
  });

  test("whose settlement was not heard of is unknown, not failed; posted again it gives the result of the one run", async () => {
    const proof = await payment();
    const before = await balance();
    const requests = paid.marketplace.model.asked();
    paid.toFacilitator.behave((path) => (path === "/settle" ? "lose-answer" : "pass"));
    const unknown = await post(proof);
    paid.toFacilitator.behave(() => "pass");
    expect(unknown.status).toBe(503);
    expect(unknown.headers.get("retry-after")).toBe("5");
    const answer = await post(proof);
    expect(answer).toMatchObject({ status: 200, body: { success: true } });
    expect(paid.marketplace.model.asked()).toBe(requests + 1);
    await expect.poll(balance).toBe(before + 50_000);
  });

  test.each([
    ["the wallet it pays is not paid any more", "update payout_wallets set state = 'unpayable' where account_id = $1"],
    ["its agent is off the market", "update agents set state = 'unpublished' where account_id = $1"],
  ])("whose settlement was not heard of fetches its result, though %s", async (_what, statement) => {
    const proof = await payment();
    const { db } = paid.marketplace.context;
    const { id } = paid.market.creator;
    paid.toFacilitator.behave((path) => (path === "/settle" ? "lose-answer" : "pass"));
    const fresh = await payment();
    try {
      expect((await post(proof)).status).toBe(503);
      paid.toFacilitator.behave(() => "pass");
      await db.query(statement, [id]);
      expect((await post(fresh)).status).not.toBe(200);
      expect(await post(proof)).toMatchObject({ status: 200, body: { success: true } });
    } finally {
      paid.toFacilitator.behave(() => "pass");
      await db.query("update payout_wallets set state = 'checked' where account_id = $1 and state = 'unpayable'", [id]);
      await db.query("update agents set state = 'live' where account_id = $1", [id]);
    }
  });

  test("whose settlement was not heard of has its result kept for a month; after that it buys a new run", async () => {
    const proof = await payment();
    const before = await balance();
    const { db } = paid.marketplace.context;
    const requests = paid.marketplace.model.asked();
    paid.toFacilitator.behave((path) => (path === "/settle" ? "lose-answer" : "pass"));
    expect((await post(proof)).status).toBe(503);
    paid.toFacilitator.behave(() => "pass");
    const withheld = "transaction_id is null and output is not null";
    await deleteUnpaidResults(db);
    expect((await db.query(`select from paid_calls where ${withheld}`)).rowCount).toBe(1);
    await db.query(`update paid_calls set result_at = now() - interval '31 days' where ${withheld}`);
    await deleteUnpaidResults(db);
    expect((await db.query(`select from paid_calls where ${withheld}`)).rowCount).toBe(0);
    expect(await post(proof)).toMatchObject({ status: 200, body: { success: true } });
    expect(paid.marketplace.model.asked()).toBe(requests + 2);
    await expect.poll(balance).toBe(before + 50_000);
  });

  test("that was never sent is settled when it is posted again, without another run", async () => {
    const proof = await payment();
    const before = await balance();
    const requests = paid.marketplace.model.asked();
    paid.toFacilitator.behave((path) => (path === "/settle" ? "lose-call" : "pass"));
    expect((await post(proof)).status).toBe(503);
    paid.toFacilitator.behave(() => "pass");
    expect((await post(proof)).status).toBe(200);
    expect(paid.marketplace.model.asked()).toBe(requests + 1);
    await expect.poll(balance).toBe(before + 50_000);
  });
});

test("a payment is held against the terms of now, whatever the last call's were, and the facilitator asked once where they are the same", async () => {
  const { context } = paid.marketplace;
  const publish = (price_credits: number) =>
    publishAgent(context, paid.market.creator, "repriced", { ...echoAgent, price_credits });
  await publish(5);
  const url = `${paid.marketplace.url}/api/agent/${paid.market.creator.handle}/repriced`;
  const payment = async () => payQuote(paid, "hedera", await post(undefined, { url }));
  let verified = 0;
  paid.toFacilitator.behave((path) => {
    if (path === "/verify") verified += 1;
    return "pass";
  });
  try {
    expect((await post(await payment(), { url })).status).toBe(200);
    expect(verified).toBe(1);
    const cheap = await payment();
    await publish(7);
    const before = await hederaBalance();
    const runs = paid.marketplace.model.asked();
    expect(await post(cheap, { url })).toMatchObject({ status: 402, body: { accepts: expect.any(Array) } });
    expect(verified).toBe(3);
    expect(paid.marketplace.model.asked()).toBe(runs);
    expect((await post(await payment(), { url })).status).toBe(200);
    await expect.poll(hederaBalance).toBe(before + 70_000);
  } finally {
    paid.toFacilitator.behave(() => "pass");
  }
});

describe("on another copy of the service, which has not seen the payment", () => {
  let other: TestMarketplace;
  test.beforeAll(({ copy }) => {
    other = copy;
  });
  const postToOther = (proof: object, body: object = input) =>
    post(proof, { url: `${other.url}/api/agent/${paid.address}`, body });

  test.each([
    ["Hedera", hederaPayment],
    ["EVM", evmPayment],
  ] as const)("what was delivered is not delivered again (%s)", async (_chain, payment) => {
    const proof = await payment();
    expect((await post(proof)).status).toBe(200);
    expect(await postToOther(proof)).toMatchObject({
      status: 402,
      body: { error: expect.stringContaining("already_settled") },
    });
  });

  test("it buys no other call, and a settlement that nobody heard of is taken up without another run", async () => {
    const proof = await hederaPayment();
    const requests = paid.marketplace.model.asked();
    paid.toFacilitator.behave((path) => (path === "/settle" ? "lose-answer" : "pass"));
    expect((await post(proof)).status).toBe(503);
    paid.toFacilitator.behave(() => "pass");
    expect(await postToOther(proof, { text: "something else" })).toMatchObject({
      status: 402,
      body: { error: expect.stringContaining("another call") },
    });
    expect(await postToOther(proof)).toMatchObject({ status: 200, body: { success: true } });
    expect(paid.marketplace.model.asked()).toBe(requests + 1);
  });

  test("posted to both copies at the same moment it is one run, one charge, one result", async () => {
    const proof = await evmPayment();
    const before = await evmBalance();
    const answers = await Promise.all([post(proof), postToOther(proof)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers[0]?.body.run_id).toBe(answers[1]?.body.run_id);
    await expect.poll(evmBalance).toBe(before + 50_000);
  });
});

describe("what is refused costs nothing", () => {
  test("a missing input is 400 and a broken rule 422, and the payment stays unused", async () => {
    const proof = await hederaPayment();
    const before = (await settled()).rows[0].count;
    const tooLong = { text: "x".repeat(51) };
    for (const [body, status] of [
      [{}, 400],
      [tooLong, 422],
    ] as const) {
      expect(await post(proof, { body })).toMatchObject({ status, body: { field: "text", charged: false } });
    }
    expect(await post(proof, { body: "no JSON" })).toMatchObject({ status: 400, body: { charged: false } });
    expect((await settled()).rows[0].count).toBe(before);
    expect((await post(proof)).status).toBe(200);
    // Now it is charged, and a refusal does not say otherwise.
    const later = async () => (await post(proof, { body: tooLong })).body.charged;
    await expect.poll(later).toBe(true);
  });

  test("a payment over another amount is 402 with the facilitator's reason and a fresh quote", async () => {
    const proof = await evmPayment();
    const cheaper = { ...proof, accepted: { ...proof.accepted, amount: "1" } };
    const answer = await post(cheaper);
    expect(answer.status).toBe(402);
    expect(answer.body.error).toContain("accepted_payment_requirements_mismatch");
    expect(decode(answer.headers.get("payment-required")).accepts).toHaveLength(2);
  });

  test.each(["not base64 json", "e30=", encode({ x402Version: 2 })])(
    "a header that cannot be read (%s) is 402",
    async (text) => {
      const response = await fetch(paid.url, { method: "POST", headers: { "payment-signature": text }, body: "{}" });
      expect(response.status).toBe(402);
    },
  );

  test("an agent without a checked wallet is 503", async () => {
    const { context } = paid.marketplace;
    await publishAgent(context, paid.market.buyer, "unpayable", { ...echoAgent, price_credits: 1 });
    const url = `${paid.marketplace.url}/api/agent/${paid.market.buyer.handle}/unpayable`;
    expect((await post(undefined, { url })).status).toBe(503);
  });

  test("a free agent simply answers, and its output is not kept", async () => {
    await publishAgent(paid.marketplace.context, paid.market.creator, "gratis", { ...echoAgent, price_credits: 0 });
    const url = `${paid.marketplace.url}/api/agent/${paid.market.creator.handle}/gratis`;
    const answer = await post(undefined, { url });
    expect(answer).toMatchObject({ status: 200, body: { success: true, output: { kind: "text" } } });
    const { rows } = await paid.marketplace.context.db.query("select state, output from runs where id = $1", [
      answer.body.run_id,
    ]);
    expect(rows).toEqual([{ state: "succeeded", output: null }]);
    expect(await post(undefined, { url, body: {} })).toMatchObject({ status: 400, body: { charged: false } });
  });
});

test("the stock version 2 client pays the EVM call without knowing us", async () => {
  const buyer = await paid.setting.fundedBuyer();
  const payingFetch = wrapFetchWithPaymentFromConfig(fetch, {
    schemes: [{ network: "eip155:84532", client: new ExactEvmScheme(buyer) }],
    spendControls: { allowedAssets: [{ network: "eip155:84532", asset: paid.setting.chain.usdc }] },
  });
  const response = await payingFetch(paid.url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(input),
  });
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ success: true });
  expect(decode(response.headers.get("payment-response"))).toMatchObject({ success: true });
});

test("a network that is no text beside the one accepted is not told again, and a payment nested too deep is none", async () => {
  const body = { text: "hello" };
  const proof = await payQuote(paid, "evm", await postTo(paid.url, { body }));
  const odd = { ...proof, network: { toString: 1, valueOf: 1 } };
  const bought = await postTo(paid.url, { body, proof: odd });
  expect(bought.status).toBe(200);
  expect(decodeHeader(bought.headers.get("payment-response"))).toMatchObject({
    success: true,
    network: "eip155:84532",
  });
  for (const depth of [99, 1_000, 5_500]) {
    const text = `{"x402Version":1,"network":"eip155:84532","payload":${"[".repeat(depth)}${"]".repeat(depth)}}`;
    const headers = { "content-type": "application/json", "X-PAYMENT": Buffer.from(text).toString("base64") };
    const { status } = await fetch(paid.url, { method: "POST", headers, body: JSON.stringify(body) });
    expect(status).toBe(402);
  }
});
