import { PrivateKey, Transaction } from "@hashgraph/sdk";
import { describe, expect } from "vitest";
import { paidTest } from "../support/fixtures.ts";
import { type HederaTerms, signHederaTransfer } from "../support/hedera-payments.ts";
import type { PaidMarket } from "../support/paid-market.ts";
import { bareProof, type PaidAnswer, type Proof, payQuote, post, settleFirst } from "../support/pay-call.ts";

const test = paidTest({ env: { LIMIT_FAILED_PROOFS_PER_ADDRESS: "100000" } });

test.afterEach(({ paid }) => {
  paid.marketplace.model.clearFaults();
  paid.toFacilitator.behave(() => "pass");
});

type Chain = "hedera" | "evm";
const chains: Chain[] = ["hedera", "evm"];
const input = { text: "the buyer's own input" };
const runs = (paid: PaidMarket) => paid.marketplace.model.asked();
const present = (paid: PaidMarket, proof: Proof, body: unknown = input) => post(paid.url, { proof, body });
const presentV1 = (paid: PaidMarket, proof: Proof, body: unknown = input) =>
  post(paid.url, { proof: bareProof(proof), body, header: "X-PAYMENT" });

/** What a stranger makes up around the public id of a payment: others' messages, and the same one signed by another key. */
async function forgeries(paid: PaidMarket, { payload, ...proof }: Proof): Promise<readonly Proof[]> {
  if ("authorization" in payload) {
    const { authorization, signature } = payload as { authorization: object; signature: string };
    const made = { ...authorization, to: `0x${"22".repeat(20)}`, validBefore: "4000000000" };
    const junk = `0x${"11".repeat(65)}`;
    return [
      { ...proof, payload: { signature: junk, authorization } },
      { ...proof, payload: { signature: junk, authorization: made } },
      { ...proof, payload: { signature, authorization: made } },
    ];
  }
  const { transaction } = payload as unknown as { transaction: string };
  const { transactionId } = Transaction.fromBytes(Buffer.from(transaction, "base64"));
  const { buyer, creator, platform } = paid.ledger.accounts;
  const terms = proof.accepted as HederaTerms;
  const elsewhere = { ...terms, amount: "1", payTo: platform.accountId };
  const notThePayer = { ...buyer, privateKey: PrivateKey.generateED25519().toStringDer() };
  const id = transactionId!;
  return [
    { ...proof, payload: await signHederaTransfer(creator, elsewhere, id) },
    { ...proof, payload: await signHederaTransfer(notThePayer, terms, id) },
  ];
}

/** 402, by the facilitator's reason, with nothing told of the payment and nothing run. */
async function expectNothingTold(paid: PaidMarket, answers: () => Promise<readonly PaidAnswer[]>): Promise<void> {
  const before = runs(paid);
  for (const { status, body, headers } of await answers()) {
    expect({ status, error: body.error }).toEqual({ status: 402, error: expect.stringMatching(/^invalid_/) });
    expect(body).not.toHaveProperty("charged");
    expect(body).not.toHaveProperty("extensions");
    expect(headers.get("payment-response")).toBeNull();
    expect(headers.get("x-payment-response")).toBeNull();
  }
  expect(runs(paid)).toBe(before);
}

const allForged = async (paid: PaidMarket, proof: Proof, body?: unknown) => {
  const forged = await forgeries(paid, proof);
  return Promise.all(forged.flatMap((one) => [present(paid, one, body), presentV1(paid, one, body)]));
};

/** Settled by its buyer for an entry of the 402's body, as version 1 has it. */
async function settledV1(paid: PaidMarket, chain: Chain): Promise<Proof> {
  const quote = await post(paid.url, { body: input });
  const proof = await payQuote(paid, chain, quote);
  const entry = quote.body.accepts.find(({ network }: { network: string }) => network === proof.accepted.network);
  const request = { x402Version: 1, paymentPayload: bareProof(proof), paymentRequirements: entry };
  expect((await paid.facilitator.settle(request)).body).toMatchObject({ success: true });
  return proof;
}

/** A good transfer of another wallet under the id of a payment on Hedera. */
async function anothersTransfer(paid: PaidMarket, proof: Proof): Promise<{ theirs: Proof; id: string }> {
  const { transaction } = proof.payload as { transaction: string };
  const { transactionId } = Transaction.fromBytes(Buffer.from(transaction, "base64"));
  const { platform } = paid.ledger.accounts;
  const quote = await post(paid.url, { body: input });
  await settleFirst(paid, await payQuote(paid, "hedera", quote, { terms: { payTo: platform.accountId } }));
  const payload = await signHederaTransfer(platform, proof.accepted as HederaTerms, transactionId!);
  return { theirs: { ...proof, payload }, id: `${transactionId}` };
}

/** As calls were begun before the digests of their payments were kept. */
const forgetDigests = (paid: PaidMarket) =>
  paid.marketplace.context.db.query("update paid_calls set payload_digest = null");

