import { describe, expect } from "vitest";
import { elapse } from "../../support/elapse.ts";
import { ledgerTest } from "../../support/fixtures.ts";
import { connect, paymentBody, signedPayment } from "./raw.ts";
import { eventually, mirrorId, type OpenLedger } from "./sdk.ts";

const test = ledgerTest();
let nodes: ReturnType<typeof connect>[];

test.beforeAll(async ({ on }) => {
  nodes = Object.keys(on.ledger.nodes).map(connect);
});

test.afterEach(({ on }) => on.ledger.faults.clear());

test.afterAll(async () => {
  for (const node of nodes) node.close();
});

const received = async (on: OpenLedger): Promise<number> => (await on.tokenBalance("0.0.1002"))!;

describe("busy", () => {
  test("is over after as many refusals as were set, and the SDK gets through by itself", async ({ on }) => {
    on.ledger.faults.set({ busy: 2 });
    expect(await nodes[0]!.submit(signedPayment(on.ledger))).toBe("BUSY");
    const before = await received(on);
    expect(await on.settle(on.payment(10), on.keys.buyer)).toBe("SUCCESS");
    expect(await received(on)).toBe(before + 10);
    expect(on.ledger.faults.current()).not.toHaveProperty("busy");
  });

  test("for one node leaves the others alone", async ({ on }) => {
    on.ledger.faults.set({ busy: 1 }, "0.0.4");
    const body = paymentBody(on.ledger);
    expect(await nodes[0]!.submit(signedPayment(on.ledger, body))).toBe("OK");
    expect(await nodes[1]!.submit(signedPayment(on.ledger))).toBe("BUSY");
    expect(await nodes[1]!.submit(signedPayment(on.ledger))).toBe("INVALID_NODE_ACCOUNT");
    await eventually(() => nodes[0]!.receipt(body.transactionID!)).toBe("SUCCESS");
  });
});

describe("unavailable", () => {
  test("runs nothing, so the same payment can be submitted again", async ({ on }) => {
    on.ledger.faults.set({ unavailable: 1 });
    const body = paymentBody(on.ledger);
    const payment = signedPayment(on.ledger, body);
    await expect(nodes[0]!.submit(payment)).rejects.toMatchObject({ code: 14 });
    expect(await nodes[0]!.submit(payment)).toBe("OK");
    await eventually(() => nodes[0]!.receipt(body.transactionID!)).toBe("SUCCESS");
  });
});

describe("a reply that is lost", () => {
  test.for([
    ["dropReply", 4, 3_000],
    ["resetReply", 14, 60_000],
  ] as const)(
    "(%s) leaves the caller without an answer although the payment goes through",
    async ([fault, code, withinMs], { on }) => {
      const before = await received(on);
      on.ledger.faults.set({ [fault]: 1 });
      const body = paymentBody(on.ledger);
      const payment = signedPayment(on.ledger, body);
      await expect(nodes[0]!.submit(payment, withinMs)).rejects.toMatchObject({ code });
      await eventually(() => nodes[1]!.receipt(body.transactionID!)).toBe("SUCCESS");
      expect(await nodes[0]!.submit(payment)).toBe("DUPLICATE_TRANSACTION");
      expect(await received(on)).toBe(before + 1);
    },
  );

  test("makes the SDK, trying the next node, report a duplicate of the payment that went through", async ({ on }) => {
    const before = await received(on);
    on.ledger.faults.set({ resetReply: 1 });
    const payment = on.payment(10, { nodes: ["0.0.3", "0.0.4"] });
    expect(await on.settle(payment, on.keys.buyer)).toBe("DUPLICATE_TRANSACTION");
    expect((await on.receiptOf(payment.transactionId!)).status.toString()).toBe("SUCCESS");
    expect(await received(on)).toBe(before + 10);
  });
});

describe("loseTx", () => {
  test("answers OK for a payment that never happens; that node alone remembers it and another one takes it", async ({
    on,
  }) => {
    const before = await received(on);
    on.ledger.faults.set({ loseTx: 1 });
    const body = paymentBody(on.ledger);
    expect(await nodes[0]!.submit(signedPayment(on.ledger, body))).toBe("OK");
    // Consensus takes payments in the order they came in.
    const later = paymentBody(on.ledger);
    expect(await nodes[0]!.submit(signedPayment(on.ledger, later))).toBe("OK");
    await eventually(() => nodes[0]!.receipt(later.transactionID!)).toBe("SUCCESS");
    expect(await nodes[0]!.receipt(body.transactionID!)).toBe("UNKNOWN");
    expect(await nodes[1]!.receipt(body.transactionID!)).toBe("RECEIPT_NOT_FOUND");
    expect(await nodes[0]!.submit(signedPayment(on.ledger, body))).toBe("DUPLICATE_TRANSACTION");
    expect(await received(on)).toBe(before + 1);
    const elsewhere = signedPayment(on.ledger, {
      ...body,
      nodeAccountID: { accountNum: { ...body.nodeAccountID!.accountNum!, low: 4 } } as never,
    });
    expect(await nodes[1]!.submit(elsewhere)).toBe("OK");
    await eventually(() => nodes[0]!.receipt(body.transactionID!)).toBe("SUCCESS");
    expect(await received(on)).toBe(before + 2);
  });
});

