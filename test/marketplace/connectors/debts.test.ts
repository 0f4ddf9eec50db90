import { randomBytes } from "node:crypto";
import { TopicCreateTransaction } from "@hashgraph/sdk";
import { describe, expect } from "vitest";
import type { Account } from "../../../marketplace/accounts/create.ts";
import { addPayoutWallet } from "../../../marketplace/accounts/payout-wallets.ts";
import { renameAccount } from "../../../marketplace/accounts/rename.ts";
import { moveAccount } from "../../../marketplace/accounts/state.ts";
import { publishAgent } from "../../../marketplace/agents/publish.ts";
import { moveAgent } from "../../../marketplace/agents/state.ts";
import type { OpenLedger } from "../../infra/local-hedera/sdk.ts";
import { withAccount } from "../../support/browser.ts";
import { paidTest } from "../../support/fixtures.ts";
import { operatorVariables } from "../../support/ledger-agents.ts";
import type { PaidMarket } from "../../support/paid-market.ts";
import { perFile } from "../../support/part.ts";
import { bareProof, decodeHeader, payQuote, post, settleFirst } from "../../support/pay-call.ts";

// Links are shown, so that a creator can sign in.
const links = { MARKETPLACE_PUBLIC_URL: "http://127.0.0.1:4020", SMTP_URL: "" };
const test = paidTest().extend("options", perFile, ({ open }) => ({ env: { ...operatorVariables(open), ...links } }));

test.afterEach(({ open, paid }) => {
  open.ledger.faults.clear();
  paid.toFacilitator.behave(() => "pass");
});

const text = { name: "text", type: "text", required: true };
const echo = { connector: "llm", settings: { system: "Repeat.", prompt: "{{text}}" } };

/** A creator who is signed in, and their agent that writes to a topic. */
async function writer(open: OpenLedger, paid: PaidMarket) {
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
  const debts = async () => (await browser.get("/api/account/debts")).body.debts;
  return { address, url, debts, publish, creator };
}

const body = { text: "owed" };

