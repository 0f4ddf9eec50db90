import { PrivateKey, TopicCreateTransaction, TopicMessageSubmitTransaction } from "@hashgraph/sdk";
import { afterEach, describe, expect, it } from "vitest";
import { startLocalHedera } from "../../../infra/local-hedera/local-hedera.ts";
import { elapse } from "../../support/elapse.ts";
import { connect, paymentBody, signedPayment } from "./raw.ts";
import { eventually, mirrorId, type OpenLedger, openLedger } from "./sdk.ts";

const opened: OpenLedger[] = [];

afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

const open = async (...options: Parameters<typeof openLedger>): Promise<OpenLedger> => {
  const one = await openLedger(...options);
  opened.push(one);
  return one;
};

describe("a ledger started from a snapshot", () => {
  it("has the accounts, keys, tokens, topics, allowances and transactions of the one it was taken of", async () => {
    const first = await open();
    const key = PrivateKey.generateECDSA();
    const payer = await first.newAccount(key.publicKey, 5);
    await first.associate(payer, first.ledger.usdc, key);
    first.ledger.faucet.giveToken(payer, 9_007_199_254_740_993n);
    const topic = (await first.run(new TopicCreateTransaction().setSubmitKey(key.publicKey))).topicId!.toString();
    await first.run(new TopicMessageSubmitTransaction().setTopicId(topic).setMessage("kept"), key);
    const payment = first.payment(10, { from: payer });
    expect(await first.settle(payment, key)).toBe("SUCCESS");
    const paths = [
      `accounts/${payer}/tokens`,
      `tokens/${first.ledger.usdc}`,
      `topics/${topic}`,
      `topics/${topic}/messages`,
      `transactions/${mirrorId(payment.transactionId!)}`,
    ];
    const before = await Promise.all(paths.map(first.mirror));

    const second = await open({ state: first.ledger.snapshot() });
    expect(await Promise.all(paths.map(second.mirror))).toEqual(before);
    expect(second.ledger.snapshot()).toBe(first.ledger.snapshot());
    expect(await second.statusOf(payment, second.client)).toBe("DUPLICATE_TRANSACTION");
    expect(await second.settle(second.payment(10, { from: payer }), key)).toBe("SUCCESS");
    expect(await second.newAccount(key.publicKey)).not.toBe(payer);
  });

  it("keeps units beyond what a JavaScript number holds", async () => {
    const first = await open();
    first.ledger.faucet.giveToken("0.0.1002", 9_007_199_254_740_993n);
    const second = await open({ state: first.ledger.snapshot() });
    const text = await (await fetch(`${second.ledger.mirrorUrl}/api/v1/balances?account.id=0.0.1002`)).text();
    expect(text).toContain('"balance":9007199254740993');
  });

  it("gives out no timestamp it gave out before, though its clock is behind", async () => {
    const first = await open();
    await first.settle(first.payment(1), first.keys.buyer);
    const newest = async ({ mirror }: OpenLedger) =>
      (await mirror("transactions?limit=1")).transactions[0].consensus_timestamp;
    const second = await open({ state: first.ledger.snapshot(), clockOffsetMs: -4_000 });
    const node = connect(Object.keys(second.ledger.nodes)[0]!);
    const body = paymentBody(second.ledger, BigInt(Date.now() - 30_000) * 1_000_000n);
    expect(await node.submit(signedPayment(second.ledger, body))).toBe("OK");
    await eventually(() => node.receipt(body.transactionID!)).toBe("SUCCESS");
    node.close();
    const [before, after] = [await newest(first), await newest(second)];
    expect(after).not.toBe(before);
    expect([before, after].sort()).toEqual([before, after]);
  });

  it("knows nothing of a payment that was in flight, and takes it", async () => {
    const first = await open({ consensusDelayMs: 60_000 });
    const payment = first.payment(10).freeze();
    await payment.sign(first.keys.buyer);
    await payment.sign(first.keys.feePayer);
    await payment.execute(first.client);
    const second = await open({ state: first.ledger.snapshot() });
    expect(await second.statusOf(payment, second.client)).toBe("SUCCESS");
  });

  it("may have more nodes than before", async () => {
    const first = await open({ nodePorts: [0] });
    const second = await open({ state: first.ledger.snapshot(), nodePorts: [0, 0, 0, 0] });
    expect(Object.values(second.ledger.nodes)).toEqual(["0.0.3", "0.0.4", "0.0.5", "0.0.6"]);
    expect(await second.settle(second.payment(1, { nodes: ["0.0.6"] }), second.keys.buyer)).toBe("SUCCESS");
  });

  it.each(["", "{}", "not json", '{"version":99}'])("is not started from %j", async (state) => {
    await expect(startLocalHedera({ state })).rejects.toThrow("state: not a local-hedera snapshot of version 1");
  });
});

describe("how many transactions are kept", () => {
  it("is bounded: the oldest go once no receipt is owed for them", async () => {
    const on = await open({ transactionsKept: 5, receiptTtlMs: 50 });
    const node = connect(Object.keys(on.ledger.nodes)[0]!);
    const ids: string[] = [];
    const seen = async (id: string) => (await on.mirror(`transactions/${id}`)).httpStatus;
    for (let count = 0; count < 8; count++) {
      const body = paymentBody(on.ledger);
      expect(await node.submit(signedPayment(on.ledger, body))).toBe("OK");
      const { seconds, nanos } = body.transactionID!.transactionValidStart!;
      ids.push(`0.0.1001-${seconds!.low}-${nanos}`);
      await eventually(() => seen(ids.at(-1)!)).toBe(200);
      await elapse(55, "its receipt is not owed any more");
    }
    node.close();
    expect(await Promise.all(ids.map(seen))).toEqual([404, 404, 404, 200, 200, 200, 200, 200]);
  });
});
