import { createSIWxPayload } from "@x402/extensions/sign-in-with-x";
import { type Address, createTestClient, encodeFunctionData, http, publicActions, walletActions } from "viem";
import { expect } from "vitest";
import { usdcStandIn } from "../../infra/local-evm/artifacts.ts";
import { type Buyer, newBuyer, type signAuthorization } from "../support/evm-payments.ts";
import { paidTest } from "../support/fixtures.ts";
import type { PaidMarket } from "../support/paid-market.ts";
import { type PaidAnswer, type Proof, payQuote, post, quoteIn } from "../support/pay-call.ts";

const test = paidTest({ env: { LIMIT_FAILED_PROOFS_PER_ADDRESS: "100000" } });

const input = { text: "the buyer's own input" };
const chain = (paid: PaidMarket) =>
  createTestClient({ mode: "anvil", transport: http(paid.setting.chain.rpcUrl) })
    .extend(publicActions)
    .extend(walletActions);
const newPayment = async (paid: PaidMarket): Promise<{ buyer: Buyer; proof: Proof }> => {
  const buyer = await paid.setting.fundedBuyer();
  return { buyer, proof: await payQuote(paid, "evm", await post(paid.url, { body: input }), { buyer }) };
};
const present = (paid: PaidMarket, proof: object, signIn?: object, body: unknown = input) =>
  post(paid.url, { proof, body, ...(signIn && { signIn }) });

/** The payment in a transaction that is not the facilitator's, and that outbids it. */
async function land(paid: PaidMarket, { payload }: Proof): Promise<void> {
  const { authorization, signature } = payload as Awaited<ReturnType<typeof signAuthorization>>;
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const account = newBuyer().address;
  await paid.setting.chain.fund(account, { wei: 10n ** 18n });
  await chain(paid).impersonateAccount({ address: account });
  const data = encodeFunctionData({
    abi: usdcStandIn.abi,
    functionName: "transferWithAuthorization",
    args: [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce, signature],
  });
  const fees = { gas: 300_000n, maxPriorityFeePerGas: 10n ** 10n, maxFeePerGas: 10n ** 11n };
  await chain(paid).sendTransaction({ account, to: paid.setting.chain.usdc as Address, data, chain: null, ...fees });
}

/** What is answered to who has the payment settled, while it lands in a transaction that is not the facilitator's. */
async function outbid<Answer>(paid: PaidMarket, proof: Proof, ask: () => Promise<Answer>): Promise<Answer> {
  await chain(paid).setAutomine(false);
  try {
    const asking = ask();
    await expect.poll(async () => (await chain(paid).getTxpoolStatus()).pending, { interval: 10 }).toBe(1);
    const landing = land(paid, proof);
    await expect.poll(async () => (await chain(paid).getTxpoolStatus()).pending, { interval: 10 }).toBe(2);
    await chain(paid).mine({ blocks: 1 });
    await landing;
    return await asking;
  } finally {
    await chain(paid).setAutomine(true);
  }
}

/** What was accepted, without a word of a quote. */
const unquoted = ({ accepted }: Proof) => ({ ...accepted, extra: { name: "USDC", version: "2" } });

async function show(paid: PaidMarket, buyer: Buyer, asked: PaidAnswer): Promise<object> {
  expect({ status: asked.status, error: asked.body.error }).toEqual({
    status: 402,
    error: expect.stringMatching(/^wallet_proof_required/),
  });
  const { info, supportedChains } = quoteIn(asked).extensions["sign-in-with-x"];
  return createSIWxPayload({ ...info, ...supportedChains[0] }, buyer, paid.publicUrl);
}

test("a payment that an unrelated transaction settled is for who shows the wallet alone, with or without our quote", async ({
  paid,
}) => {
  const { buyer, proof } = await newPayment(paid);
  await land(paid, proof);
  const before = paid.marketplace.model.asked();
  const stranger = { ...(await newPayment(paid)).proof, payload: proof.payload };
  for (const one of [proof, stranger]) {
    expect(await present(paid, one)).toMatchObject({
      status: 402,
      body: { error: expect.stringMatching(/^wallet_proof_required/) },
    });
  }
  expect(paid.marketplace.model.asked()).toBe(before);
  const signIn = await show(paid, buyer, await present(paid, proof));
  expect(await present(paid, proof, signIn)).toMatchObject({ status: 200, body: { success: true } });
  expect((await present(paid, proof, signIn)).status).toBe(402);
  expect(paid.marketplace.model.asked()).toBe(before + 1);
});

test("a payment that an unrelated transaction settled, and that does not say what for, is for who shows the wallet", async ({
  paid,
}) => {
  const { buyer, proof } = await newPayment(paid);
  await land(paid, proof);
  const bare = { x402Version: 2, accepted: unquoted(proof), payload: proof.payload };
  const signIn = await show(paid, buyer, await present(paid, bare));
  expect(await present(paid, bare, signIn)).toMatchObject({ status: 200, body: { success: true } });
});

test("a payment that was outbid while it was settled for this is for who shows the wallet, though it does not say what for", async ({
  paid,
}) => {
  const { buyer, proof } = await newPayment(paid);
  const bare = { x402Version: 2, accepted: unquoted(proof), payload: proof.payload };
  const asked = await outbid(paid, proof, () => present(paid, bare));

  expect(await present(paid, bare, await show(paid, buyer, asked))).toMatchObject({ status: 200 });
});

test("a payment that was outbid while it was settled for another shop, which was told of it, buys nothing here", async ({
  paid,
}) => {
  const { proof } = await newPayment(paid);
  const theirs = { x402Version: 2, accepted: unquoted(proof), payload: proof.payload };
  const request = { x402Version: 2, paymentPayload: theirs, paymentRequirements: theirs.accepted };
  const told = await outbid(paid, proof, () => paid.facilitator.settle(request));
  expect(told.body).toMatchObject({ success: true, landedByAnother: true });
  for (const one of [theirs, proof]) {
    expect(await present(paid, one)).toMatchObject({
      status: 402,
      body: { error: expect.stringMatching(/^payment_for_something_else/) },
    });
  }
});

test("whoever read a payment before it was mined and had an agent run with it gets nothing, and its payer loses nothing", async ({
  paid,
}) => {
  const { buyer, proof } = await newPayment(paid);
  const stranger = { ...(await newPayment(paid)).proof, payload: proof.payload };
  const theirs = { text: "a stranger's input" };
  const had = (await paid.setting.chain.balances(paid.evmWallet)).usdc;
  const answer = await outbid(paid, proof, () => present(paid, stranger, undefined, theirs));
  expect(answer).toMatchObject({ status: 402, body: { error: expect.stringMatching(/^wallet_proof_required/) } });
  expect(JSON.stringify(answer.body)).not.toContain("Asked");
  expect((await paid.setting.chain.balances(paid.evmWallet)).usdc).toBe((had ?? 0n) + 50_000n);
  expect((await present(paid, stranger, undefined, theirs)).status).toBe(402);
  const signIn = await show(paid, buyer, await present(paid, proof));
  expect(await present(paid, proof, signIn)).toMatchObject({
    status: 200,
    body: { output: { text: expect.stringContaining(input.text) } },
  });
});
