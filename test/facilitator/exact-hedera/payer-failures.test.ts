import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type LocalHedera, startLocalHedera } from "../../../infra/local-hedera/local-hedera.ts";
import { connect, type Database } from "../../../shared/postgres.ts";
import { type RunningFacilitator, startFacilitator } from "../../support/facilitator.ts";
import { freshDatabase, statements } from "../../support/postgres.ts";
import { buyerOf, newBuyer, price, signedPayment } from "./setting.ts";

let ledger: LocalHedera;
let db: Database;
let daemons: readonly RunningFacilitator[];
/** Another facilitator, which shares nothing with ours: what is paid there, ours learns from the chain alone. */
let elsewhere: Awaited<ReturnType<typeof startFacilitator>>;

beforeAll(async () => {
  ledger = await startLocalHedera();
  const url = await freshDatabase("facilitator");
  db = connect(url, { poolMax: 2, statements, applicationName: "test" });
  const { accountId, privateKey } = ledger.accounts.feePayer;
  const variables = {
    FACILITATOR_DATABASE_URL: url,
    HEDERA_TESTNET_MIRROR: ledger.mirrorUrl,
    HEDERA_TESTNET_NODES: Object.entries(ledger.nodes)
      .map(([address, node]) => `${address}=${node}`)
      .join(","),
    HEDERA_TESTNET_FEE_PAYERS: `${accountId}:${privateKey}`,
    LIMIT_FAILURES_PER_PAYER: "0",
    LIMIT_FAILURES_PER_PAYER_DAY: "4",
  };
  daemons = [await startFacilitator(variables), await startFacilitator(variables)];
  elsewhere = await startFacilitator({ ...variables, FACILITATOR_DATABASE_URL: await freshDatabase("facilitator") });
});
afterEach(() => ledger.faults.clear());
afterAll(async () => {
  await Promise.all([...(daemons ?? []), elsewhere].map((daemon) => daemon?.stop()));
  await db?.end();
  await ledger?.close();
});

type Buyer = ReturnType<typeof newBuyer>;

async function paymentOf(buyer: Buyer) {
  const { requirements, payload } = await signedPayment({ ...buyerOf(ledger), ...buyer });
  const paymentPayload = { x402Version: 2, accepted: requirements, payload };
  return { x402Version: 2, paymentPayload, paymentRequirements: requirements };
}

/** Pays with us, while all that the payer has is on its way elsewhere: the payment is good when it is checked. */
async function overspend(buyer: Buyer, daemon: RunningFacilitator): Promise<string> {
  ledger.faults.set({ consensusDelayMs: 1_000 });
  const paidElsewhere = elsewhere.settle(await paymentOf(buyer));
  const sent = "select 1 from payments where payer = $1 and state = 'broadcast'";
  await expect.poll(async () => (await elsewhere.context.db.query(sent, [buyer.payer])).rows.length).toBe(1);
  const { body } = await daemon.settle(await paymentOf(buyer));
  expect((await paidElsewhere).body).toMatchObject({ success: true });
  ledger.faults.clear();
  return body.errorReason;
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
      .poll(async () => (await daemon.verify(body)).body, { timeout: 10_000 })
      .toMatchObject({ isValid: false, invalidReason: "rate_limited", payer: buyer.payer });
  }
  const other = newBuyer(ledger, { usdc: price });
  expect((await daemons[0]!.settle(await paymentOf(other))).body).toMatchObject({ success: true });

  await db.query("update payer_failures set failed_at = failed_at - interval '1 day'");
  const body = await paymentOf(buyer);
  await expect
    .poll(async () => (await daemons[1]!.verify(body)).body, { timeout: 10_000 })
    .toMatchObject({ isValid: true });
  expect((await daemons[1]!.settle(body)).body).toMatchObject({ success: true });
});

test("what is not the payer's doing is not held against it", async () => {
  const buyer = newBuyer(ledger, { usdc: 10n * price });
  ledger.faults.set({ throttleAtConsensus: 1 });
  expect((await daemons[0]!.settle(await paymentOf(buyer))).body).toMatchObject({ errorReason: "transaction_failed" });
  ledger.faults.set({ busy: 1_000 });
  expect((await daemons[0]!.settle(await paymentOf(buyer))).body).toMatchObject({ errorReason: "transaction_failed" });
  expect(await failures(buyer)).toBe(0);
});
