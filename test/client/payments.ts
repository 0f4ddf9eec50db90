import { describe, expect } from "vitest";
import {
  NotPaidError,
  OutcomeUnknownError,
  type PaymentProgress,
  PaymentRefusedError,
  RunFailedError,
  type SignedPayment,
} from "../../client/agent-marketplace.ts";
import { failureOf } from "../../client/payments/conclude.ts";
import { chooseRequirements, sign as signWith } from "../../client/payments/sign.ts";
import { usdcOn } from "../../client/payments/stablecoins.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { payableNetworks, stablecoinOn } from "../../marketplace/stablecoins.ts";
import { networkOf } from "../../shared/networks.ts";
import { echoAgent } from "../support/marketplace.ts";
import { countingWallet, creditsOf, earnedOn, test } from "./setting.ts";

const input = { text: "hello" };
const price = 50_000n;

describe.each(["evm", "hedera"] as const)("a call paid on %s, without a key", (chain) => {
  test("answers the result, and its creator has the price", async ({ paid, client }) => {
    const { wallets, payments } = await countingWallet(chain, paid);
    const before = await earnedOn(chain, paid);
    const result = await client({ key: undefined, wallets }).pay.run({ agent: paid.address, input, max_usd: "0.05" });
    expect(result).toMatchObject({
      output: { kind: "text" },
      payment: {
        amount: "50000",
        network: chain === "evm" ? "eip155:84532" : "hedera:testnet",
        transaction: expect.any(String),
      },
    });
    expect(payments()).toBe(1);
    await expect.poll(() => earnedOn(chain, paid)).toBe(before + price);
  });

  test("whose connection breaks while it is settled fetches its result with the same payment", async ({
    paid,
    proxy,
    client,
  }) => {
    const { wallets, payments } = await countingWallet(chain, paid);
    const before = await earnedOn(chain, paid);
    let settles = 0;
    paid.toFacilitator.behave((path) => {
      if (path === "/settle" && settles++ === 0) proxy.cut();
      return "pass";
    });
    const result = await client({ wallets }).pay.run({ agent: paid.address, input, max_usd: 0.05 });
    expect(result.payment?.amount).toBe("50000");
    expect([settles, payments()]).toEqual([1, 1]);
    await expect.poll(() => earnedOn(chain, paid)).toBe(before + price);
  });

  test.for([1, 2])(
    "whose answer is lost on its way %i times fetches its result by the wallet that paid",
    async (times, { paid, proxy, client }) => {
      const { wallets } = await countingWallet(chain, paid);
      const before = await earnedOn(chain, paid);
      const asked = paid.marketplace.model.asked();
      let lost = 0;
      const fetch = async (address: string | URL | Request, init?: RequestInit) => {
        const answer = await globalThis.fetch(String(address).replace("http://127.0.0.1", proxy.url), init);
        if (!answer.ok || !new Headers(init?.headers).has("payment-signature") || lost === times) return answer;
        lost += 1;
        await answer.text();
        throw new TypeError("fetch failed");
      };
      const { pay } = client({ baseUrl: "http://127.0.0.1", wallets, fetch });
      const call = { agent: paid.address, input, max_usd: "0.05" };
      if (times === 2) {
        const error = await pay.run(call).catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(OutcomeUnknownError);
      }
      const { output, payment } = await pay.run(call);
      expect(output).toMatchObject({ kind: "text", text: expect.stringContaining(input.text) });
      expect(payment).toMatchObject({ amount: "50000", transaction: expect.any(String) });
      expect(lost).toBe(times);
      await expect.poll(() => earnedOn(chain, paid)).toBe(before + price);
      expect(paid.marketplace.model.asked()).toBe(asked + 1);
    },
  );

  test("whose end is not known is gone on with, in another program too: no second payment is signed", async ({
    paid,
    client,
  }) => {
    const { wallets, payments } = await countingWallet(chain, paid);
    const before = await earnedOn(chain, paid);
    const kept = new Map<string, string>();
    const store = {
      load: (id: string) => JSON.parse(kept.get(id) ?? "null") as SignedPayment | undefined,
      save: (payment: SignedPayment) => void kept.set(payment.id, JSON.stringify(payment)),
      remove: (id: string) => void kept.delete(id),
    };
    paid.toFacilitator.behave((path) => (path === "/settle" ? "lose-answer" : "pass"));
    const call = { agent: paid.address, input, max_usd: "0.05" };
    for (let tries = 0; tries < 2; tries += 1) {
      const error = await client({ wallets, store })
        .pay.run(call, { maxRetries: 0 })
        .catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(OutcomeUnknownError);
      expect(error).toMatchObject({ charged: "unknown", payment: JSON.parse([...kept.values()][0]!) });
    }
    paid.toFacilitator.behave(() => "pass");
    for (const less of [{ max_usd: "0.049999" }, { network: "eip155:1" }]) {
      const error = await client({ wallets, store })
        .pay.run({ ...call, ...less })
        .catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(NotPaidError);
      expect(error).toMatchObject({ charged: "unknown", payment: JSON.parse([...kept.values()][0]!) });
    }
    const result = await client({ wallets, store }).pay.run(call);
    expect(result.payment?.transaction).toBeTruthy();
    expect([payments(), kept.size]).toEqual([1, 0]);
    await expect.poll(() => earnedOn(chain, paid)).toBe(before + price);
  });
});

