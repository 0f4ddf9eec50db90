import {
  AccountBalanceQuery,
  AccountInfoQuery,
  NetworkVersionInfoQuery,
  PrivateKey,
  TokenInfoQuery,
  TransactionId,
  TransactionReceiptQuery,
  TransactionRecordQuery,
} from "@hashgraph/sdk";
import { describe, expect } from "vitest";
import { ledgerTest } from "../../support/fixtures.ts";
import { connect, paymentBody, signedPayment } from "./raw.ts";
import { eventually, openLedger } from "./sdk.ts";

const test = ledgerTest();

describe("a receipt", () => {
  test("is UNKNOWN while the payment is in flight, then final, on every node", async ({ on }) => {
    on.ledger.faults.set({ consensusDelayMs: 60_000 });
    const nodes = Object.keys(on.ledger.nodes).map(connect);
    const body = paymentBody(on.ledger);
    expect(await nodes[0]!.submit(signedPayment(on.ledger, body))).toBe("OK");
    const receipts = () => Promise.all(nodes.map((node) => node.receipt(body.transactionID!)));
    expect(await receipts()).toEqual(["UNKNOWN", "UNKNOWN", "UNKNOWN"]);
    on.ledger.faults.set({ consensusDelayMs: 0 });
    await eventually(receipts).toEqual(["SUCCESS", "SUCCESS", "SUCCESS"]);
    for (const node of nodes) node.close();
    on.ledger.faults.clear();
  });

  test("is not found for an id nobody submitted, and none is owed for what was refused", async ({ on }) => {
    const node = connect(Object.keys(on.ledger.nodes)[0]!);
    const body = paymentBody(on.ledger);
    expect(await node.receipt(body.transactionID!)).toBe("RECEIPT_NOT_FOUND");
    body.memo = "x".repeat(101);
    expect(await node.submit(signedPayment(on.ledger, body))).toBe("MEMO_TOO_LONG");
    expect(await node.receipt(body.transactionID!)).toBe("RECEIPT_NOT_FOUND");
    node.close();
  });

  test("is forgotten after its time, while the mirror still knows the transaction", async ({ on }) => {
    const node = connect(Object.keys(on.ledger.nodes)[0]!);
    const body = paymentBody(on.ledger);
    await node.submit(signedPayment(on.ledger, body));
    await eventually(() => node.receipt(body.transactionID!)).toBe("SUCCESS");
    on.ledger.faults.set({ receiptTtlMs: 1 });
    await eventually(() => node.receipt(body.transactionID!)).toBe("RECEIPT_NOT_FOUND");
    expect(await node.submit(signedPayment(on.ledger, body))).toBe("DUPLICATE_TRANSACTION");
    const { seconds, nanos } = body.transactionID!.transactionValidStart!;
    const id = `0.0.1001-${seconds!.low}-${nanos}`;
    expect((await on.mirror(`transactions/${id}`)).transactions[0].result).toBe("SUCCESS");
    on.ledger.faults.clear();
    node.close();
  });
});

describe("consensus timestamps", () => {
  test("never repeat nor go back, though many payments share a millisecond and the clock is put back", async ({
    on,
  }) => {
    const node = connect(Object.keys(on.ledger.nodes)[0]!);
    const pay = async (count: number) => {
      const bodies = Array.from({ length: count }, () => paymentBody(on.ledger));
      await Promise.all(bodies.map((body) => node.submit(signedPayment(on.ledger, body))));
      for (const body of bodies) await eventually(() => node.receipt(body.transactionID!)).toBe("SUCCESS");
    };
    await pay(40);
    on.ledger.faults.set({ clockOffsetMs: -3_000 });
    await pay(40);
    on.ledger.faults.clear();
    const { transactions } = await on.mirror("transactions?limit=80");
    const newestFirst = transactions.map(
      ({ consensus_timestamp }: { consensus_timestamp: string }) => consensus_timestamp,
    );
    expect(newestFirst).toHaveLength(80);
    expect(newestFirst).toEqual([...new Set(newestFirst)].sort().reverse());
    node.close();
  });
});