/** The same with a payment that was settled for nothing. */
async function indebted(open: OpenLedger, paid: PaidMarket) {
  const { url, ...owing } = await writer(open, paid);
  const proof = await payQuote(paid, "evm", await post(url, { body }));
  open.ledger.faults.set({ throttleAtConsensus: 1 });
  const failed = await post(url, { body, proof });
  expect(failed).toMatchObject({ status: 503, body: { charged: true } });
  const settlement = decodeHeader(failed.headers.get("payment-response"));
  return { ...owing, url, body, proof, settlement, send: () => post(url, { body, proof }) };
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

test("what was paid for and not delivered is on record for the creator until one run succeeds", async ({
  open,
  paid,
}) => {
  const { address, settlement, debts, send } = await indebted(open, paid);
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

test("a suspended agent is nowhere, but its buyer learns of the debt, and is served when it is back", async ({
  open,
  paid,
}) => {
  const owing = await indebted(open, paid);
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

test("an unpublished agent still does what it owes", async ({ open, paid }) => {
  const owing = await indebted(open, paid);
  await moveAgent(paid.marketplace.context.db, owing.address, "unpublish");
  expect((await owing.send()).status).toBe(200);
});

test("an agent on another connector is not what was bought: nothing runs, and the debt stays until it is back", async ({
  open,
  paid,
}) => {
  const owing = await indebted(open, paid);
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

test("whoever makes up a payment around the id of an owed one is told no debt and has nothing run, whatever the agent is by now", async ({
  open,
  paid,
}) => {
  const owing = await indebted(open, paid);
  const { accepted, payload, resource } = owing.proof;
  const { authorization } = payload as { authorization: object };
  const signature = `0x${"11".repeat(65)}`;
  const made = { ...authorization, to: `0x${"22".repeat(20)}`, validAfter: "0", validBefore: "4000000000" };
  const { quoteId: _, ...extra } = accepted.extra;
  const forged = [authorization, made].map((one) => {
    return { x402Version: 2, resource, accepted: { ...accepted, extra }, payload: { signature, authorization: one } };
  });
  const expectNothingTold = async () => {
    for (const [proof, header] of [
      ...forged.map((one) => [one, "PAYMENT-SIGNATURE"] as const),
      ...forged.map((one) => [bareProof(one), "X-PAYMENT"] as const),
    ]) {
      for (const one of [owing.body, { text: "whatever" }]) {
        const answer = await post(owing.url, { body: one, proof, header });
        expect(answer.status).toBe(402);
        expect(answer.body).not.toHaveProperty("debt");
        expect(answer.headers.get("payment-response")).toBeNull();
      }
    }
  };
  await expectNothingTold();
  await owing.publish(echo);
  await expectNothingTold();
  await expectOwed(owing);
  await owing.publish();
  await expectNothingTold();
  expect(await owing.debts()).toHaveLength(1);
  expect((await owing.send()).status).toBe(200);
});

test("the same input stays the same when the creator changes the fields' defaults", async ({ open, paid }) => {
  const owing = await indebted(open, paid);
  await owing.publish(undefined, [text, { name: "tone", type: "string", default: "kind" }]);
  expect((await owing.send()).status).toBe(200);
});

test.for(["suspend", "close"] as const)(
  "when the account is gone (%s) the buyer learns of the debt",
  async (move, { open, paid }) => {
    const owing = await indebted(open, paid);
    await moveAccount(paid.marketplace.context.db, owing.creator, move);
    await expectOwed(owing);
  },
);

/** The same agent, and a payment of version 1 for it whose settlement's answer was lost. */
async function unsure(open: OpenLedger, paid: PaidMarket) {
  const agent = await writer(open, paid);
  const proof = bareProof(await payQuote(paid, "evm", await post(agent.url, { body })));
  const send = (one: object = proof) => post(agent.url, { body, proof: one, header: "X-PAYMENT" });
  paid.toFacilitator.behave((path) => (path === "/settle" ? "lose-answer" : "pass"));
  expect((await send()).status).toBe(503);
  paid.toFacilitator.behave(() => "pass");
  return { ...agent, proof, send };
}

test("a settlement whose answer was lost is known before the next post is refused: charged, owed, and done when it is possible", async ({
  open,
  paid,
}) => {
  const { address, debts, send } = await unsure(open, paid);
  open.ledger.faults.set({ mirrorUnavailable: 1_000_000 });
  const refused = await send();
  expect(refused).toMatchObject({ status: 503, body: { charged: true } });
  expect(decodeHeader(refused.headers.get("x-payment-response"))).toMatchObject({ success: true });
  expect(await debts()).toMatchObject([{ agent: address, amount: "50000" }]);
  open.ledger.faults.clear();
  await moveAgent(paid.marketplace.context.db, address, "unpublish");
  expect(await send()).toMatchObject({ status: 200, body: { success: true } });
  expect(await debts()).toEqual([]);
});

test("nor does it become a payment of nothing by a facilitator that is silent, or by a stranger who forges its signature", async ({
  open,
  paid,
}) => {
  const { address, proof, send, publish, debts } = await unsure(open, paid);
  open.ledger.faults.set({ mirrorUnavailable: 1_000_000 });
  paid.toFacilitator.behave(() => "lose-call");
  const { status, body } = await send();
  expect({ status, ...body }).toMatchObject({ status: 503, error: expect.stringContaining("do not pay anew") });
  expect(body).not.toHaveProperty("charged");
  paid.toFacilitator.behave(() => "pass");
  const signature = `0x${"11".repeat(64)}1b`;
  const forged = { ...proof, payload: { ...(proof.payload as object), signature } };
  expect((await send(forged)).status).toBe(402);
  open.ledger.faults.clear();
  // Forged again where it would run before it is settled, on an agent that does what can be undone by now.
  await publish({ connector: "llm", settings: { prompt: "{{text}}" } });
  expect((await send(forged)).status).toBe(402);
  await publish();
  await moveAgent(paid.marketplace.context.db, address, "suspend");
  expect(await send()).toMatchObject({ status: 410, body: { charged: true, debt: { agent: address } } });
  expect(await debts()).toHaveLength(1);
});

describe("a payment that its buyer settled first, for an agent that is gone before it is posted", () => {
  /** An agent, and two payments for one body of it, in both versions, that never came here. */
  async function settledFirst(open: OpenLedger, paid: PaidMarket) {
    const agent = await writer(open, paid);
    const quote = await post(agent.url, { body });
    const v2 = await settleFirst(paid, await payQuote(paid, "evm", quote));
    const quoted = await payQuote(paid, "evm", quote);
    const entry = quote.body.accepts.find(({ network }: { network: string }) => network === quoted.accepted.network);
    const v1 = bareProof(quoted);
    const request = { x402Version: 1, paymentPayload: v1, paymentRequirements: entry };
    expect((await paid.facilitator.settle(request)).body).toMatchObject({ success: true });
    const send = (url: string, input: object = body) => [
      () => post(url, { body: input, proof: v2 }),
      () => post(url, { body: input, proof: v1, header: "X-PAYMENT" }),
    ];
    return { ...agent, v1, v2, send };
  }

  const db = (paid: PaidMarket) => paid.marketplace.context.db;

  /** The agent's address, under a new handle of its creator if so it is to be. */
  async function addressNow(
    paid: PaidMarket,
    { creator, address }: Awaited<ReturnType<typeof writer>>,
    isRenamed: boolean,
  ) {
    if (!isRenamed) return address;
    const { handle } = await renameAccount(db(paid), creator, `moved-${randomBytes(4).toString("hex")}`);
    return `${handle}/writer`;
  }

  test.for(["its address", "a former handle"])(
    "runs where it is merely unpublished, posted to %s",
    async (under, { open, paid }) => {
      const agent = await settledFirst(open, paid);
      const { url, send, debts } = agent;
      await moveAgent(db(paid), await addressNow(paid, agent, under === "a former handle"), "unpublish");
      for (const one of send(url)) expect(await one()).toMatchObject({ status: 200, body: { success: true } });
      expect(await debts()).toEqual([]);
    },
  );

  test.for(["suspended", "suspended under a former handle", "republished for accounts alone"])(
    "is a debt where it is %s",
    async (how, { open, paid }) => {
      const { url, address, creator, send, debts, publish } = await settledFirst(open, paid);
      let now = address;
      if (how.includes("former")) {
        await renameAccount(db(paid), creator, `moved-${randomBytes(4).toString("hex")}`);
        const { rows } = await db(paid).query("select handle || '/' || slug as now from agents where account_id = $1", [
          creator.id,
        ]);
        now = rows[0].now;
      }
      const isAccounts = how.includes("accounts");
      const rewards = {
        connector: "x-reward-credits",
        settings: { amount: 1, per_day_max: 5, budget: 5, post: "{{text}}", rule: {} },
      };
      await (isAccounts ? publish(rewards) : moveAgent(db(paid), now, "suspend"));
      for (const one of send(url)) {
        expect(await one()).toMatchObject({
          status: 410,
          body: { charged: true, debt: { agent: now, amount: "50000" } },
        });
      }
      expect(await debts()).toHaveLength(2);
      await (isAccounts ? publish() : moveAgent(db(paid), now, "restore"));
      if (how !== "suspended") return;
      for (const one of send(url)) expect((await one()).status).toBe(200);
      expect(await debts()).toEqual([]);
    },
  );

  test.for(["suspend", "close"] as const)("is a debt where the account is gone (%s)", async (move, { open, paid }) => {
    const { url, address, creator, send } = await settledFirst(open, paid);
    await moveAccount(db(paid), creator, move);
    for (const one of send(url)) {
      expect(await one()).toMatchObject({ status: 410, body: { charged: true, debt: { agent: address } } });
    }
  });

  test.for(["suspend", "unpublish"] as const)("is nothing to a stranger (%s)", async (move, { open, paid }) => {
    const { url, address, v1, v2, send, debts } = await settledFirst(open, paid);
    const other = await writer(open, paid);
    const mine = await payQuote(paid, "evm", await post(other.url, { body }));
    await moveAgent(db(paid), address, move);
    const signature = `0x${"11".repeat(64)}1b`;
    const forged = { ...v1, payload: { ...(v1.payload as object), signature } };
    const unsettled = bareProof(mine);
    const strangers = [
      ...[forged, bareProof(v2), unsettled].map(
        (proof) => () => post(url, { body: { text: "mine" }, proof, header: "X-PAYMENT" }),
      ),
      () => post(url, { body, proof: forged, header: "X-PAYMENT" }),
      () => post(url, { body, proof: { ...v2, accepted: { ...v2.accepted, extra: {} } } }),
      () => post(url, { body, proof: { ...mine, payload: v2.payload } }),
      // The body that the payment in version 1 was quoted for is what shows it.
      send(url, { text: "mine" })[1]!,
    ];
    for (const one of strangers) expect((await one()).status).toBe(404);
    expect(await debts()).toEqual([]);
    // Nothing of it is held or used up.
    expect((await post(other.url, { body, proof: mine })).status).toBe(200);
  });
});
