import {
  type Address,
  createTestClient,
  encodeFunctionData,
  type Hex,
  http,
  multicall3Abi,
  publicActions,
  walletActions,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { describe, expect } from "vitest";
import { fickleWallet, revertingToken, usdcStandIn } from "../../../infra/local-evm/artifacts.ts";
import { edited } from "../../support/edit.ts";
import type { EvmSetting } from "../../support/evm-facilitator.ts";
import { newBuyer, paymentBody, signAuthorization } from "../../support/evm-payments.ts";
import { searchNoLostSettlements, spawnFacilitator, startFacilitator } from "../../support/facilitator.ts";
import { proxiedEvmTest } from "../../support/fixtures.ts";
import { perFile } from "../../support/part.ts";
import { freshDatabase } from "../../support/postgres.ts";

const test = proxiedEvmTest({ EIP155_84532_RPC_TIMEOUT_MS: "30000" })
  /** Settled payments whose authorizations have run out since: they run out together. */
  .extend(
    "over",
    perFile,
    ({ setting, facilitator }) =>
      Promise.all([1, 2, 3].map(() => settledAndOver(setting, facilitator))) as Promise<[Over, Over, Over]>,
  );
test.beforeAll(({ facilitator, setting }) =>
  searchNoLostSettlements(facilitator.context, setting.terms.network, setting.signer),
);

test.afterEach(({ proxy }) => proxy.behave(() => "pass"));

type Body = Awaited<ReturnType<typeof paymentBody>>;
const chain = (setting: EvmSetting) =>
  createTestClient({ mode: "anvil", transport: http(setting.chain.rpcUrl) })
    .extend(publicActions)
    .extend(walletActions);
const quoted = (body: Body): Body => edited(body, { "paymentRequirements.extra.quoteId": "q-1" });
const pay = async (setting: EvmSetting) => quoted(await paymentBody(await setting.fundedBuyer(), setting.terms));
const sent = (setting: EvmSetting) => chain(setting).getTransactionCount({ address: setting.signer as Address });
const payToHas = async (setting: EvmSetting) =>
  (await setting.chain.balances(setting.terms.payTo as Address)).usdc as bigint;
const nonceOf = (body: Body) => body.paymentPayload.payload.authorization.nonce;
const rowOf = async (facilitator: Awaited<ReturnType<typeof startFacilitator>>, body: Body) =>
  (await facilitator.context.db.query("select * from payments where payment_key like '%' || $1", [nonceOf(body)]))
    .rows[0];
const change = (facilitator: Awaited<ReturnType<typeof startFacilitator>>, body: Body, assignments: string) =>
  facilitator.context.db.query(
    `with changed as (update payments set ${assignments} where payment_key like '%' || $1 returning id, state)
     insert into unfinished_payments select id from changed where state = 'claimed' on conflict do nothing`,
    [nonceOf(body)],
  );
const lapsed = "lease_until = now() - interval '1 second'";
const failuresOf = async (facilitator: Awaited<ReturnType<typeof startFacilitator>>, body: Body) => {
  const payer = body.paymentPayload.payload.authorization.from;
  return (await facilitator.context.db.query("select * from payer_failures where payer = $1", [payer])).rows.length;
};

const tooLate = "invalid_exact_evm_payload_authorization_valid_before";

type Over = { readonly body: Body; readonly transaction: string };

/** One that has so few seconds that a busy machine is too late for it is made again, with more. */
async function settledAndOver(
  setting: EvmSetting,
  facilitator: Awaited<ReturnType<typeof startFacilitator>>,
): Promise<Over> {
  const buyer = await setting.fundedBuyer();
  for (let seconds = 9; ; seconds *= 2) {
    const validBefore = String(Math.floor(Date.now() / 1_000) + seconds);
    const body = quoted(await paymentBody(buyer, setting.terms, { validBefore }));
    const { success, errorReason, transaction } = (await facilitator.settle(body)).body;
    if (errorReason === tooLate) continue;
    expect(success).toBe(true);
    await expect.poll(() => Number(validBefore) - Math.floor(Date.now() / 1_000)).toBeLessThan(6);
    return { body, transaction };
  }
}

const callOf = ({ authorization, signature }: Awaited<ReturnType<typeof signAuthorization>>): Hex =>
  encodeFunctionData({
    abi: usdcStandIn.abi,
    functionName: "transferWithAuthorization",
    args: [
      authorization.from,
      authorization.to,
      BigInt(authorization.value),
      BigInt(authorization.validAfter),
      BigInt(authorization.validBefore),
      authorization.nonce,
      signature,
    ],
  });

/** A stranger's transaction, which outbids whatever waits. */
async function sendAsStranger(setting: EvmSetting, to: Address, data: Hex): Promise<Hex> {
  const stranger = newBuyer().address;
  await setting.chain.fund(stranger, { wei: 10n ** 18n });
  return outbid(setting, stranger, to, data);
}

async function outbid(setting: EvmSetting, account: Address, to: Address, data: Hex): Promise<Hex> {
  await chain(setting).impersonateAccount({ address: account });
  const fees = { maxPriorityFeePerGas: 10n ** 10n, maxFeePerGas: 10n ** 11n };
  return chain(setting).sendTransaction({ account, to, data, gas: 3_000_000n, chain: null, ...fees });
}

const multicall = (setting: EvmSetting, calls: readonly Hex[]) =>
  encodeFunctionData({
    abi: multicall3Abi,
    functionName: "aggregate3",
    args: [calls.map((callData) => ({ target: setting.chain.usdc, allowFailure: false, callData }))],
  });
const multicallAt = "0xcA11bde05977b3631167028862bE2a173976CA11";

/** Settles while no block is made, lets `before` put a transaction in front of ours, and makes one block. */
async function settledBehind(
  setting: EvmSetting,
  facilitator: Awaited<ReturnType<typeof startFacilitator>>,
  bodies: readonly Body[],
  before: () => Promise<unknown>,
) {
  await chain(setting).setAutomine(false);
  try {
    const settling = Promise.all(bodies.map((body) => facilitator.settle(body)));
    await expect
      .poll(async () => (await chain(setting).getTxpoolStatus()).pending, { interval: 10 })
      .toBe(bodies.length);
    await before();
    await chain(setting).mine({ blocks: 1 });
    return await settling;
  } finally {
    await chain(setting).setAutomine(true);
  }
}

describe("an authorization that somebody else's transaction used while ours was under way", () => {
  test("an authorization that another's transaction used meanwhile is settled when that one paid: said once, not held against the payer, and no proof of its terms", async ({
    setting,
    facilitator,
  }) => {
    const body = await pay(setting);
    const had = await payToHas(setting);
    let theirs = "";
    const relay = newBuyer().address;
    await setting.chain.fund(relay, { wei: 10n ** 18n });
    const [answer] = await settledBehind(setting, facilitator, [body], async () => {
      theirs = await outbid(setting, relay, setting.chain.usdc, callOf(body.paymentPayload.payload));
    });
    expect(answer?.body).toMatchObject({ success: true, transaction: theirs });
    expect(await payToHas(setting)).toBe(had + 10_000n);
    expect(await failuresOf(facilitator, body)).toBe(0);
    const row = await rowOf(facilitator, body);
    expect(row).toMatchObject({ state: "settled", landed_by_another: true });
    const ours = await facilitator.get(`/payments/${row.signed_transactions[0]}`);
    expect(ours).toMatchObject({ status: 200, body: { state: "settled", transaction: theirs } });
    const again = await Promise.all(Array.from({ length: 10 }, () => facilitator.settle(body)));
    for (const { body: told } of again) {
      expect(told).toMatchObject({ success: false, errorReason: "already_settled", transaction: theirs });
      expect(told).not.toHaveProperty("termsDigest");
    }
  });

  test("an authorization that the payer diverted or cancelled meanwhile has failed, at the payer's account", async ({
    setting,
    facilitator,
  }) => {
    const buyer = await setting.fundedBuyer();
    const body = quoted(await paymentBody(buyer, setting.terms));
    const { nonce } = body.paymentPayload.payload.authorization;
    const diverted = await signAuthorization(buyer, { ...setting.terms, payTo: buyer.address }, { nonce });
    const relay = newBuyer().address;
    await setting.chain.fund(relay, { wei: 10n ** 18n });
    const [answer] = await settledBehind(setting, facilitator, [body], () =>
      outbid(setting, relay, setting.chain.usdc, callOf(diverted)),
    );
    expect(answer?.body).toMatchObject({ success: false, errorReason: "invalid_exact_evm_nonce_already_used" });
    expect(await failuresOf(facilitator, body)).toBe(1);
  });

  test("twenty nonces used and one transfer made in one transaction are one settlement", async ({
    setting,
    facilitator,
  }) => {
    const buyer = await setting.fundedBuyer();
    const bodies = await Promise.all(Array.from({ length: 20 }, () => paymentBody(buyer, setting.terms)));
    const had = await payToHas(setting);
    const calls = await Promise.all(
      bodies.map(async ({ paymentPayload: { payload } }, index) => {
        if (index === 13) return callOf(payload);
        const { nonce } = payload.authorization;
        return callOf(await signAuthorization(buyer, { ...setting.terms, payTo: buyer.address }, { nonce }));
      }),
    );
    const relay = newBuyer().address;
    await setting.chain.fund(relay, { wei: 10n ** 18n });
    const answers = await settledBehind(setting, facilitator, bodies, () =>
      outbid(setting, relay, multicallAt, multicall(setting, calls)),
    );
    expect(await payToHas(setting)).toBe(had + 10_000n);
    expect(answers.map(({ body }) => body.success)).toEqual(bodies.map((_, index) => index === 13));
  });

  test("an authorization that another's transaction used before we were asked is no success of ours, and only the one that paid is said to be settled", async ({
    setting,
    facilitator,
  }) => {
    const buyer = await setting.fundedBuyer();
    const bodies = await Promise.all(Array.from({ length: 5 }, () => paymentBody(buyer, setting.terms)));
    const calls = await Promise.all(
      bodies.map(async ({ paymentPayload: { payload } }, index) => {
        if (index === 2) return callOf(payload);
        const { nonce } = payload.authorization;
        return callOf(await signAuthorization(buyer, { ...setting.terms, payTo: buyer.address }, { nonce }));
      }),
    );
    await setting.chain.receipt(await sendAsStranger(setting, multicallAt, multicall(setting, calls)));
    const reasons = await Promise.all(bodies.map(async (body) => (await facilitator.settle(body)).body.errorReason));
    const used = "invalid_exact_evm_nonce_already_used";
    expect(reasons).toEqual([used, used, "already_settled", used, used]);
  });
});

describe("of two payments that a payer signed with one nonce, whose time is over by now, and of which another account landed one", () => {
  /** The one that landed pays the payer's own wallet. */
  async function oneOfTwoLanded(setting: EvmSetting): Promise<{ own: Body; sellers: Body }> {
    const buyer = await setting.fundedBuyer();
    const toOwnWallet = { ...setting.terms, payTo: newBuyer().address, amount: "1" };
    for (let seconds = 5; ; seconds *= 2) {
      const validBefore = String(Math.floor(Date.now() / 1_000) + seconds);
      const own = await paymentBody(buyer, toOwnWallet, { validBefore });
      const { nonce } = own.paymentPayload.payload.authorization;
      const sellers = await paymentBody(buyer, setting.terms, { validBefore, nonce });
      const landed = await sendAsStranger(setting, setting.chain.usdc, callOf(own.paymentPayload.payload));
      // A busy machine may have been too late for the chain.
      if ((await setting.chain.receipt(landed)).status !== "success") continue;
      await expect.poll(() => Number(validBefore) - Math.floor(Date.now() / 1_000)).toBeLessThan(6);
      return { own, sellers };
    }
  }

  test.for([
    ["first", true],
    ["second", false],
  ] as const)("only that one is settled, be it asked about %s", async ([_when, isFirst], { setting, facilitator }) => {
    const { own, sellers } = await oneOfTwoLanded(setting);
    const asked = isFirst ? [own, sellers, own] : [sellers, own, sellers];
    const reasons: string[] = [];
    for (const body of asked) reasons.push((await facilitator.settle(body)).body.errorReason);
    const used = "invalid_exact_evm_nonce_already_used";
    expect(reasons).toEqual(asked.map((body) => (body === own ? "already_settled" : used)));
  });
});

describe("our own transaction, of which the node says that its nonce is too low", () => {
  test("our own transaction whose nonce the node calls too low is a settlement when it is mined", async ({
    setting,
    proxy,
    facilitator,
  }) => {
    const body = await pay(setting);
    const [before, had] = [await sent(setting), await payToHas(setting)];
    proxy.behave((method) => (method === "eth_sendRawTransaction" ? "nonce-too-low" : "pass"));
    expect((await facilitator.settle(body)).body).toMatchObject({ success: true });
    expect(await sent(setting)).toBe(before + 1);
    expect(await payToHas(setting)).toBe(had + 10_000n);
  });

  test("what a contract says when a transaction is handed in is not taken for the node's word about the fee payer", async ({
    setting,
    proxy,
    facilitator,
  }) => {
    const bodies = [await pay(setting), await pay(setting)];
    proxy.behave((method) => (method === "eth_sendRawTransaction" ? "reverted" : "pass"));
    for (const body of bodies) expect((await facilitator.settle(body)).body).toMatchObject({ success: true });
  });

  test("our own transaction whose nonce the node calls too low is pending while its receipt is late, never sent a second time or said to have moved nothing", async ({
    setting,
    proxy,
    facilitator,
  }) => {
    const daemon = await startFacilitator({ ...setting.variables, SETTLE_TIMEOUT_MS: "6000" });
    try {
      const body = await pay(setting);
      const [before, had] = [await sent(setting), await payToHas(setting)];
      proxy.behave((method) => {
        if (method === "eth_sendRawTransaction") return "nonce-too-low";
        return method === "eth_getTransactionReceipt" ? "null" : "pass";
      });
      const pending = { success: false, errorReason: "settlement_pending", transaction: expect.stringMatching(/^0x/) };
      expect((await daemon.settle(body)).body).toMatchObject(pending);
      // Past the lease: the reconciler asks, and is told nothing either.
      const asked = proxy.counts.get("eth_getTransactionReceipt") ?? 0;
      await change(facilitator, body, lapsed);
      await expect.poll(async () => (await rowOf(facilitator, body)).lease_until > new Date()).toBe(true);
      await expect.poll(() => proxy.counts.get("eth_getTransactionReceipt")).toBeGreaterThan(asked);
      expect((await daemon.settle(body)).body).toMatchObject(pending);
      proxy.behave(() => "pass");
      await change(facilitator, body, lapsed);
      await expect
        .poll(async () => (await daemon.settle(body)).body, { interval: 300 })
        .toMatchObject({ success: true });
      expect(await rowOf(facilitator, body)).toMatchObject({ landed_by_another: false });
      expect(await sent(setting)).toBe(before + 1);
      expect(await payToHas(setting)).toBe(had + 10_000n);
    } finally {
      await daemon.stop();
    }
  });
});

describe("a caller who waits for a payment's end", () => {
  test("is told it though the reconciler asked meanwhile, and did not know it yet", async ({
    setting,
    proxy,
    facilitator,
  }) => {
    const body = await pay(setting);
    await chain(setting).setAutomine(false);
    try {
      const settling = facilitator.settle(body);
      await expect.poll(async () => (await rowOf(facilitator, body))?.state).toBe("broadcast");
      await change(facilitator, body, lapsed);
      await expect.poll(async () => (await rowOf(facilitator, body)).state).toBe("unknown");
      // By then its holder has asked the database as well.
      const asked = proxy.counts.get("eth_getTransactionReceipt") ?? 0;
      await expect.poll(() => proxy.counts.get("eth_getTransactionReceipt")).toBeGreaterThan(asked + 12);
      await chain(setting).mine({ blocks: 1 });
      expect((await settling).body).toMatchObject({ success: true });
    } finally {
      await chain(setting).setAutomine(true);
    }
  });

  test.for([["eth_sendRawTransaction"], ["eth_getTransactionReceipt"]])(
    "is told its transaction when the time is over, though the node does not answer %s",
    async ([asked], { setting, proxy, facilitator }) => {
      const daemon = await startFacilitator({ ...setting.variables, SETTLE_TIMEOUT_MS: "6000" });
      try {
        const body = await pay(setting);
        proxy.behave((method) => (method === asked ? "hold" : "pass"));
        const { transaction, ...told } = (await daemon.settle(body)).body;
        expect(told).toMatchObject({ success: false, errorReason: "settlement_pending" });
        expect(transaction).toMatch(/^0x[0-9a-f]{64}$/);
        expect(await rowOf(facilitator, body)).toMatchObject({ transaction_id: transaction });
        proxy.behave(() => "pass");
        await change(facilitator, body, lapsed);
        await expect
          .poll(async () => (await facilitator.settle(body)).body, { interval: 300 })
          .toMatchObject({ success: true, transaction });
      } finally {
        proxy.behave(() => "pass");
        await daemon.stop();
      }
    },
  );

  test("is told its transaction though the database has lost the payment meanwhile", async ({
    setting,
    proxy,
    facilitator,
  }) => {
    const daemon = await startFacilitator({ ...setting.variables, SETTLE_TIMEOUT_MS: "6000" });
    try {
      const body = await pay(setting);
      proxy.behave((method) => (method === "eth_getTransactionReceipt" ? "hold" : "pass"));
      const settling = daemon.settle(body);
      await expect.poll(async () => (await rowOf(facilitator, body))?.state, { interval: 10 }).toBe("broadcast");
      const { transaction_id: transaction } = await rowOf(facilitator, body);
      await facilitator.context.db.query("delete from payments where payment_key like '%' || $1", [nonceOf(body)]);
      proxy.behave(() => "pass");
      expect((await settling).body).toMatchObject({ errorReason: "settlement_pending", transaction });
    } finally {
      proxy.behave(() => "pass");
      await daemon.stop();
    }
  });
});

describe("a database that lost its last moments", () => {
  const forgotten = `state = 'claimed', transaction_id = null, raw_transactions = null, fee_payer = null, nonce = null,
    signed_transactions = '{}', delivered_at = null, finished_at = null, ${lapsed}`;

  test("and has but the claim of a payment that is settled: success for one of its callers", async ({
    setting,
    facilitator,
  }) => {
    const body = await pay(setting);
    const { transaction } = (await facilitator.settle(body)).body;
    await change(facilitator, body, forgotten);
    const answers = await Promise.all(Array.from({ length: 20 }, () => facilitator.settle(body)));
    expect(answers.filter(({ body }) => body.success)).toHaveLength(1);
    expect(new Set(answers.map(({ body }) => body.transaction))).toEqual(new Set([transaction]));
    expect(await failuresOf(facilitator, body)).toBe(0);
  });

  test("and has it failed, to be tried again: it is found settled", async ({ setting, facilitator }) => {
    const body = await pay(setting);
    const before = await sent(setting);
    const { transaction } = (await facilitator.settle(body)).body;
    await change(
      facilitator,
      body,
      "state = 'failed', retryable = true, error_reason = 'transaction_failed', delivered_at = null",
    );
    const answers = await Promise.all(Array.from({ length: 10 }, () => facilitator.settle(body)));
    expect(answers.filter(({ body }) => body.success)).toHaveLength(1);
    expect(new Set(answers.map(({ body }) => body.transaction))).toEqual(new Set([transaction]));
    expect(await sent(setting)).toBe(before + 1);
  });

  test("and has it failed, to be tried again, while such a payment would be too small now: it is found settled", async ({
    setting,
    facilitator,
  }) => {
    const [body, other, unsettled] = [await pay(setting), await pay(setting), await pay(setting)];
    const { transaction } = (await facilitator.settle(body)).body;
    expect((await facilitator.settle(other)).body).toMatchObject({ success: true });
    for (const one of [body, other]) {
      await change(
        facilitator,
        one,
        "state = 'failed', retryable = true, error_reason = 'transaction_failed', delivered_at = null",
      );
    }
    const after = await startFacilitator({ ...setting.variables, EIP155_84532_AMOUNT_MIN: "10001" });
    try {
      const tooSmall = "amount_below_minimum";
      const forged = edited(body, { "paymentPayload.payload.signature": `0x${"11".repeat(65)}` });
      for (const refused of [forged, unsettled]) {
        expect((await after.verify(refused)).body).toMatchObject({ isValid: false, invalidReason: tooSmall });
        expect((await after.settle(refused)).body).toMatchObject({ errorReason: tooSmall, transaction: "" });
      }
      expect((await after.settle(body)).body).toMatchObject({ success: true, transaction });
      expect((await after.verify(other)).body).toMatchObject({ isValid: false, invalidReason: "already_settled" });
    } finally {
      await after.stop();
    }
  });

  test("and has nothing of it: it is settled, and no success is told", async ({ setting, facilitator }) => {
    const body = await pay(setting);
    const { transaction } = (await facilitator.settle(body)).body;
    await facilitator.context.db.query("delete from payments where payment_key like '%' || $1", [nonceOf(body)]);
    expect((await facilitator.verify(body)).body).toMatchObject({ invalidReason: "already_settled" });
    const answer = (await facilitator.settle(body)).body;
    expect(answer).toMatchObject({ success: false, errorReason: "already_settled", transaction });
    expect(answer).not.toHaveProperty("termsDigest");
  });

  describe("is asked about a payment whose authorization has run out since", () => {
    test("and has nothing of it: the chain says that it is settled, to who presents what was signed", async ({
      setting,
      proxy,
      facilitator,
      over: [{ body, transaction }],
    }) => {
      await facilitator.context.db.query("delete from payments where payment_key like '%' || $1", [nonceOf(body)]);
      proxy.behave(() => "lose-call");
      const away = await facilitator.settle(body);
      expect(away).toMatchObject({ status: 503, body: { success: false, transaction: "" } });
      proxy.behave((method) => (method === "eth_getTransactionReceipt" ? "null" : "pass"));
      expect((await facilitator.settle(body)).status).toBe(503);
      proxy.behave(() => "pass");
      const forged = edited(body, { "paymentPayload.payload.signature": `0x${"11".repeat(65)}` });
      expect((await facilitator.settle(forged)).body).toMatchObject({ success: false, transaction: "" });
      const before = await sent(setting);
      const answer = (await facilitator.settle(body)).body;
      expect(answer).toMatchObject({ success: false, errorReason: "already_settled", transaction });
      expect(answer).not.toHaveProperty("termsDigest");
      expect((await facilitator.verify(body)).body).toMatchObject({ isValid: false, invalidReason: tooLate });
      expect(await sent(setting)).toBe(before);
    });

    test("and has it failed, to be tried again: one caller is told of its success", async ({
      facilitator,
      over: [, { body, transaction }],
    }) => {
      await change(
        facilitator,
        body,
        "state = 'failed', retryable = true, error_reason = 'transaction_failed', delivered_at = null",
      );
      const answers = await Promise.all(Array.from({ length: 10 }, () => facilitator.settle(body)));
      expect(answers.filter(({ body }) => body.success)).toHaveLength(1);
      expect(new Set(answers.map(({ body }) => body.transaction))).toEqual(new Set([transaction]));
    });

    test("that was never sent, or was cancelled: no settlement is made of it", async ({
      setting,
      facilitator,
      over: [, , { body }],
    }) => {
      const buyer = await setting.fundedBuyer();
      const validBefore = String(Math.floor(Date.now() / 1_000) - 60);
      const never = await paymentBody(buyer, setting.terms, { validBefore });
      expect((await facilitator.settle(never)).body).toMatchObject({ errorReason: tooLate, transaction: "" });
      const dearer = { ...setting.terms, amount: "20000" };
      const { nonce } = body.paymentPayload.payload.authorization;
      const another = await paymentBody(buyer, dearer, { validBefore, nonce });
      expect((await facilitator.settle(another)).body).toMatchObject({ success: false, transaction: "" });
    });
  });

  test("a claim of which the chain knows nothing is not failed but open, and whoever presents it may settle it", async ({
    setting,
    proxy,
    facilitator,
  }) => {
    const body = await pay(setting);
    const { authorization } = body.paymentPayload.payload;
    await facilitator.settle(edited(body, { "paymentPayload.payload.signature": `0x${"11".repeat(65)}` }));
    const { rows } = await facilitator.context.db.query(
      `insert into payments (network, payment_key, state, claim_token, scheme, payer, pay_to, asset, amount_atomic,
                             expires_at, lease_until)
       values ('eip155:84532', $1, 'claimed', gen_random_uuid(), 'exact', $2, $3, $4, 10000, to_timestamp($5), now())
       returning id`,
      [
        `${setting.chain.usdc}:${authorization.from}:${authorization.nonce}`.toLowerCase(),
        authorization.from,
        authorization.to,
        setting.chain.usdc,
        Number(authorization.validBefore),
      ],
    );
    expect(rows).toHaveLength(1);
    const asked = proxy.counts.get("eth_getBlockByNumber") ?? 0;
    proxy.behave(() => "lose-call");
    await change(facilitator, body, lapsed);
    await expect.poll(async () => (await rowOf(facilitator, body)).lease_until > new Date()).toBe(true);
    await expect.poll(() => proxy.counts.get("eth_getBlockByNumber")).toBeGreaterThan(asked);
    expect(await rowOf(facilitator, body)).toMatchObject({ state: "claimed", retryable: false });
    proxy.behave(() => "pass");
    await change(facilitator, body, lapsed);
    await expect.poll(async () => (await rowOf(facilitator, body)).retryable).toBe(true);
    expect(await rowOf(facilitator, body)).toMatchObject({ state: "claimed", error_reason: null });
    expect((await facilitator.verify(body)).body).toMatchObject({ isValid: true });
    const [before, had] = [await sent(setting), await payToHas(setting)];
    const answers = await Promise.all(Array.from({ length: 20 }, () => facilitator.settle(body)));
    expect(answers.filter(({ body }) => body.success)).toHaveLength(1);
    expect(await sent(setting)).toBe(before + 1);
    expect(await payToHas(setting)).toBe(had + 10_000n);
  });

  test("a claim that nobody sent has failed once its authorization has run out", async ({ setting, facilitator }) => {
    const body = await pay(setting);
    expect((await facilitator.settle(body)).body).toMatchObject({ success: true });
    // As if under another nonce, which is unused.
    const unused = `0x${"7".repeat(64)}`;
    await change(
      facilitator,
      body,
      `${forgotten}, payment_key = replace(payment_key, '${nonceOf(body)}', '${unused}')`,
    );
    const row = async () =>
      (await facilitator.context.db.query("select * from payments where payment_key like '%' || $1", [unused])).rows[0];
    await expect.poll(async () => (await row()).retryable).toBe(true);
    expect(await row()).toMatchObject({ state: "claimed" });
    // As waiting would.
    await facilitator.context.db.query(
      "update payments set expires_at = now() - interval '1 second' where payment_key like '%' || $1",
      [unused],
    );
    const lookedAfter = async () => {
      await chain(setting).mine({ blocks: 1 });
      await facilitator.context.db.query(`update payments set ${lapsed} where payment_key like '%' || $1`, [unused]);
      return row();
    };
    await expect.poll(lookedAfter, { interval: 500 }).toMatchObject({ state: "failed", error_reason: tooLate });
  });

  describe("kill -9 leaves a payment that settles once, and no gap in the nonces", () => {
    type Facilitator = Awaited<ReturnType<typeof startFacilitator>>;

    /** Settled by a copy that is killed as soon as `reached`; afterwards by others, and this is what must hold. */
    async function killAt(
      { setting, facilitator }: { setting: EvmSetting; facilitator: Facilitator },
      body: Body,
      { ready, reached, left }: { ready?: () => void; reached: () => Promise<void>; left: () => Promise<unknown> },
    ) {
      const daemon = await spawnFacilitator(setting.variables);
      const [before, had] = [await sent(setting), await payToHas(setting)];
      expect((await daemon.verify(body)).body).toMatchObject({ isValid: true });
      ready?.();
      const lost = daemon.settle(body).catch((error: Error) => error);
      await reached();
      daemon.process.kill("SIGKILL");
      expect(await lost).toBeInstanceOf(Error);
      await left();
      await expect
        .poll(async () => (await facilitator.settle(body)).body, { interval: 300 })
        .toMatchObject({ success: true });
      expect((await facilitator.settle(body)).body).toMatchObject({ errorReason: "already_settled" });
      expect((await facilitator.settle(await pay(setting))).body).toMatchObject({ success: true });
      expect(await sent(setting)).toBe(before + 2);
      expect(await payToHas(setting)).toBe(had + 20_000n);
    }

    test("while it is claimed and signed for", async ({ setting, facilitator }) => {
      const body = await pay(setting);
      const { db } = facilitator.context;
      const tx = await db.connect();
      try {
        await tx.query("begin");
        // It is held idle while a daemon starts, which a busy machine takes its time for.
        await tx.query("set local idle_in_transaction_session_timeout = 0");
        // The row is written by then, and not yet there for others.
        await tx.query("lock table unfinished_payments in share mode");
        await killAt({ setting, facilitator }, body, {
          reached: () =>
            expect
              .poll(async () => {
                const { rows } = await db.query(
                  `select from pg_locks where relation = 'unfinished_payments'::regclass and not granted`,
                );
                return rows.length;
              })
              .toBe(1),
          left: async () => {
            await tx.query("rollback");
            await expect
              .poll(async () => (await db.query("select from pg_locks where relation = 'payments'::regclass")).rows)
              .toEqual([]);
            expect(await rowOf(facilitator, body)).toBeUndefined();
          },
        });
      } finally {
        tx.release();
      }
    });

    test("between that and the sending", async ({ setting, proxy, facilitator }) => {
      const body = await pay(setting);
      await killAt({ setting, facilitator }, body, {
        ready: () => proxy.behave((method) => (method === "eth_sendRawTransaction" ? "lose-call" : "pass")),
        reached: () => expect.poll(async () => (await rowOf(facilitator, body))?.state).toBe("broadcast"),
        left: async () => {
          proxy.behave(() => "pass");
          await change(facilitator, body, lapsed);
        },
      });
    });
  });
});

describe("a contract that says no only when it is mined", () => {
  test.for([
    ["a wallet", "wallet"],
    ["a token", "token"],
  ])(
    "a contract wallet that looks at the price of gas is found out before it costs any: %s",
    async ([_name, kind], { setting }) => {
      const asset = kind === "token" ? await setting.chain.deploy(revertingToken) : setting.chain.usdc;
      const daemon = await startFacilitator({
        ...setting.variables,
        EIP155_84532_ASSETS: `${setting.chain.usdc},${asset}`,
      });
      try {
        const buyer = newBuyer();
        const nobody = `0x${"0".repeat(40)}`;
        const from = kind === "wallet" ? await setting.chain.deploy(fickleWallet, [nobody]) : buyer.address;
        await setting.chain.mint(asset, from, 1_000_000n);
        const body = await paymentBody(buyer, { ...setting.terms, asset }, { from });
        const before = await sent(setting);
        const reason = "invalid_exact_evm_transaction_simulation_failed";
        expect((await daemon.verify(body)).body).toMatchObject({ isValid: false, invalidReason: reason });
        expect((await daemon.settle(body)).body).toMatchObject({
          success: false,
          errorReason: reason,
          transaction: "",
        });
        expect(await sent(setting)).toBe(before);
      } finally {
        await daemon.stop();
      }
    },
  );

  test("a contract wallet that looks at who sends is paid from by the fee payer it was asked as", async ({
    setting,
  }) => {
    const second = generatePrivateKey();
    const { address } = privateKeyToAccount(second);
    await setting.chain.fund(address, { wei: 10n ** 19n });
    const signers = `${setting.variables.EIP155_84532_SIGNERS},${second}`;
    // By itself it looks after both.
    const database = { FACILITATOR_DATABASE_URL: await freshDatabase("facilitator") };
    const daemon = await startFacilitator({ ...setting.variables, ...database, EIP155_84532_SIGNERS: signers });
    try {
      const wallet = await setting.chain.deploy(fickleWallet, [address]);
      await setting.chain.fund(wallet, { usdc: 1_000_000n });
      const pays = () => paymentBody(newBuyer(), setting.terms, { from: wallet });
      const bodies = await Promise.all(Array.from({ length: 12 }, pays));
      const answers = await Promise.all(bodies.map((body) => daemon.settle(body)));
      // One that is checked while others are being sent may be asked as the fee payer that the wallet does not want.
      const reason = "invalid_exact_evm_transaction_simulation_failed";
      const refused = expect.objectContaining({ success: false, errorReason: reason, transaction: "" });
      const paid = expect.objectContaining({ success: true });
      const bodyOf = ({ body }: (typeof answers)[number]) => body;
      for (const body of answers.map(bodyOf)) expect([paid, refused]).toContainEqual(body);
      expect(answers.map(bodyOf)).toContainEqual(paid);
      expect(await chain(setting).getTransactionCount({ address })).toBe(0);
    } finally {
      await daemon.stop();
    }
  });

  test("a fee payer short of gas money is not taken for the payment's fault", async ({ setting }) => {
    const poor = generatePrivateKey();
    await setting.chain.fund(privateKeyToAccount(poor).address, { wei: 1_000n });
    const variables = { ...setting.variables, EIP155_84532_SIGNERS: poor, EIP155_84532_BALANCE_EMPTY_WEI: "1" };
    const daemon = await startFacilitator({ ...variables, EIP155_84532_BALANCE_LOW_WEI: "1" });
    try {
      expect((await daemon.verify(await pay(setting))).body).toMatchObject({ isValid: true });
    } finally {
      await daemon.stop();
    }
  });
});
