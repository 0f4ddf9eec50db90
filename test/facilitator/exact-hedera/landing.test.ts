import { describe, expect } from "vitest";
import { parsePaymentRequest } from "../../../facilitator/payment-request.ts";
import { isRefusal } from "../../../facilitator/schemes/scheme.ts";
import type { LocalHedera } from "../../../infra/local-hedera/local-hedera.ts";
import { elapse } from "../../support/elapse.ts";
import { searchNoLostSettlements, type startFacilitator } from "../../support/facilitator.ts";
import { hederaTest } from "../../support/fixtures.ts";
import { buyerOf, newBuyer, newId, price, signedPayment, type Terms, usdcOf } from "./setting.ts";

const test = hederaTest({ HEDERA_TESTNET_ASSETS: "0.0.429274,0.0.0" });
test.beforeAll(({ facilitator, ledger }) =>
  searchNoLostSettlements(facilitator.context, "hedera:testnet", ledger.accounts.feePayer.accountId),
);

test.afterEach(({ ledger }) => ledger.faults.clear());

async function pay(ledger: LocalHedera, terms: Partial<Terms> = {}) {
  const { requirements, payload } = await signedPayment({ ...buyerOf(ledger), ...terms });
  const quoted = { ...requirements, extra: { ...requirements.extra, quoteId: "q-1" } };
  return {
    x402Version: 2,
    paymentPayload: { x402Version: 2, accepted: quoted, payload, resource: { url: "https://shop.example/a" } },
    paymentRequirements: quoted,
  };
}
type Body = Awaited<ReturnType<typeof pay>>;

const creatorHas = (ledger: LocalHedera) => usdcOf(ledger, ledger.accounts.creator.accountId);
const db = (facilitator: Awaited<ReturnType<typeof startFacilitator>>) => facilitator.context.db;
const expired = "invalid_exact_hedera_payload_transaction_expired";
const lapsed = "lease_until = now() - interval '1 second'";
const forgotten = `state = 'claimed', transaction_id = null, raw_transactions = null, fee_payer = null,
  signed_transactions = '{}', delivered_at = null, finished_at = null, ${lapsed}`;

async function settledOnce(facilitator: Awaited<ReturnType<typeof startFacilitator>>, body: Body): Promise<string> {
  const answer = (await facilitator.settle(body)).body;
  expect(answer).toMatchObject({ success: true });
  return answer.transaction;
}

async function expectOneSuccess(
  facilitator: Awaited<ReturnType<typeof startFacilitator>>,
  body: Body,
  transaction: string,
): Promise<void> {
  const answers = await Promise.all(Array.from({ length: 20 }, () => facilitator.settle(body)));
  expect(answers.filter(({ body }) => body.success)).toHaveLength(1);
  const told = answers.map(({ body }) => [body.errorReason ?? "success", body.errorMessage, body.transaction]);
  expect(told.filter(([, , ofChain]) => ofChain !== transaction)).toEqual([]);
}

test("who posts the payment of a payer's last money at the same time as others is told that it is settled", async ({
  ledger,
  facilitator,
}) => {
  const buyer = newBuyer(ledger, { usdc: price });
  const body = await pay(ledger, buyer);
  const answers = await Promise.all(
    Array.from({ length: 30 }, async (_, index) => {
      await elapse(index * 5, "they come one after the other");
      return facilitator.settle(body);
    }),
  );
  expect(answers.filter(({ body }) => body.success)).toHaveLength(1);
  const others = answers.filter(({ body }) => !body.success);
  expect(new Set(others.map(({ body }) => body.errorReason))).toEqual(new Set(["already_settled"]));
  expect(new Set(others.map(({ body }) => typeof body.termsDigest))).toEqual(new Set(["string"]));
});