test("two equal calls at once are one purchase; under two names they are two", async ({ paid, client }) => {
  const { wallets, payments } = await countingWallet("evm", paid);
  const { pay } = client({ wallets });
  const call = { agent: paid.address, input, max_usd: "0.05" };
  const [one, same] = await Promise.all([pay.run(call), pay.run(call)]);
  expect(same).toEqual(one);
  expect(payments()).toBe(1);
  await Promise.all([pay.run(call, { purchase: "a" }), pay.run(call, { purchase: "b" })]);
  expect(payments()).toBe(3);
});

test("what costs more than agreed to, or cannot be paid with the wallet, is not signed", async ({ paid, client }) => {
  const { wallets, payments } = await countingWallet("evm", paid);
  const { pay } = client({ wallets });
  const call = { agent: paid.address, input };
  await expect(pay.run({ ...call, max_usd: "0.049999" })).rejects.toThrow(
    "It costs 0.05 USDC, which is more than 0.049999.",
  );
  const elsewhere = pay.run({ ...call, max_usd: "1", network: "hedera:testnet" });
  await expect(elsewhere).rejects.toThrow("There is no wallet for hedera:testnet. Nothing was signed.");
  await expect(elsewhere).rejects.toBeInstanceOf(NotPaidError);
  for (const max_usd of ["", "-1", "1e3", "0.0000001", Number.NaN])
    await expect(pay.run({ ...call, max_usd })).rejects.toThrow("no amount");
  expect(payments()).toBe(0);
  expect((await pay.quote(call))!.accepts.map(({ amount }) => amount)).toEqual(["50000", "50000"]);
});

