import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { balanceOf, proveLedger } from "../support/marketplace.ts";
import { type PaidMarket, startPaidMarket } from "../support/paid-market.ts";
import { payQuote, post, quoteIn } from "../support/pay-call.ts";

let paid: PaidMarket;

beforeAll(async () => {
  paid = await startPaidMarket();
});

afterAll(() => paid?.stop());

const url = () => `${paid.marketplace.url}/api/v1/credits/purchase`;
const buy = (credits: unknown, proof?: object, key = paid.market.key) =>
  post(url(), { key, body: { credits }, ...(proof && { proof }) });
const balance = async () => (await balanceOf(paid.marketplace, paid.market.key)).credits as number;

describe("buying credits", () => {
  test("is quoted at a cent a credit, to the platform's wallets", async () => {
    const answer = await buy(250);
    expect(answer.status).toBe(402);
    expect(quoteIn(answer).accepts).toMatchObject([
      { network: "hedera:testnet", amount: "2500000", payTo: paid.ledger.accounts.platform.accountId },
      { network: "eip155:84532", amount: "2500000", payTo: paid.platformWallet },
    ]);
  });

  test.each(["hedera", "evm"] as const)("with a payment on %s adds them, once", async (chain) => {
    const before = await balance();
    const proof = await payQuote(paid, chain, await buy(7));
    const answers = await Promise.all([buy(7, proof), buy(7, proof), buy(7, proof)]);
    for (const { status, body } of answers) {
      expect({ status, body }).toMatchObject({
        status: 200,
        body: { success: true, output: { data: { credits: 7 } } },
      });
    }
    expect((await buy(7, proof)).status).toBe(402);
    expect(await balance()).toBe(before + 7);
    await proveLedger(paid.marketplace.context);
  });

  test("needs a key, and a whole number of credits within bounds, named when it is wrong", async () => {
    expect((await post(url(), { body: { credits: 5 } })).status).toBe(401);
    for (const credits of [0, -1, 1.5, "5", 1_000_001, undefined]) {
      const { status, body } = await buy(credits);
      expect({ status, error: body.error }).toEqual({ status: 400, error: expect.stringContaining("credits") });
    }
  });

  test("with somebody else's payment for another account or another number is refused", async () => {
    const before = await balance();
    const proof = await payQuote(paid, "evm", await buy(3));
    expect((await buy(3, proof)).status).toBe(200);
    expect((await buy(4, proof)).status).toBe(402);
    expect(await balance()).toBe(before + 3);
  });

  test("that was settled but not credited when the buyer left is credited by itself, once", async () => {
    const before = await balance();
    const proof = await payQuote(paid, "evm", await buy(11));
    paid.toFacilitator.behave((path) => (path === "/settle" ? "lose-answer" : "pass"));
    expect((await buy(11, proof)).status).toBe(503);
    expect(await balance()).toBe(before);
    paid.toFacilitator.behave(() => "pass");
    await expect.poll(balance, { timeout: 15_000 }).toBe(before + 11);
    expect((await buy(11, proof)).status).toBe(200);
    expect(await balance()).toBe(before + 11);
    await proveLedger(paid.marketplace.context);
  });
});
