import { createTestClient, type Hex, http, parseEther, parseGwei } from "viem";
import { expect } from "vitest";
import { paidTest } from "../support/fixtures.ts";
import { type Proof, payQuote, post, quoteIn } from "../support/pay-call.ts";

const test = paidTest({ facilitatorEnv: { EIP155_84532_BALANCE_EMPTY_WEI: String(parseEther("1")) } });

const body = { text: "hello" };

test("a chain whose fee payer is empty leaves the quote, and a payment there is 503 before anything runs", async ({
  paid: poor,
}) => {
  const quoted = await post(poor.url, { body });
  const networks = (answer: typeof quoted) =>
    quoteIn(answer).accepts.map((entry: { network: string }) => entry.network);
  expect(networks(quoted).toSorted()).toEqual(["eip155:84532", "hedera:testnet"]);
  const [settledFirst, caught, tooLate] = await Promise.all([1, 2, 3].map(() => payQuote(poor, "evm", quoted)));
  const paid = { x402Version: 2, paymentPayload: settledFirst, paymentRequirements: settledFirst?.accepted };
  expect((await poor.facilitator.settle(paid)).body).toMatchObject({ success: true });

  const node = createTestClient({ mode: "anvil", transport: http(poor.setting.chain.rpcUrl) });
  await node.setBalance({ address: poor.setting.signer as Hex, value: 0n });
  // The first to be settled after that finds out; it is told neither that its payment is bad nor that it should pay anew.
  const { model } = poor.marketplace;
  const askedBefore = model.asked();
  const found = await post(poor.url, { body, proof: caught as Proof });
  expect(found.status).toBe(503);
  // Unless the balance was read just then: then it did not get so far.
  const caughtRan = model.asked() - askedBefore;
  if (caughtRan > 0) expect(found.body.error).toMatch(/no money left.* This attempt sent nothing\./);
  await expect.poll(async () => networks(await post(poor.url, { body }))).toEqual(["hedera:testnet"]);
  const runsBefore = model.asked();
  const refused = await post(poor.url, { body, proof: tooLate as Proof });
  expect(refused.status).toBe(503);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(refused.body.error).toMatch(/at the moment/);
  expect(model.asked()).toBe(runsBefore);
  // What was settled before is still good, and so is what ran before, once there is money for the fee.
  expect((await post(poor.url, { body, proof: settledFirst as Proof })).status).toBe(200);
  await node.setBalance({ address: poor.setting.signer as Hex, value: parseEther("10") });
  await expect.poll(async () => (await post(poor.url, { body, proof: caught as Proof })).status, poll).toBe(200);
  expect(model.asked()).toBe(runsBefore + 2 - caughtRan);
});

test("a chain where gas costs more than the limit leaves the quote, and a payment there is 503 before anything runs", async ({
  paid,
}) => {
  const node = createTestClient({ mode: "anvil", transport: http(paid.setting.chain.rpcUrl) });
  const costs = async (baseFeePerGas: bigint) => {
    await node.setNextBlockBaseFeePerGas({ baseFeePerGas });
    await node.mine({ blocks: 1 });
  };
  const { model } = paid.marketplace;
  const runsBefore = model.asked();
  const networks = async () =>
    quoteIn(await post(paid.url, { body }))
      .accepts.map((entry: { network: string }) => entry.network)
      .toSorted();
  await expect.poll(networks).toEqual(["eip155:84532", "hedera:testnet"]);
  const quoted = await post(paid.url, { body });
  const [first, tooLate] = (await Promise.all([1, 2].map(() => payQuote(paid, "evm", quoted)))) as [Proof, Proof];
  await costs(parseGwei("100"));
  try {
    // Whose settlement finds out is not told to pay anew.
    const found = await post(paid.url, { body, proof: first });
    expect(found.status).toBe(503);
    if (model.asked() > runsBefore) expect(found.body.error).toMatch(/fees are higher.* This attempt sent nothing\./);
    expect(Number(found.headers.get("retry-after"))).toBeGreaterThan(0);
    await expect.poll(networks).toEqual(["hedera:testnet"]);
    const ran = model.asked();
    expect((await post(paid.url, { body, proof: tooLate })).status).toBe(503);
    expect(model.asked()).toBe(ran);
  } finally {
    await costs(parseGwei("1"));
  }
  for (const proof of [first, tooLate])
    await expect.poll(async () => (await post(paid.url, { body, proof })).status, poll).toBe(200);
  expect(model.asked()).toBe(runsBefore + 2);
});

const poll = { interval: 500 };