describe("the other queries", () => {
  test("a record tells fee, transfers and hash", async ({ on }) => {
    const payment = on.payment(10);
    await on.settle(payment, on.keys.buyer);
    const record = await new TransactionRecordQuery().setTransactionId(payment.transactionId!).execute(on.operated);
    expect(record.transactionFee.toTinybars().toNumber()).toBe(916_667);
    const moved = record.tokenTransfers.get(on.ledger.usdc)!;
    expect([moved.get("0.0.1003")!.toNumber(), moved.get("0.0.1002")!.toNumber()]).toEqual([-10, 10]);
    expect(
      record.transfers
        .find(({ accountId }) => accountId.toString() === "0.0.1001")!
        .amount.toTinybars()
        .toNumber(),
    ).toBe(-916_667);
    expect(record.transactionHash).toHaveLength(48);
  });

  test("a record is not found for an id nobody submitted", async ({ on }) => {
    const query = new TransactionRecordQuery().setTransactionId(TransactionId.generate("0.0.1001")).setMaxAttempts(2);
    await expect(query.execute(on.operated)).rejects.toThrow("RECORD_NOT_FOUND");
  });

  test("account and token info tell what the mirror tells", async ({ on }) => {
    const account = await new AccountInfoQuery().setAccountId("0.0.1003").execute(on.operated);
    expect(account.key.toString()).toBe(on.keys.buyer.publicKey.toString());
    const token = await new TokenInfoQuery().setTokenId(on.ledger.usdc).execute(on.operated);
    expect([token.symbol, token.decimals, token.treasuryAccountId!.toString()]).toEqual(["USDC", 6, "0.0.1006"]);
    const nobody = new AccountInfoQuery().setAccountId("0.0.999999").execute(on.operated);
    await expect(nobody).rejects.toThrow("INVALID_ACCOUNT_ID");
  });

  test("a paid query without a payment worth its price gets no answer", async ({ on }) => {
    const stingy = new AccountInfoQuery()
      .setAccountId("0.0.1003")
      .setQueryPayment((await import("@hashgraph/sdk")).Hbar.fromTinybars(1));
    await expect(stingy.execute(on.operated)).rejects.toThrow("INSUFFICIENT_TX_FEE");
  });

  test("a balance is BUSY, as real nodes have it since they stopped answering, unless asked for at the start", async ({
    on,
  }) => {
    const query = () => new AccountBalanceQuery().setAccountId("0.0.1003").setMaxAttempts(2);
    await expect(query().execute(on.client)).rejects.toThrow("BUSY");
    const other = await openLedger({ balanceQuery: true });
    expect((await query().execute(other.client)).hbars.toBigNumber().toNumber()).toBe(100);
    await other.close();
  });

  test("version and ping are answered", async ({ on }) => {
    expect((await new NetworkVersionInfoQuery().execute(on.operated)).servicesVersion.minor).toBeGreaterThan(0);
    await on.operated.pingAll();
  });

  test("a receipt can be asked with the node's help of the SDK, and its exchange rate is the ledger's", async ({
    on,
  }) => {
    const payment = on.payment(10);
    await on.settle(payment, on.keys.buyer);
    const receipt = await new TransactionReceiptQuery().setTransactionId(payment.transactionId!).execute(on.client);
    expect(receipt.exchangeRate!.cents / receipt.exchangeRate!.hbars).toBe(12);
  });

  test("what a real node can and this one cannot is NOT_SUPPORTED, the fee charged", async ({ on }) => {
    const { FileCreateTransaction, PrngTransaction, ScheduleCreateTransaction } = await import("@hashgraph/sdk");
    expect(await on.statusOf(new PrngTransaction())).toBe("NOT_SUPPORTED");
    expect(await on.statusOf(new FileCreateTransaction().setKeys([PrivateKey.generateED25519().publicKey]))).toBe(
      "NOT_SUPPORTED",
    );
    const scheduled = new ScheduleCreateTransaction().setScheduledTransaction(on.payment(1));
    expect(await on.statusOf(scheduled)).toBe("NOT_SUPPORTED");
  });
});