describe("throttleAtConsensus", () => {
  test("burns the id and the fee, and moves nothing", async ({ on }) => {
    const before = await Promise.all([received(on), on.hbarBalance("0.0.1001")]);
    on.ledger.faults.set({ throttleAtConsensus: 1 });
    const payment = on.payment(10);
    expect(await on.settle(payment, on.keys.buyer)).toBe("THROTTLED_AT_CONSENSUS");
    expect(await received(on)).toBe(before[0]);
    expect(await on.hbarBalance("0.0.1001")).toBe(before[1] - 916_667n);
    expect(await on.statusOf(payment, on.client)).toBe("DUPLICATE_TRANSACTION");
  });
});

describe("delays", () => {
  test("delayMs holds back every answer", async ({ on }) => {
    on.ledger.faults.set({ delayMs: 150 });
    const startedAt = performance.now();
    expect(await nodes[0]!.submit(signedPayment(on.ledger))).toBe("OK");
    expect(performance.now() - startedAt).toBeGreaterThan(145);
  });

  test("consensusDelayMs holds back the receipt, and lowering it lets go what waited", async ({ on }) => {
    on.ledger.faults.set({ consensusDelayMs: 60_000 });
    const body = paymentBody(on.ledger);
    await nodes[0]!.submit(signedPayment(on.ledger, body));
    await elapse(50, "longer than it takes without the delay");
    expect(await nodes[0]!.receipt(body.transactionID!)).toBe("UNKNOWN");
    on.ledger.faults.set({ consensusDelayMs: 0 });
    await eventually(() => nodes[0]!.receipt(body.transactionID!)).toBe("SUCCESS");
  });
});

describe("queries", () => {
  test("fail without touching the payment they ask about", async ({ on }) => {
    on.ledger.faults.set({ queryUnavailable: 1 });
    const body = paymentBody(on.ledger);
    await nodes[0]!.submit(signedPayment(on.ledger, body));
    await expect(nodes[0]!.receipt(body.transactionID!)).rejects.toMatchObject({ code: 14 });
    await eventually(() => nodes[0]!.receipt(body.transactionID!)).toBe("SUCCESS");
  });
});

describe("a mirror", () => {
  test("that is down answers 503 in its own shape", async ({ on }) => {
    on.ledger.faults.set({ mirrorUnavailable: 1 });
    expect(await on.mirror("accounts/0.0.1003")).toEqual({
      httpStatus: 503,
      _status: { messages: [{ message: "Service unavailable" }] },
    });
    expect(await on.mirror("accounts/0.0.1003")).toMatchObject({ httpStatus: 200 });
  });

  test("that lags shows balances, associations, accounts and transactions as they were", async ({ on }) => {
    on.ledger.faults.set({ mirrorLagMs: 60_000 });
    const before = await received(on);
    const payment = on.payment(10);
    expect(await on.settle(payment, on.keys.buyer)).toBe("SUCCESS");
    const { accountId } = on.ledger.faucet.createAccount({ publicKey: on.accounts.creator.publicKey });
    on.ledger.faucet.associate("0.0.1001", on.ledger.usdc);
    const seen = async () => ({
      received: await received(on),
      transaction: (await on.mirror(`transactions/${mirrorId(payment.transactionId!)}`)).httpStatus,
      account: (await on.mirror(`accounts/${accountId}`)).httpStatus,
      associated: (await on.mirror("accounts/0.0.1001/tokens")).tokens.length,
    });
    expect(await seen()).toEqual({ received: before, transaction: 404, account: 404, associated: 0 });
    on.ledger.faults.set({ mirrorLagMs: 1 });
    await eventually(seen).toEqual({ received: before + 10, transaction: 200, account: 200, associated: 1 });
  });

  test("that lags shows each of several changes in its turn", async ({ on }) => {
    on.ledger.faults.set({ mirrorLagMs: 60_000 });
    const platform = () => on.tokenBalance("0.0.1004");
    await on.settle(on.payment(1, { to: "0.0.1004" }), on.keys.buyer);
    const between = Date.now() + 1;
    await elapse(1_000, "a look at the mirror that takes a while falls between the two as well");
    await on.settle(on.payment(1, { to: "0.0.1004" }), on.keys.buyer);
    expect(await platform()).toBe(0);
    const platformThen = () => {
      on.ledger.faults.set({ mirrorLagMs: Date.now() - between });
      return platform();
    };
    await eventually(platformThen).toBe(1);
    on.ledger.faults.set({ mirrorLagMs: 1 });
    await eventually(platform).toBe(2);
  });
});

describe("clear", () => {
  test("turns counters off and levels back to what they were at the start", ({ on }) => {
    const start = on.ledger.faults.current();
    on.ledger.faults.set({ busy: 5, delayMs: 9, clockOffsetMs: -3 });
    on.ledger.faults.set({ loseTx: 1 }, "0.0.3");
    expect(on.ledger.faults.current()).toMatchObject({ busy: 5, "loseTx@0.0.3": 1, delayMs: 9, clockOffsetMs: -3 });
    on.ledger.faults.clear();
    expect(on.ledger.faults.current()).toEqual(start);
  });
});
