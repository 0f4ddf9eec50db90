import { expect } from "vitest";
import type { LocalHedera } from "../../../infra/local-hedera/local-hedera.ts";
import { HederaNodes } from "../../../shared/hedera/nodes.ts";
import type { Database } from "../../../shared/postgres.ts";
import { type RunningFacilitator, startFacilitator } from "../../support/facilitator.ts";
import { hederaTest } from "../../support/fixtures.ts";
import { kept, perFile } from "../../support/part.ts";
import { freshDatabase } from "../../support/postgres.ts";
import { buyerOf, newBuyer, price, signedPayment } from "./setting.ts";

const test = hederaTest({ LIMIT_FAILURES_PER_PAYER: "0", LIMIT_FAILURES_PER_PAYER_DAY: "4" })
  .extend("copy", perFile, ({ variables }, { onCleanup }) => kept(startFacilitator(variables), onCleanup))
  .extend("foreign", perFile, async ({ variables }, { onCleanup }) =>
    kept(startFacilitator({ ...variables, FACILITATOR_DATABASE_URL: await freshDatabase("facilitator") }), onCleanup),
  )
  .extend("ledgerNodes", perFile, ({ ledger }, { onCleanup }) =>
    kept(new HederaNodes(ledger.nodes, { connectMs: 10_000, sendMs: 10_000, receiptMs: 10_000 }), onCleanup),
  );

let ledger: LocalHedera;
let db: Database;
let daemons: readonly RunningFacilitator[];
/** Another facilitator, which shares nothing with ours: what is paid there, ours learns from the chain alone. */
let elsewhere: Awaited<ReturnType<typeof startFacilitator>>;
let nodes: HederaNodes;

test.beforeAll(({ ledger: own, facilitator, copy, foreign, ledgerNodes }) => {
  [ledger, db, elsewhere, nodes] = [own, facilitator.context.db, foreign, ledgerNodes];
  daemons = [facilitator, copy];
});

type Buyer = ReturnType<typeof newBuyer>;

async function paymentOf(buyer: Buyer) {
  const { requirements, payload } = await signedPayment({ ...buyerOf(ledger), ...buyer });
  const paymentPayload = { x402Version: 2, accepted: requirements, payload };
  return { x402Version: 2, paymentPayload, paymentRequirements: requirements };
}

/** Pays with us, while all that the payer has is on its way elsewhere: the payment is good when it is checked. */
async function overspend(buyer: Buyer, daemon: RunningFacilitator): Promise<string> {
  ledger.faults.set({ consensusDelayMs: 100_000 });
  const paidElsewhere = elsewhere.settle(await paymentOf(buyer));
  await untilInHand(elsewhere.context.db, buyer);
  const paidHere = daemon.settle(await paymentOf(buyer));
  await untilInHand(db, buyer);
  ledger.faults.clear();
  expect((await paidElsewhere).body).toMatchObject({ success: true });
  return (await paidHere).body.errorReason;
}

/** Until the ledger has the payer's newest payment, which it has not executed. */
async function untilInHand(record: Database, { payer }: Buyer): Promise<void> {
  const newest = "select payment_key as key from payments where payer = $1 and state = 'broadcast' order by id desc";
  const receipt = async () => {
    const { rows } = await record.query(newest, [payer]);
    return rows[0] && nodes.receipt("0.0.3", rows[0].key);
  };
  await expect.poll(receipt).toBe("pending");
}

const failures = async (buyer: Buyer) =>
  Number((await db.query("select count(*) from payer_failures where payer = $1", [buyer.payer])).rows[0].count);

test("a payer whose settlements cost us too many fees in a day waits for the next, on every daemon; others do not", async () => {
  const buyer = newBuyer(ledger, { usdc: price });
  for (let times = 1; times <= 4; times += 1) {
    expect(await overspend(buyer, daemons[times % 2]!)).toBe("insufficient_funds");
    expect(await failures(buyer)).toBe(times);
    ledger.faucet.giveToken(buyer.payer, price);
  }

  ledger.faucet.giveToken(buyer.payer, 10n * price);
  for (const daemon of daemons) {
    const body = await paymentOf(buyer);
    expect((await daemon.settle(body)).body).toMatchObject({ success: false, errorReason: "rate_limited" });
    await expect
      .poll(async () => (await daemon.verify(body)).body)
      .toMatchObject({ isValid: false, invalidReason: "rate_limited", payer: buyer.payer });
  }
  const other = newBuyer(ledger, { usdc: price });
  expect((await daemons[0]!.settle(await paymentOf(other))).body).toMatchObject({ success: true });

  await db.query("update payer_failures set failed_at = failed_at - interval '1 day'");
  const body = await paymentOf(buyer);
  await expect.poll(async () => (await daemons[1]!.verify(body)).body).toMatchObject({ isValid: true });
  expect((await daemons[1]!.settle(body)).body).toMatchObject({ success: true });
});

test("what is not the payer's doing is not held against it", async () => {
  const buyer = newBuyer(ledger, { usdc: 10n * price });
  ledger.faults.set({ throttleAtConsensus: 1 });
  expect((await daemons[0]!.settle(await paymentOf(buyer))).body).toMatchObject({ errorReason: "transaction_failed" });
  ledger.faults.set({ busy: 1_000 });
  const body = await paymentOf(buyer);
  // On a busy machine a node's answer may come too late to be one: what became of the payment is known once it has expired.
  const ended = expect.poll(async () => (await daemons[0]!.settle(body)).body.errorReason, { timeout: 170_000 });
  await ended.toMatch(/transaction_(failed|expired)/);
  expect(await failures(buyer)).toBe(0);
});