describe("a database that lost its last moments", () => {
  test.for([
    ["a moment ago", -1],
    ["half a minute ago", -30],
  ] as const)(
    "and has but the claim, or a failure, of a payment begun %s: success for one caller",
    async ([_name, starts], { ledger, facilitator }) => {
      const before = await creatorHas(ledger);
      for (const state of [forgotten, "state = 'failed', retryable = true, delivered_at = null"]) {
        const body = await pay(ledger, { startsInSeconds: starts });
        const transaction = await settledOnce(facilitator, body);
        await db(facilitator).query(`update payments set ${state} where payment_key = $1`, [transaction]);
        await db(facilitator).query(
          "insert into unfinished_payments select id from payments where payment_key = $1 and state = 'claimed'",
          [transaction],
        );
        await expectOneSuccess(facilitator, body, transaction);
      }
      expect(await creatorHas(ledger)).toBe(before + 2n * price);
    },
  );

  test("and has nothing of it: the ledger says that it is settled, and no terms are proved", async ({
    ledger,
    facilitator,
  }) => {
    const before = await creatorHas(ledger);
    const body = await pay(ledger, { startsInSeconds: -30 });
    const transaction = await settledOnce(facilitator, body);
    await db(facilitator).query("delete from payments where payment_key = $1", [transaction]);
    expect((await facilitator.verify(body)).body).toMatchObject({ isValid: false, invalidReason: "already_settled" });
    const told = (await facilitator.settle(body)).body;
    expect(told).toMatchObject({ success: false, errorReason: "already_settled", transaction });
    expect(told).not.toHaveProperty("termsDigest");
    expect(await creatorHas(ledger)).toBe(before + price);
  });

  test("and is asked about a payment whose time is over: the ledger says whether it settled in time", async ({
    ledger,
    facilitator,
  }) => {
    const { body, transaction } = await settledAndOver(ledger, facilitator);
    const never = await pay(ledger, { startsInSeconds: -10, seconds: 30 });
    await db(facilitator).query("delete from payments where payment_key = $1", [transaction]);
    ledger.faults.set({ mirrorLagMs: 600_000 });
    expect(await facilitator.settle(body)).toMatchObject({ status: 503, body: { success: false, transaction: "" } });
    ledger.faults.set({ mirrorUnavailable: 1_000 });
    expect((await facilitator.settle(body)).status).toBe(503);
    ledger.faults.clear();
    const told = (await facilitator.settle(body)).body;
    expect(told).toMatchObject({ success: false, errorReason: "already_settled", transaction });
    expect(told).not.toHaveProperty("termsDigest");
    expect((await facilitator.settle(never)).body).toMatchObject({
      errorReason: expired,
      transaction: "",
    });
  });

  test("and the ledger has the id of a payment that began just now: said once, without a proof of its terms", async ({
    ledger,
    facilitator,
  }) => {
    const before = await creatorHas(ledger);
    const body = await pay(ledger);
    const transaction = await settledOnce(facilitator, body);
    await db(facilitator).query("delete from payments where payment_key = $1", [transaction]);
    await expectOneSuccess(facilitator, body, transaction);
    const told = (await facilitator.settle(body)).body;
    expect(told).toMatchObject({ errorReason: "already_settled" });
    expect(told).not.toHaveProperty("termsDigest");
    expect(await creatorHas(ledger)).toBe(before + price);
  });

  test("and another payment takes the id of one that it forgot: it is not settled by that one", async ({
    ledger,
    facilitator,
  }) => {
    const other = newBuyer(ledger, { usdc: 10n * price });
    for (const starts of [-30, -1]) {
      const id = newId(buyerOf(ledger).feePayer, starts);
      const transaction = await settledOnce(facilitator, await pay(ledger, { transactionId: id }));
      await db(facilitator).query("delete from payments where payment_key = $1", [transaction]);
      for (const terms of [other, { amount: 2n * price }]) {
        const answer = (await facilitator.settle(await pay(ledger, { ...terms, transactionId: id }))).body;
        expect(answer).toMatchObject({ success: false, errorReason: "invalid_transaction_state" });
        await db(facilitator).query("delete from payments where payment_key = $1", [transaction]);
      }
    }
  });

  test.for(["failed", "unknown"])(
    "and a stranger takes the id of one that it forgot, %s by now: its owner is told that it is settled, and the record says so once the stranger's has failed",
    async (state, { ledger, facilitator }) => {
      const { payer, payTo, feePayer } = buyerOf(ledger);
      const stranger = newBuyer(ledger, { usdc: 10n });
      const id = newId(feePayer, -1);
      const body = await pay(ledger, { transactionId: id });
      const transaction = await settledOnce(facilitator, body);
      await db(facilitator).query("delete from payments where payment_key = $1", [transaction]);
      const others = await pay(ledger, { ...stranger, amount: 1n, transactionId: id });
      expect((await facilitator.settle(others)).body).toMatchObject({ errorReason: "invalid_transaction_state" });
      await db(facilitator).query(
        "update payments set state = $2, lease_until = now() + interval '1 hour' where payment_key = $1",
        [transaction, state],
      );
      const row = async () => {
        const { rows } = await db(facilitator).query(
          `select state, payer, pay_to, amount_atomic, transaction_id, landed_by_another, error_reason, retryable from payments
            where payment_key = $1`,
          [transaction],
        );
        return rows[0];
      };
      const taken = await row();
      expect(taken).toMatchObject({ state, payer: stranger.payer, amount_atomic: 1n });

      const verdict = (await facilitator.verify(body)).body;
      expect(verdict).toMatchObject({ isValid: false, invalidReason: "already_settled" });
      for (let n = 0; n < 2; n += 1) {
        const told = (await facilitator.settle(body)).body;
        expect(told).toMatchObject({ success: false, errorReason: "already_settled", transaction, payer });
        expect(told).not.toHaveProperty("termsDigest");
      }
      if (state === "failed")
        expect((await facilitator.settle(others)).body).toMatchObject({ errorReason: "invalid_transaction_state" });
      expect(await row()).toEqual(
        state === "unknown"
          ? taken
          : {
              state: "settled",
              payer,
              pay_to: payTo,
              amount_atomic: price,
              transaction_id: transaction,
              landed_by_another: false,
              error_reason: null,
              retryable: false,
            },
      );
    },
  );

  test("a claim of which the ledger knows nothing is not failed but open, and settles once", async ({
    ledger,
    facilitator,
  }) => {
    const before = await creatorHas(ledger);
    const body = await pay(ledger);
    const key = await claimedOnly(facilitator, body);
    ledger.faults.set({ mirrorUnavailable: 1_000, queryUnavailable: 1_000 });
    const row = async () =>
      (await db(facilitator).query("select * from payments where payment_key = $1", [key])).rows[0];
    await expect.poll(async () => (await row()).retryable).toBe(true);
    expect(await row()).toMatchObject({ state: "claimed", error_reason: null });
    ledger.faults.clear();
    expect((await facilitator.verify(body)).body).toMatchObject({ isValid: true });
    await expectOneSuccess(facilitator, body, key);
    expect(await creatorHas(ledger)).toBe(before + price);
  });

  /** One that has so little time that a busy machine is too late for it is made again, with more. */
  async function settledAndOver(
    ledger: LocalHedera,
    facilitator: Awaited<ReturnType<typeof startFacilitator>>,
  ): Promise<{ body: Body; transaction: string }> {
    for (let secondsLeft = 29; ; secondsLeft += 10) {
      const endsAt = Date.now() + secondsLeft * 1_000;
      const body = await pay(ledger, { startsInSeconds: secondsLeft - 60, seconds: 60 });
      const { success, errorReason, transaction } = (await facilitator.settle(body)).body;
      if (errorReason === expired) continue;
      expect(success).toBe(true);
      await expect.poll(() => endsAt - Date.now()).toBeLessThan(24_000);
      return { body, transaction };
    }
  }

  /** A claim whose holder died before it signed. */
  async function claimedOnly(facilitator: Awaited<ReturnType<typeof startFacilitator>>, body: Body): Promise<string> {
    const request = parsePaymentRequest(body);
    if (isRefusal(request)) throw new Error(request.message);
    const payment = facilitator.context.schemes.openOn("hedera:testnet")?.decode(request);
    if (!payment || isRefusal(payment)) throw new Error("the payment is none");
    const terms = {
      resourceUrl: request.resourceUrl,
      termsDigest: request.termsDigest,
      failuresMax: 0,
      failuresPerDayMax: 0,
    };
    await facilitator.context.store.claim("hedera:testnet", "exact", payment, terms);
    await db(facilitator).query(`update payments set ${lapsed} where payment_key = $1`, [payment.key]);
    return payment.key;
  }
});

