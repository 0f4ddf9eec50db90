import { expect } from "vitest";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { credits } from "../../marketplace/credits/amount.ts";
import { grant } from "../../marketplace/credits/ledger.ts";
import type { AccountId } from "../../marketplace/ids.ts";
import { Browser, signedIn, withAccount } from "../support/browser.ts";
import { marketTest } from "../support/fixtures.ts";
import { call, echoAgent, type Market, proveLedger, seedMarket, type TestMarketplace } from "../support/marketplace.ts";

const test = marketTest({}, { price: 5 });
test.afterEach(async ({ market }) => {
  market.model.clearFaults();
  await proveLedger(market.context);
});

async function buyerWith(
  market: TestMarketplace,
  balance: bigint,
): Promise<{ browser: Browser; credits: () => Promise<number> }> {
  const { browser, handle } = await withAccount(market);
  const { rows } = await market.context.db.query<{ id: AccountId }>("select id from accounts where handle = $1", [
    handle,
  ]);
  await grant(market.context.db, { accountId: rows[0]!.id, credits: credits(balance) });
  return { browser, credits: async () => (await browser.get("/api/account")).body.account.credits };
}

const asked = (seeded: Market, more: object = {}) => ({
  agent: seeded.agent.address,
  input: { text: "hello" },
  max_credits: 5,
  ...more,
});

test("a signed-in visitor runs an agent with the account's credits, and one that fails costs nothing", async ({
  market,
  seeded,
}) => {
  const { browser, credits } = await buyerWith(market, 12n);
  const ran = await browser.post("/api/account/run", asked(seeded));
  expect(ran).toMatchObject({
    status: 200,
    body: { success: true, output: { kind: "text" }, credits_used: 5, credits_remaining: 7, receipt: null },
  });
  market.model.injectFault({ status: 500 });
  expect(await browser.post("/api/account/run", asked(seeded))).toMatchObject({
    status: 200,
    body: { success: false, credits_used: 0, credits_remaining: 7 },
  });
  expect(await credits()).toBe(7);
});

test("a lost answer is had again by the request's name, for no second charge", async ({ market, seeded }) => {
  const { browser, credits } = await buyerWith(market, 12n);
  const named = { "idempotency-key": "page-1" };
  const first = await browser.post("/api/account/run", asked(seeded), named);
  const again = await browser.post("/api/account/run", asked(seeded), named);
  expect(again.text).toBe(first.text);
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect(await credits()).toBe(7);
  const other = await browser.post("/api/account/run", asked(seeded, { input: { text: "other" } }), named);
  expect(other.status).toBe(409);
});

test("a price that rose since it was shown is a 402 that names the new one, and never a charge", async ({
  market,
  seeded,
}) => {
  const { browser, credits } = await buyerWith(market, 20n);
  const risen = await seedMarket(market.context, { price: 5 });
  await publishAgent(market.context, risen.creator, "echo", { ...echoAgent, price_credits: 6 });
  const answer = await browser.post("/api/account/run", { ...asked(seeded), agent: risen.agent.address });
  expect(answer).toMatchObject({
    status: 402,
    body: { credits_required: 6, credits_remaining: 20, limit_source: "request" },
  });
  expect(await credits()).toBe(20);
});

test("too small a balance is a 402, and input that breaks a rule names its field; neither costs anything", async ({
  market,
  seeded,
}) => {
  const { browser, credits } = await buyerWith(market, 4n);
  expect(await browser.post("/api/account/run", asked(seeded))).toMatchObject({
    status: 402,
    body: { credits_required: 5, credits_remaining: 4, limit_source: "balance" },
  });
  const tooLong = await browser.post("/api/account/run", asked(seeded, { input: { text: "x".repeat(51) } }));
  expect(tooLong).toMatchObject({ status: 422, body: { field: "text" } });
  expect(await browser.post("/api/account/run", asked(seeded, { input: {} }))).toMatchObject({
    status: 400,
    body: { field: "text" },
  });
  expect(await credits()).toBe(4);
});

test("without a session, without an account or from another site's page nothing runs", async ({ market, seeded }) => {
  const { browser, credits } = await buyerWith(market, 12n);
  const before = market.model.asked();
  expect((await new Browser(market.url).post("/api/account/run", asked(seeded))).status).toBe(401);
  expect((await call(market.url, "/api/account/run", { key: seeded.key, body: asked(seeded) })).status).toBe(401);
  expect((await (await signedIn(market)).post("/api/account/run", asked(seeded))).status).toBe(403);
  for (const headers of [
    { origin: "https://elsewhere.example" },
    { origin: "null" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
  ] as Record<string, string>[]) {
    expect((await browser.post("/api/account/run", asked(seeded), headers)).status).toBe(403);
  }
  expect(market.model.asked()).toBe(before);
  expect(await credits()).toBe(12);
});
