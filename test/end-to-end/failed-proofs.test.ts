import { describe, expect } from "vitest";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { moveAgent } from "../../marketplace/agents/state.ts";
import { newLedgerBuyer } from "../bench/ledger-process.ts";
import { newBuyer, signAuthorization } from "../support/evm-payments.ts";
import { paidTest } from "../support/fixtures.ts";
import { hederaProof } from "../support/hedera-payments.ts";
import { echoAgent } from "../support/marketplace.ts";
import { type PaidMarket, startPaidMarket } from "../support/paid-market.ts";
import { bareProof, type Proof, payQuote, post, quoteIn, settleFirst } from "../support/pay-call.ts";

const perAddress = 5;
const perPayer = 3;

let paid: PaidMarket;
let verified: number;
let settleAsked: number;
const test = paidTest({
  env: { LIMIT_FAILED_PROOFS_PER_ADDRESS: String(perAddress), LIMIT_FAILED_PROOFS_PER_PAYER: String(perPayer) },
});
test.beforeAll(({ paid: started }) => {
  paid = started;
  paid.toFacilitator.behave((path) => {
    if (path === "/verify") verified += 1;
    if (path === "/settle") settleAsked += 1;
    return "pass";
  });
});

const body = { text: "hello" };
const ask = (proof: Proof | undefined, from: string) => post(paid.url, { body, from, ...(proof && { proof }) });
const pay = async () => payQuote(paid, "evm", await ask(undefined, "198.51.100.1"));

/** The payment with a signature that is not its payer's. */
const garbled = (proof: Proof): Proof => ({
  ...proof,
  payload: { ...proof.payload, signature: `0x${"11".repeat(64)}1b` },
});

