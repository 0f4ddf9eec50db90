import { TopicCreateTransaction } from "@hashgraph/sdk";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Account } from "../../../marketplace/accounts/create.ts";
import { addPayoutWallet } from "../../../marketplace/accounts/payout-wallets.ts";
import { moveAccount } from "../../../marketplace/accounts/state.ts";
import { publishAgent } from "../../../marketplace/agents/publish.ts";
import { moveAgent } from "../../../marketplace/agents/state.ts";
import { type OpenLedger, openLedger } from "../../infra/dev-ledger/sdk.ts";
import { withAccount } from "../../support/browser.ts";
import { operatorVariables } from "../../support/ledger-agents.ts";
import { type PaidMarket, startPaidMarket } from "../../support/paid-market.ts";
import { decodeHeader, payQuote, post } from "../../support/pay-call.ts";

let open: OpenLedger;
let paid: PaidMarket;
beforeAll(async () => {
  open = await openLedger();
  // Links are shown, so that a creator can sign in.
  const env = { ...operatorVariables(open), MARKETPLACE_PUBLIC_URL: "http://127.0.0.1:4020", SMTP_URL: "" };
  paid = await startPaidMarket({ env });
});
afterEach(() => open.ledger.faults.clear());
afterAll(async () => {
  await paid.stop();
  await open.close();
});

const text = { name: "text", type: "text", required: true };
const echo = { connector: "llm", settings: { system: "Repeat.", prompt: "{{text}}" } };

/** A creator who is signed in, their agent that writes to a topic, and a payment for it that was settled for nothing. */
async function indebted() {
  const { context } = paid.marketplace;
  const { browser, handle } = await withAccount(paid.marketplace);
  const { rows } = await context.db.query("select id, handle, state from accounts where handle = $1", [handle]);
  const creator = rows[0] as Account;
  for (const [network, address] of [
    ["eip155:84532", paid.evmWallet],
    ["hedera:testnet", open.accounts.creator.accountId],
  ] as const) {
    await addPayoutWallet(context.db, { accountId: creator.id, network, address, checked: true });
  }
  const topic = (await open.run(new TopicCreateTransaction())).topicId!.toString();
  const writer = { connector: "hcs-write", settings: { network: "hedera:testnet", topic, message: "{{text}}" } };
  const publish = (more: object = writer, fields: object[] = [text]) => {
    const definition = { name: "Writer", description: "Writes.", price_credits: 5, fields, ...more };
    return publishAgent(context, creator, "writer", definition);
  };
  const { address } = await publish();
  const url = `${paid.marketplace.url}/api/agent/${address}`;
  const body = { text: "owed" };
  const proof = await payQuote(paid, "evm", await post(url, { body }));
  open.ledger.faults.set({ throttleAtConsensus: 1 });
  const failed = await post(url, { body, proof });
  expect(failed).toMatchObject({ status: 500, body: { charged: true } });
  const settlement = decodeHeader(failed.headers.get("payment-response"));
  const debts = async () => (await browser.get("/api/account/debts")).body.debts;
  return { address, url, body, proof, settlement, debts, publish, creator, send: () => post(url, { body, proof }) };
}

type Indebted = Awaited<ReturnType<typeof indebted>>;

async function expectOwed({ address, settlement, send }: Indebted) {
  const answer = await send();
  const { transaction, network } = settlement;
  expect(answer).toMatchObject({
    status: 410,
    body: { charged: true, debt: { agent: address, network, transaction, amount: "50000" } },
  });
  for (const header of ["payment-response", "x-payment-response"]) {
    expect(decodeHeader(answer.headers.get(header))).toMatchObject({ success: true, transaction });
  }
}

test("what was paid for and not delivered is on record for the creator until one run succeeds", async () => {
  const { address, settlement, debts, send } = await indebted();
  expect(await debts()).toEqual([
    {
      agent: address,
      network: "eip155:84532",
      transaction: settlement.transaction,
      payer: settlement.payer,
      asset: paid.setting.terms.asset,
      amount: "50000",
      error: expect.stringContaining("busy"),
      created_at: expect.any(String),
      updated_at: expect.any(String),
    },
  ]);
  expect((await send()).status).toBe(200);
  expect(await debts()).toEqual([]);
});

test("a suspended agent is nowhere, but its buyer learns of the debt, and is served when it is back", async () => {
  const owing = await indebted();
  const { db } = paid.marketplace.context;
  await moveAgent(db, owing.address, "suspend");
  await expectOwed(owing);
  expect((await post(owing.url, { body: owing.body })).status).toBe(404);
  const signature = `0x${"11".repeat(65)}`;
  const forged = { ...owing.proof, payload: { ...(owing.proof.payload as object), signature } };
  expect((await post(owing.url, { body: owing.body, proof: forged })).status).toBe(404);
  expect(await owing.debts()).toHaveLength(1);
  await moveAgent(db, owing.address, "restore");
  expect((await owing.send()).status).toBe(200);
  expect(await owing.debts()).toEqual([]);
});

test("an unpublished agent still does what it owes", async () => {
  const owing = await indebted();
  await moveAgent(paid.marketplace.context.db, owing.address, "unpublish");
  expect((await owing.send()).status).toBe(200);
});

test("an agent on another connector is not what was bought: nothing runs, and the debt stays until it is back", async () => {
  const owing = await indebted();
  await owing.publish(echo);
  await expectOwed(owing);
  const other = { ...echo, settings: { ...echo.settings, prompt: "{{other}}" } };
  await owing.publish(other, [{ name: "other", type: "text", required: true }]);
  await expectOwed(owing);
  expect(await owing.debts()).toHaveLength(1);
  await owing.publish();
  expect((await owing.send()).status).toBe(200);
  expect(await owing.debts()).toEqual([]);
});

test("the same input stays the same when the creator changes the fields' defaults", async () => {
  const owing = await indebted();
  await owing.publish(undefined, [text, { name: "tone", type: "string", default: "kind" }]);
  expect((await owing.send()).status).toBe(200);
});

test.each(["suspend", "close"] as const)("when the account is gone (%s) the buyer learns of the debt", async (move) => {
  const owing = await indebted();
  await moveAccount(paid.marketplace.context.db, owing.creator, move);
  await expectOwed(owing);
});
