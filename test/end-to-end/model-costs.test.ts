import { describe, expect } from "vitest";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { credits } from "../../marketplace/credits/amount.ts";
import { grant } from "../../marketplace/credits/ledger.ts";
import { settleModelDays } from "../../marketplace/models/model-claims.ts";
import { paidTest } from "../support/fixtures.ts";
import { echoAgent, proveLedger, spendable, until } from "../support/marketplace.ts";
import type { PaidMarket } from "../support/paid-market.ts";
import { type PaidAnswer, payQuote, post } from "../support/pay-call.ts";

const test = paidTest({ env: { LLM_MODELS: "small=2:500:2000" } });
test.beforeEach(({ paid }) => paid.marketplace.model.clearFaults());

const body = { text: "hello" };
const ask = (paid: PaidMarket, proof?: object): Promise<PaidAnswer> =>
  post(paid.url, { body, ...(proof && { proof }) });
const give = (paid: PaidMarket, amount: number, reference: string) =>
  grant(paid.marketplace.context.db, {
    accountId: paid.market.creator.id,
    credits: credits(BigInt(amount)),
    reference,
  });

/** What the creator has left, once nothing is set aside any more. */
async function left(paid: PaidMarket): Promise<number> {
  const { context } = paid.marketplace;
  await context.backgroundWork.idle();
  await proveLedger(context);
  await context.db.query("update model_days set touched_at = now() - interval '1 hour'");
  await settleModelDays(context.db);
  await proveLedger(context);
  return spendable(context, paid.market.creator);
}

const forwarded = (paid: PaidMarket) =>
  paid.facilitator.context.db.query("select count(*)::integer as payments from payments");
const settledCount = async (paid: PaidMarket) => (await forwarded(paid)).rows[0].payments;

function isPaused({ status, headers, body }: PaidAnswer): void {
  expect(status).toBe(503);
  expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  expect(body).toEqual({ error: expect.any(String) });
}