describe.each(chains)("what a stranger makes up around the id of a payment on %s", (chain) => {
  test("fetches no copy of the result that waits for its buyer, who has it", async ({ paid }) => {
    const proof = await settledV1(paid, chain);
    const first = await presentV1(paid, proof);
    expect(first.status).toBe(200);
    const copy = { status: 200, body: { run_id: first.body.run_id } };
    await expectNothingTold(paid, () => allForged(paid, proof));
    expect(await presentV1(paid, proof)).toMatchObject(copy);
    await forgetDigests(paid);
    await expectNothingTold(paid, () => allForged(paid, proof));
    expect(await presentV1(paid, proof)).toMatchObject(copy);
  });

  test("is not told that its result was delivered; its buyer is", async ({ paid }) => {
    const proof = await payQuote(paid, chain, await post(paid.url, { body: input }));
    expect((await present(paid, proof)).status).toBe(200);
    const used = { status: 402, body: { error: expect.stringMatching(/^already_settled/), charged: true } };
    for (const forget of [async () => {}, () => forgetDigests(paid)]) {
      await forget();
      await expectNothingTold(paid, () => allForged(paid, proof));
      await expectNothingTold(paid, () => allForged(paid, proof, { text: "another" }));
      expect(await present(paid, proof)).toMatchObject(used);
    }
  });

  test("runs nothing for a payment whose run failed, which stays good for its buyer", async ({ paid }) => {
    const proof = await settledV1(paid, chain);
    paid.marketplace.model.injectFault({ status: 500 });
    expect(await presentV1(paid, proof)).toMatchObject({ status: 503, body: { charged: true } });
    paid.marketplace.model.clearFaults();
    await expectNothingTold(paid, () => allForged(paid, proof));
    expect((await presentV1(paid, proof)).status).toBe(200);
  });
});

test("a facilitator that is away keeps no buyer from a result; what it would have to judge is asked again later", async ({
  paid,
}) => {
  const proof = await settledV1(paid, "evm");
  expect((await presentV1(paid, proof)).status).toBe(200);
  paid.toFacilitator.behave(() => "lose-call");
  expect((await presentV1(paid, proof)).status).toBe(200);
  await forgetDigests(paid);
  for (const { status, body, headers } of [...(await allForged(paid, proof)), await presentV1(paid, proof)]) {
    expect({ status, error: body.error }).toEqual({ status: 503, error: expect.stringContaining("same one") });
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  }
  paid.toFacilitator.behave(() => "pass");
  expect((await presentV1(paid, proof)).status).toBe(200);
});

test("a payment in another encoding of its signature is the same payment", async ({ paid }) => {
  const proof = await settledV1(paid, "evm");
  const first = await presentV1(paid, proof);
  const { signature, ...rest } = proof.payload as { signature: string };
  const v = Number.parseInt(signature.slice(-2), 16);
  const other = signature.slice(0, -2) + (v < 27 ? v + 27 : v - 27).toString(16).padStart(2, "0");
  for (const one of [other, signature.toUpperCase().replace("0X", "0x")]) {
    const encoded = { ...proof, payload: { ...rest, signature: one } };
    expect(await presentV1(paid, encoded)).toMatchObject({ status: 200, body: { run_id: first.body.run_id } });
  }
});

test("a stranger's good transfer under the id of a settled payment is not that payment, though the facilitator lost its record", async ({
  paid,
}) => {
  const proof = await settledV1(paid, "hedera");
  const first = await presentV1(paid, proof);
  expect(first.status).toBe(200);
  const { theirs, id } = await anothersTransfer(paid, proof);
  await paid.facilitator.context.db.query("delete from payments where transaction_id = $1", [id]);
  const before = runs(paid);
  const answer = await presentV1(paid, theirs);
  expect(answer).toMatchObject({ status: 503, body: { error: expect.stringContaining("same one") } });
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(runs(paid)).toBe(before);
  expect(await presentV1(paid, proof)).toMatchObject({ status: 200, body: { run_id: first.body.run_id } });
});

test("another wallet's good transfer under the id of a payment that is not settled yet has none of its result", async ({
  paid,
}) => {
  const proof = await payQuote(paid, "hedera", await post(paid.url, { body: input }));
  const { theirs } = await anothersTransfer(paid, proof);
  paid.toFacilitator.behave((path) => (path === "/settle" ? "lose-call" : "pass"));
  expect((await presentV1(paid, proof)).status).toBe(503);
  paid.toFacilitator.behave(() => "pass");
  const before = runs(paid);
  const answer = await presentV1(paid, theirs);
  expect(answer).toMatchObject({ status: 402, body: { error: expect.stringMatching(/^payment_for_something_else/) } });
  expect(JSON.stringify(answer.body)).not.toContain("Asked");
  expect(await presentV1(paid, proof)).toMatchObject({ status: 200 });
  expect(runs(paid)).toBe(before);
});
