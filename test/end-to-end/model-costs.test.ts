import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { grant } from "../../marketplace/credits/ledger.ts";
import { settleModelDays } from "../../marketplace/models/model-claims.ts";
import { credits } from "../../shared/units.ts";
import { echoAgent, proveLedger, spendable, until } from "../support/marketplace.ts";
import { type PaidMarket, startPaidMarket } from "../support/paid-market.ts";
import { type PaidAnswer, payQuote, post } from "../support/pay-call.ts";

let paid: PaidMarket;
beforeAll(async () => {
  paid = await startPaidMarket({ env: { LLM_MODELS: "small=2:500:2000" } });
}, 120_000);
afterAll(() => paid?.stop());
beforeEach(() => paid.marketplace.model.clearFaults());

const body = { text: "hello" };
const ask = (proof?: object): Promise<PaidAnswer> => post(paid.url, { body, ...(proof && { proof }) });
const give = (amount: number, reference: string) =>
  grant(paid.marketplace.context.db, {
    accountId: paid.market.creator.id,
    credits: credits(BigInt(amount)),
    reference,
  });

/** What the creator has left, once nothing is set aside any more. */
async function left(): Promise<number> {
  const { context } = paid.marketplace;
  await context.inFlight.idle();
  await proveLedger(context);
  await context.db.query("update model_days set touched_at = now() - interval '1 hour'");
  await settleModelDays(context.db);
  await proveLedger(context);
  return spendable(context, paid.market.creator);
}

const forwarded = () => paid.facilitator.context.db.query("select count(*)::integer as payments from payments");
const settledCount = async () => (await forwarded()).rows[0].payments;

function isPaused({ status, headers, body }: PaidAnswer): void {
  expect(status).toBe(503);
  expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  expect(body).toEqual({ error: expect.any(String) });
}

describe("a call that is paid to its creator", () => {
  test("is not even quoted while nobody pays for its model", async () => {
    isPaused(await ask());
  });

  test("costs its creator the model, out of the balance, and the buyer the price", async () => {
    await give(5, "first");
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const proofs = await Promise.all(["evm", "hedera"].map((chain) => pay(chain as "evm" | "hedera")));
    for (const proof of proofs) expect((await ask(proof)).status).toBe(200);
    expect(await left()).toBe(1);
  });

  test("is refused with its payment unused when the balance is empty by then, and good once it is not", async () => {
    await give(2, "second");
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const proofs = await Promise.all([pay("evm"), pay("evm"), pay("evm")]);
    const asked = () => paid.marketplace.model.requests.length;
    const askedBefore = asked();
    const before = await settledCount();
    // Together, so that those who found room before their payment was looked at may find none after.
    const answers = await Promise.all(proofs.map((proof) => ask(proof)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const refused = answers.flatMap((answer, n) => (answer.status === 200 ? [] : [proofs[n]!]));
    for (const answer of answers) if (answer.status !== 200) isPaused(answer);
    expect(asked()).toBe(askedBefore + 1);
    expect((await settledCount()) - before).toBe(1);
    expect(await left()).toBe(1);
    await give(3, "third");
    for (const proof of refused) expect((await ask(proof)).status).toBe(200);
    expect(await left()).toBe(0);
  });

  test("that failed is not charged, and its creator bears a model that answered", async () => {
    await give(10, "fourth");
    await until(async () => (await ask()).status === 402);
    paid.marketplace.model.injectFault({ truncate: true });
    expect((await ask(await pay("evm"))).body).toMatchObject({ success: false, charged: false });
    expect(await left()).toBe(8);
    paid.marketplace.model.injectFault({ status: 429 });
    expect((await ask(await pay("evm"))).body).toMatchObject({ success: false, charged: false });
    expect(await left()).toBe(8);
  });

  test("whose result waits is delivered although nobody pays for the model any more", async () => {
    const proof = await pay("evm");
    paid.toFacilitator.behave((path) => (path === "/settle" ? "lose-call" : "pass"));
    expect((await ask(proof)).status).toBe(503);
    paid.toFacilitator.behave(() => "pass");
    await paid.marketplace.context.db.query("update agents set model_credits_per_day = 0 where id = $1", [
      paid.market.agent.agentId,
    ]);
    expect((await ask(await payNothing())).status).toBe(503);
    await until(async () => (await ask(proof)).status === 200);
    await paid.marketplace.context.db.query("update agents set model_credits_per_day = null");
  });
});

test("agents on other connectors need no credits of their creator's", async () => {
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

const pay = async (chain: "evm" | "hedera") => payQuote(paid, chain, await ask());

/** A payment that was never used, on the terms of another agent's quote. */
async function payNothing() {
  const { context, url } = paid.marketplace;
  const { address } = await publishAgent(context, paid.market.creator, "other", {
    ...echoAgent,
    connector: "http-api",
    settings: { url: "https://example.com/?q={{text}}" },
  });
  return payQuote(paid, "evm", await post(`${url}/api/agent/${address}`, { body }));
}
