import { describe, expect } from "vitest";
import { newLedgerBuyer } from "../bench/ledger-process.ts";
import { signAuthorization } from "../support/evm-payments.ts";
import { paidTest } from "../support/fixtures.ts";
import { hederaProof } from "../support/hedera-payments.ts";
import type { PaidMarket } from "../support/paid-market.ts";
import { post, quoteIn } from "../support/pay-call.ts";

const test = paidTest();

test.afterEach(({ paid }) => {
  paid.marketplace.model.clearFaults();
  paid.toFacilitator.behave(() => "pass");
});

const price = 50_000n;
const ask = (paid: PaidMarket, proof?: object, body: unknown = { text: "hello" }) =>
  post(paid.url, { body, ...(proof && { proof }) });

/** Payments of one call each, from one wallet that holds so much. */
type Wallet = (paid: PaidMarket, units: bigint) => Promise<() => Promise<object>>;

const termsOn = async (paid: PaidMarket, network: string) => {
  const { accepts, resource } = quoteIn(await ask(paid));
  return { resource, accepted: accepts.find((entry: { network: string }) => entry.network === network) };
};

const evmWallet: Wallet = async (paid, units) => {
  const buyer = await paid.setting.fundedBuyer(units);
  return async () => {
    const { resource, accepted } = await termsOn(paid, "eip155:84532");
    const terms = { ...paid.setting.terms, payTo: accepted.payTo, amount: accepted.amount };
    const validBefore = String(Math.floor(Date.now() / 1_000) + 180);
    return { x402Version: 2, resource, accepted, payload: await signAuthorization(buyer, terms, { validBefore }) };
  };
};

const hederaWallet: Wallet = async (paid, units) => {
  const buyer = await newLedgerBuyer({ admin: paid.ledger.adminUrl, usdc: paid.ledger.usdc }, units);
  return async () => {
    const { resource, accepted } = await termsOn(paid, "hedera:testnet");
    return hederaProof(buyer, accepted, resource);
  };
};

describe.each([
  ["EVM", evmWallet],
  ["Hedera", hederaWallet],
])("a wallet on %s", (_, wallet) => {
  test("a wallet whose balance covers one call gets one of ten that it makes at once, and one agent runs", async ({
    paid,
  }) => {
    const pay = await wallet(paid, price);
    const proofs = await Promise.all(Array.from({ length: 10 }, pay));
    const before = paid.marketplace.model.asked();
    // The one that is good is not settled before all others were looked at.
    paid.toFacilitator.behave((path) => (path === "/settle" ? "hold" : "pass"));
    let refusals = 0;
    const asked = proofs.map((proof) => ask(paid, proof).finally(() => (refusals += 1)));
    await expect.poll(() => refusals).toBe(9);
    paid.toFacilitator.behave(() => "pass");
    const answers = await Promise.all(asked);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const refused = answers.filter(({ status }) => status !== 200);
    for (const { status, body } of refused) {
      expect(status).toBe(402);
      expect(body.error).toContain("in flight");
    }
    expect(paid.marketplace.model.asked()).toBe(before + 1);
  });

  test("a wallet that holds the price exactly can pay anew at once, after a run that failed and after input that was refused", async ({
    paid,
  }) => {
    const pay = await wallet(paid, price);
    paid.marketplace.model.injectFault({ status: 500 });
    expect(await ask(paid, await pay())).toMatchObject({ status: 500, body: { charged: false } });
    paid.marketplace.model.clearFaults();
    expect((await ask(paid, await pay(), { wrong: "field" })).status).toBe(400);
    expect((await ask(paid, await pay(), { text: 7 })).status).toBe(422);
    expect((await ask(paid, await pay())).status).toBe(200);
  });
});