test("a payment that cannot be kept is not sent; what was kept and not sent is used, or makes room once it can no longer land", async ({
  paid,
  client,
}) => {
  const { wallets, payments } = await countingWallet("evm", paid);
  const before = await earnedOn("evm", paid);
  const kept = new Map<string, SignedPayment>();
  const keep = (payment: SignedPayment) => void kept.set(payment.id, payment);
  let save = (payment: SignedPayment): void => {
    keep(payment);
    throw new Error("The disk is full.");
  };
  const store = {
    load: (id: string) => kept.get(id),
    save: (payment: SignedPayment) => save(payment),
    remove: (id: string) => void kept.delete(id),
  };
  const { pay } = client({ wallets, store });
  const [used, over] = ["used", "over"].map((purchase) => () => {
    return pay.run({ agent: paid.address, input, max_usd: "0.05" }, { purchase });
  }) as [() => ReturnType<typeof pay.run>, () => ReturnType<typeof pay.run>];
  await expect(used()).rejects.toThrow("The disk is full.");
  await expect(over()).rejects.toThrow("The disk is full.");
  expect([await earnedOn("evm", paid), payments()]).toEqual([before, 2]);
  save = keep;
  await used();
  expect(payments()).toBe(2);
  for (const payment of kept.values()) keep({ ...payment, endsAt: new Date(0).toISOString() });
  await over();
  expect(payments()).toBe(3);
  await expect.poll(() => earnedOn("evm", paid)).toBe(before + 2n * price);
});

test("of a quote that lies nothing is signed: another asset, an amount that is none, no account, years of time", () => {
  const honest = {
    scheme: "exact",
    network: "eip155:8453",
    asset: usdcOn["eip155:8453"]!,
    amount: "50000",
    payTo: `0x${"5a".repeat(20)}`,
    maxTimeoutSeconds: 180,
    extra: { name: "USD Coin", version: "2" },
  };
  const wallets = { evm: { address: `0x${"1b".repeat(20)}`, signTypedData: async () => "0x" } };
  const choose = (changes: object) =>
    chooseRequirements({ resource: {}, accepts: [{ ...honest, ...changes }] }, wallets, { max_usd: "0.05" });
  expect(choose({})).toEqual(honest);
  for (const lie of [
    { asset: `0x${"22".repeat(20)}` },
    { network: "eip155:1", asset: usdcOn["eip155:8453"] },
    { network: "eip155:999999" },
    { amount: "50001" },
    { amount: "-1" },
    { amount: "5e4" },
    { amount: "" },
    { amount: undefined },
    { payTo: "0x1" },
    { payTo: undefined },
    { maxTimeoutSeconds: 31_536_000 },
    { maxTimeoutSeconds: "180" },
    { scheme: "upto" },
  ]) {
    expect(() => choose(lie), JSON.stringify(lie)).toThrow(NotPaidError);
  }
});

test.each(["0x1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b", "0.0.1234-abcde", "1234", ""])(
  "a Hedera account that is written as %j is refused in words, and nothing is signed",
  async (accountId) => {
    const sign = () => {
      throw new Error("It was asked to sign.");
    };
    const requirements = {
      ...{ scheme: "exact", network: "hedera:testnet", asset: "0.0.429274", amount: "1", payTo: "0.0.5" },
      ...{ maxTimeoutSeconds: 180, extra: { feePayer: "0.0.6" } },
    };
    const hedera = { accountId, key: { publicKey: { toBytesRaw: () => new Uint8Array(32) }, sign } };
    await expect(signWith(requirements, { hedera }, new Date())).rejects.toThrow(
      "wallets.hedera.accountId must be like 0.0.1234",
    );
  },
);

test("a payment of an empty wallet is refused, and nothing moved; one that was used says so", async ({
  paid,
  client,
}) => {
  const poor = await paid.setting.fundedBuyer(0n);
  const call = { agent: paid.address, input, max_usd: "0.05" };
  let payment: SignedPayment | undefined;
  const store = {
    load: () => undefined,
    save: (signed: SignedPayment) => {
      payment = signed;
    },
    // Neither a result nor a refusal is lost for it.
    remove: () => {
      throw new Error("The disk is read-only.");
    },
  };
  const refused = await client({ wallets: { evm: poor }, store })
    .pay.run(call)
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(PaymentRefusedError);
  expect(refused).toMatchObject({ reason: "invalid_exact_evm_insufficient_balance", charged: false });
  const { wallets } = await countingWallet("evm", paid);
  const { pay } = client({ wallets, store });
  const { payment: settlement } = await pay.run(call);
  await expect(pay.repeat(settlement as never)).rejects.toThrow(TypeError);
  expect(await pay.progress(payment!)).toMatchObject({ state: "settled" });
  const used = await pay.repeat(payment!).catch((error: unknown) => error);
  expect(used).toMatchObject({ name: "PaymentRefusedError", reason: "already_settled", charged: true });
});

