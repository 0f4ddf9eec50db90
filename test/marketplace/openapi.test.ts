import fc from "fast-check";
import { describe, expect } from "vitest";
import { runCommand } from "../../marketplace/operator/command-line.ts";
import { signedIn } from "../support/browser.ts";
import { marketTest } from "../support/fixtures.ts";
import { madeUpRequests } from "../support/made-up-requests.ts";
import { call, type Market, proveLedger, run, seedMarket, type TestMarketplace } from "../support/marketplace.ts";

// biome-ignore lint/suspicious/noExplicitAny: a JSON document is walked freely
type Json = any;

let market: TestMarketplace;
let seeded: Market;
let document: Json;
const test = marketTest({}, { price: 1, balance: 100_000, rateLimit: 100_000 });
test.beforeAll(async ({ market: started, seeded: owned }) => {
  market = started;
  seeded = owned;
  document = (await call(market.url, "/api/v1/openapi.json")).body;
});

describe("each status of the run endpoint's error table is met, and as documented", () => {
  const post = (body: unknown, key: string | null = seeded.key, headers: Record<string, string> = {}) =>
    call(market.url, "/api/v1/run", { method: "POST", body, headers, ...(key ? { key } : {}) });
  const good = () => ({ agent: seeded.agent.address, input: { text: "x" } });

  test.each<[number, string, () => Promise<{ status: number }>]>([
    [200, "that worked", () => post(good())],
    [
      200,
      "that failed",
      async () => {
        market.model.injectFault({ status: 500 });
        return post(good()).finally(() => market.model.clearFaults());
      },
    ],
    [400, "without input", () => post({ agent: seeded.agent.address })],
    [401, "without a key", () => post(good(), null)],
    [402, "too dear", () => post({ ...good(), max_credits: 0 })],
    [404, "of no agent", () => post({ ...good(), agent: "no/agent" })],
    [
      409,
      "named as another was",
      async () => {
        await post(good(), seeded.key, { "idempotency-key": "taken" });
        return post({ ...good(), input: { text: "y" } }, seeded.key, { "idempotency-key": "taken" });
      },
    ],
    [413, "too large", () => post({ ...good(), input: { text: "x".repeat(2_200_000) } })],
    [422, "against a rule", () => post({ ...good(), input: { text: "x".repeat(51) } })],
    [
      429,
      "past the limit",
      async () => {
        const { key } = await seedMarket(market.context, { rateLimit: 1 });
        await post(good(), key);
        return post(good(), key);
      },
    ],
    [
      500,
      "that cannot be held",
      async () => {
        await market.context.db.query("alter table postings rename to postings_gone");
        return post(good()).finally(() => market.context.db.query("alter table postings_gone rename to postings"));
      },
    ],
    [
      503,
      "whose owner cannot be verified",
      async () => {
        const other = await seedMarket(market.context);
        await market.context.db.query("update accounts set state = 'suspended' where id = $1", [other.creator.id]);
        return run(market, other.key, other.agent.address);
      },
    ],
  ])("%i %s", async (status, _what, ask) => {
    expect((await ask()).status).toBe(status);
  });
});

test("requests made up from the document, right and wrong, are answered as it says and never with a 5xx", async () => {
  // The caller is signed in to the creator's account, too.
  await runCommand(
    ["account", "link", "--account", seeded.creator.handle, "--email", "any@example.com"],
    market.environment,
  );
  const { cookie } = await signedIn(market, "any@example.com");
  const requests = madeUpRequests(document, {
    parts: seeded.agent.address.split("/"),
    bodies: [{ agent: seeded.agent.address, input: { text: "hello" } }],
    // What is paid per call needs a facilitator: test/end-to-end/made-up-payments.test.ts. Drawing takes seconds.
    leaveOut: /^\/api\/(agent|x402)\/|\/purchase$|\/svg\/generate$|\/sign-out$|\/close$/,
  });
  await fc.assert(
    fc.asyncProperty(requests, async ({ method, path, body }) => {
      const { status } = await call(market.url, path, { key: seeded.key, headers: { cookie }, method, body });
      expect(status).toBeLessThan(500);
    }),
    { numRuns: 400 },
  );
  await proveLedger(market.context);
});