describe("the maximum transaction fee", () => {
  const tooLow = "invalid_exact_hedera_payload_max_fee";

  test.for([0, 1, 100_000, 916_000])(
    "of %i tinybars, or none, is too low to settle and is refused by /verify",
    async (feeMax, { ledger, facilitator }) => {
      const answer = (await facilitator.verify(await pay(ledger, { feeMax }))).body;
      expect(answer).toMatchObject({ isValid: false, invalidReason: tooLow });
    },
  );

  test.for(["0.0.429274", "0.0.0"])(
    "that /verify takes settles, down to the lowest (%s)",
    async (asset, { ledger, facilitator }) => {
      const verdictOf = async (feeMax: number) =>
        (await facilitator.verify(await pay(ledger, { feeMax, asset }))).body.isValid;
      let [refused, taken] = [0, 10_000_000];
      while (taken - refused > 1) {
        const middle = Math.floor((refused + taken) / 2);
        if (await verdictOf(middle)) taken = middle;
        else refused = middle;
      }
      const body = await pay(ledger, { feeMax: taken, asset });
      const transaction = await settledOnce(facilitator, body);
      const path = transaction.replace("@", "-").replace(/\.(\d+)$/, "-$1");
      const response = await fetch(`${ledger.mirrorUrl}/api/v1/transactions/${path}`);
      const { transactions } = (await response.json()) as { transactions: [{ charged_tx_fee: number }] };
      expect(taken).toBeGreaterThanOrEqual(transactions[0].charged_tx_fee);
      expect(taken).toBeLessThan(1.2 * transactions[0].charged_tx_fee);
    },
  );
});
