import { expect } from "vitest";
import { countRuns } from "../../marketplace/agents/count-runs.ts";
import { signAuthorization } from "../support/evm-payments.ts";
import { paidTest } from "../support/fixtures.ts";
import type { PaidMarket } from "../support/paid-market.ts";
import { post, quoteIn } from "../support/pay-call.ts";

const test = paidTest();

async function payOnce(paid: PaidMarket, text: string) {
  const { accepts, resource } = quoteIn(await post(paid.url, { body: { text } }));
  const accepted = accepts.find(({ network }: { network: string }) => network === "eip155:84532");
  const buyer = await paid.setting.fundedBuyer(50_000n);
  const terms = { ...paid.setting.terms, payTo: accepted.payTo, amount: accepted.amount };
  const validBefore = String(Math.floor(Date.now() / 1_000) + 180);
  const payload = await signAuthorization(buyer, terms, { validBefore });
  const proof = { x402Version: 2, resource, accepted, payload };
  return { answer: await post(paid.url, { body: { text }, proof }), proof };
}

test("paid calls count among an agent's runs, each once however often its payment is posted; failed ones as failed", async ({
  paid,
}) => {
  const { db } = paid.marketplace.context;
  const first = await payOnce(paid, "one");
  expect(first.answer.status).toBe(200);
  expect((await post(paid.url, { body: { text: "one" }, proof: first.proof })).status).toBe(402);
  expect((await payOnce(paid, "two")).answer.status).toBe(200);
  paid.marketplace.model.injectFault({ status: 400, times: 5 });
  expect((await payOnce(paid, "one")).answer.status).toBe(500);
  paid.marketplace.model.clearFaults();
  const figures = async () =>
    (
      await db.query("select runs::integer, succeeded::integer, median_ms from agent_figures where agent_id = $1", [
        paid.market.agent.agentId,
      ])
    ).rows[0];
  await expect
    .poll(async () => {
      await countRuns(db);
      return (await figures())?.runs;
    })
    .toBe(3);
  expect(await figures()).toMatchObject({ runs: 3, succeeded: 2, median_ms: expect.any(Number) });
});