describe("a call that is paid to its creator", () => {
  test("a call paid to its creator is not even quoted while no account pays for its model", async ({ paid }) => {
    isPaused(await ask(paid));
  });

  test("a call paid to its creator costs the creator the model, out of the balance, and the buyer the price", async ({
    paid,
  }) => {
    await give(paid, 5, "first");
    await expect.poll(async () => (await ask(paid)).status).toBe(402);
    const proofs = await Promise.all(["evm", "hedera"].map((chain) => pay(paid, chain as "evm" | "hedera")));
    for (const proof of proofs) expect((await ask(paid, proof)).status).toBe(200);
    expect(await left(paid)).toBe(1);
  });

  test("a paid call whose creator's balance is empty by then is refused with its payment unused, which is good once there are credits", async ({
    paid,
  }) => {
    await give(paid, 2, "second");
    await expect.poll(async () => (await ask(paid)).status).toBe(402);
    const proofs = await Promise.all([pay(paid, "evm"), pay(paid, "evm"), pay(paid, "evm")]);
    const asked = () => paid.marketplace.model.asked();
    const askedBefore = asked();
    const before = await settledCount(paid);
    // Together, so that those who found room before their payment was looked at may find none after.
    const answers = await Promise.all(proofs.map((proof) => ask(paid, proof)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const refused = answers.flatMap((answer, n) => (answer.status === 200 ? [] : [proofs[n]!]));
    for (const answer of answers) if (answer.status !== 200) isPaused(answer);
    expect(asked()).toBe(askedBefore + 1);
    expect((await settledCount(paid)) - before).toBe(1);
    expect(await left(paid)).toBe(1);
    await give(paid, 3, "third");
    for (const proof of refused) expect((await ask(paid, proof)).status).toBe(200);
    expect(await left(paid)).toBe(0);
  });

  test("a paid call that failed is not charged, and its creator bears a model that answered", async ({ paid }) => {
    await give(paid, 10, "fourth");
    await until(async () => (await ask(paid)).status === 402);
    paid.marketplace.model.injectFault({ truncate: true });
    expect((await ask(paid, await pay(paid, "evm"))).body).toMatchObject({ success: false, charged: false });
    expect(await left(paid)).toBe(8);
    paid.marketplace.model.injectFault({ status: 429 });
    expect((await ask(paid, await pay(paid, "evm"))).body).toMatchObject({ success: false, charged: false });
    expect(await left(paid)).toBe(8);
  });

  test("a paid call that fails over and over is begun for one payer, and from one address, ten times an hour", async ({
    paid,
  }) => {
    await give(paid, 100, "fifth");
    await until(async () => (await ask(paid)).status === 402);
    const { model, context } = paid.marketplace;
    await context.db.query("delete from model_failures");
    const before = await left(paid);
    const buyer = await paid.setting.fundedBuyer();
    const paying = async (options: object = {}) => payQuote(paid, "evm", await ask(paid), options);
    const from = (address: string, proof: object) => post(paid.url, { body, proof, from: address });
    model.injectFault({ truncate: true, times: 10 });
    const [same, another] = [await paying({ buyer }), await paying({ buyer })];
    for (let n = 0; n < 10; n += 1) {
      expect((await from("203.0.113.1", n % 2 ? same : another)).body).toMatchObject({ charged: false });
    }
    const asked = model.asked();
    const refused = [await from("203.0.113.2", same), await from("203.0.113.1", await paying())];
    for (const { status, headers } of refused) {
      expect(status).toBe(429);
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    }
    expect(model.asked()).toBe(asked);
    expect(await left(paid)).toBe(before - 20);
    expect((await from("203.0.113.2", await paying())).status).toBe(200);
    await context.db.query("delete from model_failures");
    expect((await from("203.0.113.1", same)).status).toBe(200);
  });

  test("a payment that was settled before has its run, whatever else of its payer, and from its address, has failed", async ({
    paid,
  }) => {
    await give(paid, 20, "sixth");
    await until(async () => (await ask(paid)).status === 402);
    const { context } = paid.marketplace;
    const buyer = await paid.setting.fundedBuyer();
    const paying = async () => payQuote(paid, "evm", await ask(paid), { buyer });
    const [unsettled, settled] = [await paying(), await paying()];
    const settling = { x402Version: 2, paymentPayload: settled, paymentRequirements: settled.accepted };
    expect((await paid.facilitator.settle(settling)).body).toMatchObject({ success: true });
    await context.db.query(
      "insert into model_failures (agent_id, caller, failures, since) values ($1, $2, 10, now()) on conflict (agent_id, caller) do update set failures = 10, since = now()",
      [paid.market.agent.agentId, buyer.address.toLowerCase()],
    );
    expect((await ask(paid, unsettled)).status).toBe(429);
    paid.marketplace.model.injectFault({ truncate: true });
    expect((await ask(paid, settled)).body).toMatchObject({ success: false, charged: true });
    // Only what failed of this very payment counts against it, and even then it stays good.
    const own = await context.db.query("update model_failures set failures = 10 where failures = 1");
    expect(own.rowCount).toBe(1);
    const refused = await ask(paid, settled);
    expect(refused.status).toBe(429);
    expect(refused.body).toMatchObject({ charged: true, advice: expect.stringContaining("stays good") });
    expect(refused.headers.get("payment-response")).not.toBeNull();
    await context.db.query("delete from model_failures where caller <> $1", [buyer.address.toLowerCase()]);
    expect((await ask(paid, settled)).status).toBe(200);
  });

  test("a paid call whose settlement is merely not known yet counts as no failure of its payer or address", async ({
    paid,
  }) => {
    const { context } = paid.marketplace;
    await context.db.query("delete from model_failures");
    const proof = await pay(paid, "evm");
    paid.toFacilitator.behave((path) => (path === "/settle" ? "lose-call" : "pass"));
    expect((await ask(paid, proof)).status).toBe(503);
    expect((await context.db.query("select from model_failures")).rowCount).toBe(0);
    paid.toFacilitator.behave(() => "pass");
    await until(async () => (await ask(paid, proof)).status === 200);
  });

  test("a chain that cannot be asked when a call is settled is no refusal and no failure of its payer; its result waits", async ({
    paid,
  }) => {
    await give(paid, 20, "eighth");
    await until(async () => (await ask(paid)).status === 402);
    const { context, model } = paid.marketplace;
    await context.db.query("delete from model_failures");
    const proof = await pay(paid, "hedera");
    paid.toFacilitator.behave((path) => {
      if (path === "/settle") paid.ledger.faults.set({ mirrorUnavailable: 1_000 });
      return "pass";
    });
    const { status, headers } = await ask(paid, proof);
    expect(status).toBe(503);
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await context.db.query("select from model_failures")).rowCount).toBe(0);
    paid.toFacilitator.behave(() => "pass");
    paid.ledger.faults.set({ mirrorUnavailable: 0 });
    const asked = model.asked();
    await until(async () => (await ask(paid, proof)).status === 200);
    expect(model.asked()).toBe(asked);
  });

  test("a transfer that the network had no room for is refused, and counts as no failure of its payer or address", async ({
    paid,
  }) => {
    await give(paid, 20, "ninth");
    await until(async () => (await ask(paid)).status === 402);
    const { context } = paid.marketplace;
    await context.db.query("delete from model_failures");
    const proof = await pay(paid, "hedera");
    paid.ledger.faults.set({ throttleAtConsensus: 1 });
    const { status, body } = await ask(paid, proof);
    expect(status).toBe(402);
    expect(body.error).toContain("THROTTLED_AT_CONSENSUS");
    expect((await context.db.query("select from model_failures")).rowCount).toBe(0);
  });

  test("a paid call whose result waits is delivered although no account pays for the model any more", async ({
    paid,
  }) => {
    const proof = await pay(paid, "evm");
    paid.toFacilitator.behave((path) => (path === "/settle" ? "lose-call" : "pass"));
    expect((await ask(paid, proof)).status).toBe(503);
    paid.toFacilitator.behave(() => "pass");
    await paid.marketplace.context.db.query("update agents set model_credits_per_day = 0 where id = $1", [
      paid.market.agent.agentId,
    ]);
    expect((await ask(paid, await payNothing(paid))).status).toBe(503);
    await until(async () => (await ask(paid, proof)).status === 200);
    await paid.marketplace.context.db.query("update agents set model_credits_per_day = null");
  });
});

test("agents on other connectors need no credits of their creator's", async ({ paid }) => {
  const { context, url } = paid.marketplace;
  const { address } = await publishAgent(context, paid.market.creator, "plain", {
    ...echoAgent,
    connector: "http-api",
    settings: { url: "https://example.com/?q={{text}}" },
  });
  await context.db.query("update agents set model_credits_per_day = 0");
  expect((await post(`${url}/api/agent/${address}`, { body })).status).toBe(402);
  await context.db.query("update agents set model_credits_per_day = null");
});

const pay = async (paid: PaidMarket, chain: "evm" | "hedera") => payQuote(paid, chain, await ask(paid));

/** A payment that was never used, on the terms of another agent's quote. */
async function payNothing(paid: PaidMarket) {
  const { context, url } = paid.marketplace;
  const { address } = await publishAgent(context, paid.market.creator, "other", {
    ...echoAgent,
    connector: "http-api",
    settings: { url: "https://example.com/?q={{text}}" },
  });
  return payQuote(paid, "evm", await post(`${url}/api/agent/${address}`, { body }));
}