test("a payment whose end is open is kept when a later post of it is refused, and still buys what it was signed for", async ({
  paid,
  client,
}) => {
  const { wallets, payments } = await countingWallet("evm", paid);
  const before = await creditsOf(paid);
  const kept = new Map<string, SignedPayment>();
  const store = {
    load: (id: string) => kept.get(id),
    save: (payment: SignedPayment) => void kept.set(payment.id, payment),
    remove: (id: string) => void kept.delete(id),
  };
  const buy = (key: string, maxRetries?: number) =>
    client({ wallets, store, key, maxRetries }).pay.credits({ credits: 20 });
  const refusalOf = (key: string) => buy(key, 0).catch((error: unknown) => error);
  paid.toFacilitator.behave((path) => (path === "/settle" ? "lose-answer" : "pass"));
  expect(await refusalOf(paid.market.key)).toBeInstanceOf(OutcomeUnknownError);
  // By then the chain may have told that it is settled.
  expect(await refusalOf("amk_no")).toMatchObject({ charged: expect.toSatisfy((charged) => charged !== false) });
  expect(kept.size).toBe(1);
  paid.toFacilitator.behave(() => "pass");
  expect(await buy(paid.market.key)).toMatchObject({ payment: { amount: "200000" } });
  expect([await creditsOf(paid), payments()]).toEqual([before + 20, 1]);
});

test.for([
  ["running", "unknown", true],
  ["unknown", "unknown", true],
  [undefined, "unknown", true],
  ["verified", "unknown", true],
  ["settled", true, true],
  ["failed", false, false],
] as const)(
  "of a payment that was posted before, %s now, a refusal says %s, and whether it is kept: %s",
  async ([state, charged, isKept]) => {
    const progress = async () => {
      if (state === undefined) throw new Error("No answer.");
      return { state } as PaymentProgress;
    };
    const payment = { endsAt: new Date(Date.now() + 60_000).toISOString() } as SignedPayment;
    for (const status of [400, 401, 404, 409, 422]) {
      const answer = { status, headers: new Headers(), body: { error: "No." }, isAfterLoss: false };
      const failure = await failureOf(answer, payment, { isOpen: true, progress });
      expect(failure, String(status)).toMatchObject({ isKept, error: { charged, payment } });
    }
  },
);

test("a free agent that fails is told as an agent that failed", async ({ paid, client }) => {
  const { context } = paid.marketplace;
  await publishAgent(context, paid.market.creator, "free", { ...echoAgent, price_credits: 0 });
  paid.marketplace.model.injectFault({ status: 400 });
  const error = await client()
    .pay.run({ agent: `${paid.market.creator.handle}/free`, input, max_usd: "0" })
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(RunFailedError);
  expect(error).toMatchObject({ charged: false, runId: expect.stringMatching(/^run_/), payment: undefined });
});

test("credits are bought for the account of the key", async ({ paid, client }) => {
  const { wallets } = await countingWallet("hedera", paid);
  const before = await creditsOf(paid);
  const bought = await client({ wallets }).pay.credits({ credits: 10 });
  expect(bought).toMatchObject({ payment: { amount: "100000" } });
  expect(await creditsOf(paid)).toBe(before + 10);
});

test("the client signs for the stablecoins that the service is paid in, and for no other", () => {
  const known = payableNetworks.filter(
    (network) => network.startsWith("hedera:") || networkOf(network)?.stablecoins[0]?.domain,
  );
  expect(usdcOn).toEqual(Object.fromEntries(known.map((network) => [network, stablecoinOn(network)!.asset])));
});
