import { connect } from "node:net";
import { describe, expect } from "vitest";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { elapse } from "../support/elapse.ts";
import { paidTest } from "../support/fixtures.ts";
import { startHttpServer } from "../support/http-server.ts";
import type { PaidMarket } from "../support/paid-market.ts";
import { part, perFile } from "../support/part.ts";
import { bareProof, encodeHeader, type Proof, payQuote, post } from "../support/pay-call.ts";

/*
 * A payment is its signed message. What is around it (version, resource, quote) is written by whoever posts it, so that the same
 * payment can be posted again in another envelope: by its buyer's client, or by a stranger who has it off the chain.
 */

const runsMs = 1_000;
let runs = 0;
const test = paidTest()
  .extend(
    "upstream",
    perFile,
    part(() =>
      startHttpServer((_request, response) => {
        runs += 1;
        response.end(`run ${runs}${"\n".repeat(2_000_000)}end`);
      }),
    ),
  )
  .extend("options", perFile, ({ upstream }) => ({
    env: { OUTBOUND_ALLOW_HOSTS: upstream.host, RUN_LEASE_MS: String(runsMs) },
  }));

test.afterEach(({ paid }) => {
  paid.marketplace.model.clearFaults();
  paid.toFacilitator.behave(() => "pass");
});

const body = { text: "a text that is worth something" };
const elsewhere = (proof: Proof) => ({ ...proof, resource: { url: "https://elsewhere.example/x" } });

/** All of it lies on the chain or in a public quote. */
function readOffTheChain({ accepted, payload }: Proof) {
  const { quoteId: _, ...extra } = accepted.extra as Record<string, unknown>;
  return { x402Version: 2, accepted: { ...accepted, extra }, payload };
}

/** Run and settled, and neither is told: the service knows of the run alone. */
async function boughtUnknown(paid: PaidMarket, proof: object, header?: "X-PAYMENT"): Promise<void> {
  paid.toFacilitator.behave((path) => (path === "/settle" ? "lose-answer" : "pass"));
  expect((await post(paid.url, { body, proof, ...(header && { header }) })).status).toBe(503);
  paid.toFacilitator.behave(() => "pass");
}

const rows = async (paid: PaidMarket) =>
  (
    await paid.marketplace.context.db.query(
      "select output is not null as kept from paid_calls order by created_at desc limit 1",
    )
  ).rows;

describe.each(["evm", "hedera"] as const)("a result that is kept for a payment on %s", (chain) => {
  const modelDown = (paid: PaidMarket) => paid.marketplace.model.injectFault({ status: 500, times: 20 });

  test("is its buyer's whose client names another resource the second time", async ({ paid }) => {
    const proof = await payQuote(paid, chain, await post(paid.url, { body }));
    await boughtUnknown(paid, proof);
    modelDown(paid);
    expect(await post(paid.url, { body, proof: elsewhere(proof) })).toMatchObject({ status: 200 });
  });

  test("stays where a stranger posts the payment without its quote", async ({ paid }) => {
    const proof = await payQuote(paid, chain, await post(paid.url, { body }));
    await boughtUnknown(paid, proof);
    modelDown(paid);
    expect((await post(paid.url, { body, proof: readOffTheChain(proof) })).status).toBe(402);
    expect(await rows(paid)).toEqual([{ kept: true }]);
    expect((await post(paid.url, { body, proof })).status).toBe(200);
  });

  test("stays its buyer's in version 1 where a stranger posts the payment in version 2", async ({ paid }) => {
    const quoted = await payQuote(paid, chain, await post(paid.url, { body }));
    const proof = bareProof(quoted);
    await boughtUnknown(paid, proof, "X-PAYMENT");
    modelDown(paid);
    await post(paid.url, { body, proof: readOffTheChain(quoted), from: "203.0.113.9" });
    expect(await rows(paid)).toEqual([{ kept: true }]);
    expect((await post(paid.url, { body, proof, header: "X-PAYMENT" })).status).toBe(200);
  });

  test("is waited for while the facilitator's record cannot be asked", async ({ paid }) => {
    const proof = await payQuote(paid, chain, await post(paid.url, { body }));
    await boughtUnknown(paid, proof);
    modelDown(paid);
    paid.toFacilitator.behave((path) => (path.startsWith("/payments") ? "lose-answer" : "pass"));
    expect((await post(paid.url, { body, proof: elsewhere(proof) })).status).toBe(503);
    expect(await rows(paid)).toEqual([{ kept: true }]);
  });
});

test("one payment is one run, however slowly its answer is read and in whatever envelope it is posted meanwhile", async ({
  paid,
  upstream,
}) => {
  const { context, url: origin } = paid.marketplace;
  const { address } = await publishAgent(context, paid.market.creator, "large", {
    name: "Large",
    description: "Says much.",
    connector: "http-api",
    price_credits: 5,
    settings: { url: `${upstream.url}/`, format: "text" },
  });
  const path = `/api/agent/${address}`;
  const proof = await payQuote(paid, "evm", await post(origin + path, { body: {} }));
  const { hostname, port } = new URL(origin);
  const reader = connect(Number(port), hostname);
  reader.write(
    `POST ${path} HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-type: application/json\r\ncontent-length: 2\r\nPAYMENT-SIGNATURE: ${encodeHeader(proof)}\r\n\r\n{}`,
  );
  await new Promise<void>((resolve) => reader.once("data", () => resolve(void reader.pause())));
  await elapse(2 * runsMs, "until the lease of a call whose answer is still leaving has lapsed");
  await post(origin + path, { body: {}, proof: elsewhere(proof) });
  await post(origin + path, { body: {}, proof });
  reader.destroy();
  expect(runs).toBe(1);
});
