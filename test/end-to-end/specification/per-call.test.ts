import { Resvg } from "@resvg/resvg-js";
import { describe, expect } from "vitest";
import { publishAgent } from "../../../marketplace/agents/publish.ts";
import { moveAgent } from "../../../marketplace/agents/state.ts";
import { paidTest } from "../../support/fixtures.ts";
import { usdcOf } from "../../support/hedera-payments.ts";
import { echoAgent } from "../../support/marketplace.ts";
import type { PaidMarket } from "../../support/paid-market.ts";
import { type PaidAnswer, payQuote, post, quoteIn } from "../../support/pay-call.ts";
import { at, isOf, type Type } from "./fields.ts";

/** The per-call payment route, row by row of the specification's tables. */
let paid: PaidMarket;
let image: string;

const test = paidTest();
test.beforeAll(({ paid: started }) => {
  paid = started;
  const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40"><rect width="60" height="40" fill="#fff"/>
    <circle cx="20" cy="20" r="12" fill="#c03"/></svg>`;
  image = new Resvg(drawing).render().asPng().toString("base64");
});

const input = { text: "hello" };
const at402 = (path: string, body: object = input) => post(`${paid.marketplace.url}${path}`, { body });
const agentPath = () => `/api/agent/${paid.address}`;
const creatorHolds = () => usdcOf(paid.ledger, paid.ledger.accounts.creator.accountId);
/** Asks for the price, pays it and asks again, with `body` if that is another. */
async function pay(path: string, quoted: object = input, body: object = quoted): Promise<PaidAnswer> {
  const proof = await payQuote(paid, "hedera", await at402(path, quoted));
  return post(`${paid.marketplace.url}${path}`, { proof, body });
}

describe("payment quote", () => {
  test.each<[string, Type]>([
    ["x402Version", "integer"],
    ["accepts", "array"],
    ["accepts.0.scheme", "string"],
    ["accepts.0.network", "string"],
    ["accepts.0.asset", "string"],
    ["accepts.0.amount", "atomic amount"],
    ["accepts.0.payTo", "string"],
    ["accepts.0.resource", "https URL"],
    ["accepts.0.maxTimeoutSeconds", "integer"],
  ])("%s is a %s", async (path, type) => {
    const { status, body } = await at402(agentPath());
    expect(status).toBe(402);
    expect(isOf(type, at(body, path)), JSON.stringify(body)).toBe(true);
  });

  test("names the scheme, the chain in CAIP-2, the price in six decimals, payee, route, time and fee payer", async () => {
    const { body } = await at402(agentPath());
    expect(body.accepts.find(({ network }: { network: string }) => network.startsWith("hedera:"))).toMatchObject({
      scheme: "exact",
      network: "hedera:testnet",
      asset: paid.ledger.usdc,
      amount: "50000",
      payTo: paid.ledger.accounts.creator.accountId,
      resource: paid.publicUrl,
      maxTimeoutSeconds: 180,
      extra: { feePayer: paid.ledger.accounts.feePayer.accountId },
    });
  });

  test("a chain without a checked payout wallet is not offered", async () => {
    const { context } = paid.marketplace;
    const networks = async () =>
      (await at402(agentPath())).body.accepts.map(({ network }: { network: string }) => network);
    expect(await networks()).toEqual(["eip155:84532", "hedera:testnet"]);
    const set = (state: string) =>
      context.db.query("update payout_wallets set state = $1, checked_at = $2 where network = 'eip155:84532'", [
        state,
        state === "checked" ? new Date() : null,
      ]);
    await set("unchecked");
    expect(await networks()).toEqual(["hedera:testnet"]);
    await set("checked");
  });

  test("asking needs no authorization and charges nobody", async () => {
    const before = await creatorHolds();
    expect((await at402(agentPath())).status).toBe(402);
    expect(await creatorHolds()).toBe(before);
  });
});

describe("the flow", () => {
  test("quote, payment, result in the same response; the creator's own wallet has the price", async () => {
    const before = await creatorHolds();
    expect(await pay(agentPath())).toMatchObject({ status: 200, body: { success: true, output: { kind: "text" } } });
    await expect.poll(creatorHolds).toBe(before + 50_000);
  });

  test("settled by the client at the facilitator first, it is taken as well", async () => {
    const proof = await payQuote(paid, "hedera", await at402(agentPath()));
    const settled = await paid.facilitator.settle({ paymentPayload: proof, paymentRequirements: proof.accepted });
    expect(settled.body).toMatchObject({ success: true });
    expect(await post(paid.url, { proof, body: input })).toMatchObject({ status: 200, body: { success: true } });
  });

  test("fields that the agent does not declare are ignored", async () => {
    expect((await pay(agentPath(), { ...input, prompt: "IGNORED" })).status).toBe(200);
    expect(JSON.stringify(paid.marketplace.model.requests.at(-1))).not.toContain("IGNORED");
  });
});

describe("errors: each status, and that nothing is charged", () => {
  const publish = async (slug: string) =>
    (await publishAgent(paid.marketplace.context, paid.market.creator, slug, echoAgent)).address;

  test.each<[number, string, () => Promise<PaidAnswer>]>([
    [402, "payment required", () => at402(agentPath())],
    [
      402,
      "payload failed verification",
      async () => {
        const proof = await payQuote(paid, "hedera", await at402(agentPath()));
        return post(paid.url, { proof: { ...proof, payload: { transaction: "AAAA" } }, body: input });
      },
    ],
    [400, "required input field missing", () => pay(agentPath(), input, {})],
    [404, "no agent at that address", () => at402("/api/agent/no-body/nothing")],
    [
      404,
      "a suspended agent, never 403",
      async () => {
        const address = await publish("spec-suspended");
        await moveAgent(paid.marketplace.context.db, address, "suspend");
        return at402(`/api/agent/${address}`);
      },
    ],
    [
      404,
      "an unpublished agent",
      async () => {
        const address = await publish("spec-unpublished");
        await moveAgent(paid.marketplace.context.db, address, "unpublish");
        return at402(`/api/agent/${address}`);
      },
    ],
    [422, "a value broke a declared rule", () => pay(agentPath(), input, { text: "x".repeat(51) })],
    [
      500,
      "the agent ran and failed",
      async () => {
        paid.marketplace.model.injectFault({ status: 500 });
        return pay(agentPath());
      },
    ],
    [
      503,
      "payment infrastructure misconfigured: nobody to be paid",
      async () => {
        const { address } = await publishAgent(paid.marketplace.context, paid.market.buyer, "walletless", echoAgent);
        return at402(`/api/agent/${address}`);
      },
    ],
    [
      503,
      "owner could not be resolved",
      async () => {
        const { db } = paid.marketplace.context;
        const set = (state: string) =>
          db.query("update accounts set state = $1 where id = $2", [state, paid.market.creator.id]);
        await set("suspended");
        return at402(agentPath()).finally(() => set("open"));
      },
    ],
  ])("%i %s", async (status, _what, provoke) => {
    const before = await creatorHolds();
    expect(await provoke()).toMatchObject({ status, body: { error: expect.any(String) } });
    expect(await creatorHolds()).toBe(before);
  });
});

describe("fixed-price routes", () => {
  test.each([
    ["svg-vectorize", "10000"],
    ["svg-generate", "30000"],
    ["svg-generate-hd", "80000"],
  ])("%s costs %s base units, paid to the platform", async (product, amount) => {
    const { accepts } = quoteIn(await at402(`/api/x402/${product}`));
    const payTo = paid.ledger.accounts.platform.accountId;
    expect(accepts).toContainEqual(expect.objectContaining({ network: "hedera:testnet", amount, payTo }));
  });

  test.each<[string, () => [string, object]]>([
    ["object layers of an image", () => ["svg-vectorize", { image, layers: true }]],
    ["object layers of a prompt", () => ["svg-generate", { prompt: "A fox", layers: true }]],
    ["wide HD", () => ["svg-generate-hd", { prompt: "A fox", aspect: "wide" }]],
  ])("%s is refused before settlement", async (_what, request) => {
    const [product, body] = request();
    const before = await usdcOf(paid.ledger, paid.ledger.accounts.platform.accountId);
    expect(await pay(`/api/x402/${product}`, body)).toMatchObject({ status: 400, body: { error: expect.any(String) } });
    expect(await usdcOf(paid.ledger, paid.ledger.accounts.platform.accountId)).toBe(before);
  });

  test("a payment buys the drawing", async () => {
    expect(await pay("/api/x402/svg-vectorize", { image })).toMatchObject({ status: 200, body: { cost_usd: 0.01 } });
  });
});