test("an address that floods with garbage is not asked about any more, and its victim and everybody else still pay", async () => {
  const victim = await pay();
  verified = 0;
  const answers = [];
  for (let count = 0; count < perAddress * 3; count += 1) answers.push(await ask(garbled(victim), "203.0.113.7"));
  expect(answers.map(({ status }) => status)).toEqual([
    ...Array(perAddress).fill(402),
    ...Array(perAddress * 2).fill(429),
  ]);
  expect(Number(answers.at(-1)?.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(verified).toBe(perAddress);
  // The garbage named this payer, who did nothing.
  expect((await ask(victim, "198.51.100.2")).status).toBe(200);
  // The quote stays to be had, also from there.
  expect((await ask(undefined, "203.0.113.7")).status).toBe(402);
});

describe("a payment beside an input that is refused is counted, so that no address uses up what the facilitator answers", () => {
  /** Each with a nonce of its own, as if it were another payment. */
  const another = (proof: Proof, n: number): Proof => {
    const { authorization } = proof.payload as { authorization: object };
    return {
      ...proof,
      payload: {
        ...proof.payload,
        authorization: { ...authorization, nonce: `0x${n.toString(16).padStart(64, "0")}` },
      },
    };
  };

  test.each([
    ["a forged one", "203.0.113.20", async () => garbled(await pay())],
    ["one that would hold", "203.0.113.21", () => pay()],
    ["one that is settled", "203.0.113.22", async () => settleFirst(paid, await pay())],
  ])(
    "%s is counted against its address, and after so many nothing is asked of the facilitator",
    async (what, from, make) => {
      const proof = await make();
      verified = 0;
      const statuses = [];
      for (let n = 0; n < perAddress * 3; n += 1) {
        const one = what === "a forged one" ? another(proof, n) : proof;
        statuses.push((await post(paid.url, { body: {}, from, proof: one })).status);
      }
      expect(statuses).toEqual(Array(perAddress * 3).fill(400));
      expect(verified).toBe(perAddress);
      expect((await ask(proof, from)).status).toBe(429);
      expect((await ask(await pay(), "198.51.100.3")).status).toBe(200);
      if (what === "one that would hold") expect((await ask(proof, "198.51.100.3")).status).toBe(200);
    },
  );

  test("forged ones for an agent that is free by now, one that is gone, and one whose creator cannot be paid", async () => {
    const { context, url: service } = paid.marketplace;
    const creator = paid.market.creator;
    const publish = (price_credits: number) =>
      publishAgent(context, creator, "changing", { ...echoAgent, price_credits });
    const { address } = await publish(5);
    const url = `${service}/api/agent/${address}`;
    const quoted = await payQuote(paid, "evm", await post(url, { body }));
    const flood = async (from: string) => {
      verified = 0;
      for (let n = 0; n < perAddress * 3; n += 1) {
        const one = another(garbled(quoted), 1_000 + n);
        await post(url, {
          body,
          from,
          proof: n % 2 ? one : bareProof(one),
          header: n % 2 ? "PAYMENT-SIGNATURE" : "X-PAYMENT",
        });
      }
      return verified;
    };
    await publish(0);
    // It may owe what was settled before.
    expect(await flood("203.0.113.30")).toBeLessThanOrEqual(perAddress + 1);
    await publish(5);
    await moveAgent(context.db, address, "unpublish");
    expect(await flood("203.0.113.31")).toBeLessThanOrEqual(perAddress * 2);
    await moveAgent(context.db, address, "suspend");
    expect(await flood("203.0.113.32")).toBeLessThanOrEqual(perAddress + 1);
    await moveAgent(context.db, address, "restore");
    await publish(5);
    const wallets = "update payout_wallets set state = $2 where account_id = $1 and state = $3";
    await context.db.query(wallets, [creator.id, "retired", "checked"]);
    expect(await flood("203.0.113.33")).toBeLessThanOrEqual(perAddress + 1);
    await context.db.query(wallets, [creator.id, "checked", "retired"]);
  });
});

test("questions about settlements are counted, too", async () => {
  const from = "203.0.113.40";
  const quote = await ask(undefined, from);
  const entry = quote.body.accepts.find(({ network }: { network: string }) => network === "eip155:84532");
  const payments = [];
  for (let n = 0; n < perAddress; n += 1) payments.push(bareProof(await payQuote(paid, "evm", quote)));
  for (const paymentPayload of payments) {
    await paid.facilitator.settle({ x402Version: 1, paymentPayload, paymentRequirements: entry });
  }
  settleAsked = 0;
  const statuses = [];
  for (const proof of payments) {
    statuses.push((await post(paid.url, { body: { text: "not quoted" }, from, proof, header: "X-PAYMENT" })).status);
  }
  expect(new Set(statuses)).toEqual(new Set([402, 429]));
  expect(settleAsked).toBeLessThanOrEqual(perAddress + 2);
  expect((await post(paid.url, { body, from: "198.51.100.4", proof: payments[0]!, header: "X-PAYMENT" })).status).toBe(
    200,
  );
});

/** Of a payer who signs and has nothing. */
const poor = {
  evm: async () => {
    const terms = { ...paid.setting.terms, payTo: paid.evmWallet, amount: "50000" };
    return { ...(await pay()), payload: await signAuthorization(newBuyer(), terms) };
  },
  hedera: async () => {
    const { accepts, resource } = quoteIn(await ask(undefined, "198.51.100.1"));
    const terms = accepts.find(({ network }: { network: string }) => network === "hedera:testnet");
    const buyer = await newLedgerBuyer({ admin: paid.ledger.adminUrl, usdc: paid.ledger.usdc }, 1n);
    return (await hederaProof(buyer, terms, resource)) as Proof;
  },
};

test.each(["evm", "hedera"] as const)(
  "a payer on %s whose own payments do not hold is not asked about any more, wherever they come from",
  async (chain) => {
    const proof = await poor[chain]();
    verified = 0;
    const answers = [];
    for (let count = 0; count < perPayer * 2; count += 1) answers.push(await ask(proof, `192.0.2.${count}`));
    expect(answers.map(({ status }) => status)).toEqual([...Array(perPayer).fill(402), ...Array(perPayer).fill(429)]);
    expect(verified).toBe(perPayer);
    expect(answers[0]?.body.error).toContain("insufficient_balance");
    // Its form is right: nothing is said of how a proof is made.
    expect(answers[0]?.body.proof).toBeUndefined();
    expect((await ask(await pay(), "192.0.2.1")).status).toBe(200);
  },
);

test("garbage in the name of a Hedera account is not held against it", async () => {
  const { accepts, resource } = quoteIn(await ask(undefined, "198.51.100.1"));
  const terms = accepts.find(({ network }: { network: string }) => network === "hedera:testnet");
  const { buyer, operator } = paid.ledger.accounts;
  const forged = { ...buyer, privateKey: operator.privateKey };
  for (let count = 0; count < perPayer + 1; count += 1) {
    const answer = await ask((await hederaProof(forged, terms, resource)) as Proof, `192.0.2.${100 + count}`);
    expect([answer.status, answer.body.error]).toEqual([402, expect.stringContaining("signature_invalid")]);
  }
  const genuine = await payQuote(paid, "hedera", await ask(undefined, "198.51.100.1"));
  expect((await ask(genuine, "192.0.2.120")).status).toBe(200);
});

test("a facilitator that is busy is a 503 with its Retry-After, and nobody is charged or told to pay anew", async () => {
  const busy = await startPaidMarket({ facilitatorEnv: { LIMIT_VERIFY_PER_ADDRESS: "1" } });
  try {
    const quote = () => post(busy.url, { body });
    expect((await post(busy.url, { body, proof: await payQuote(busy, "evm", await quote()) })).status).toBe(200);
    const refused = await post(busy.url, { body, proof: await payQuote(busy, "evm", await quote()) });
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(5);
    // It may have been settled before: that is not known while nobody can be asked.
    expect(refused.body.error).toMatch(/Try again with the same one/);
  } finally {
    await busy.stop();
  }
});

test("a payment of the wrong form is told what it must look like, by header, encoding and network", async () => {
  const asked = await ask(undefined, "198.51.100.9");
  const links = {
    guide: "https://market.example.com/llms.txt",
    catalog: "https://market.example.com/api/x402/catalog",
  };
  expect(asked).toMatchObject({ status: 402, body: links });
  expect(asked.body.proof).toBeUndefined();
  const good = await payQuote(paid, "evm", asked);
  const { authorization } = good.payload as { authorization: object };
  const unread = [
    [{ x402Version: 3 }, "x402Version must be 1 or 2"],
    [{ ...good, payload: {} }, "payload.authorization must be an object"],
    [{ ...good, payload: { authorization: { ...authorization, nonce: 7 } } }, "authorization.nonce must be 32 bytes"],
    [{ ...good, accepted: { ...good.accepted, network: "hedera:testnet" } }, "payload.transaction must be base64 of"],
    [garbled(good), "invalid_exact_evm"],
  ] as const;
  for (const [n, [proof, why]] of unread.entries()) {
    const { status, body } = await ask(proof as Proof, `198.51.100.${20 + n}`);
    expect([status, body.error]).toEqual([402, expect.stringContaining(why)]);
    expect(body.proof).toMatchObject({
      header: "PAYMENT-SIGNATURE",
      encoding: expect.stringContaining("base64"),
      payload: {
        "eip155:*": {
          authorization: Object.fromEntries(Object.keys(authorization).map((name) => [name, expect.any(String)])),
        },
        "hedera:*": { transaction: expect.stringContaining("TransferTransaction") },
      },
    });
  }
});
