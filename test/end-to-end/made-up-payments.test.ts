import fc from "fast-check";
import { expect } from "vitest";
import { documented } from "../support/documented.ts";
import { paidTest } from "../support/fixtures.ts";
import { madeUpRequests } from "../support/made-up-requests.ts";
import { call } from "../support/marketplace.ts";
import { encodeHeader, type Proof, payQuote, post } from "../support/pay-call.ts";

const test = paidTest({ env: { LIMIT_FAILED_PROOFS_PER_ADDRESS: "1000000" } });
let proofs: Proof[];
test.beforeAll(async ({ paid }) => {
  const quote = () => post(paid.url, { body: { text: "hello" } });
  proofs = [await payQuote(paid, "hedera", await quote()), await payQuote(paid, "evm", await quote())];
});

/** Pieces of good payments and rubbish, in the header of either version. */
const payments = () => {
  const [hedera, evm] = proofs as [Proof, Proof];
  const spoiled = fc
    .tuple(
      fc.constantFrom(hedera, evm),
      fc.dictionary(fc.constantFrom("x402Version", "accepted", "payload", "network"), fc.jsonValue()),
    )
    .map(([proof, changes]) => encodeHeader({ ...proof, ...changes }));
  const value = fc.oneof(
    spoiled,
    fc.jsonValue().map((made) => encodeHeader({ made })),
    fc.base64String(),
    fc.constant(undefined),
  );
  return fc.tuple(fc.constantFrom("payment-signature", "x-payment"), value);
};

test("made-up calls with made-up payments are answered as the marketplace's document says and never with a 5xx", async ({
  paid,
}) => {
  const { body: document } = await call(paid.marketplace.url, "/api/v1/openapi.json");
  const requests = madeUpRequests(document, {
    parts: paid.address.split("/"),
    bodies: [{ text: "hello" }, { credits: 5 }, { prompt: "A fox" }],
    leaveOut: /^(?!\/api\/(agent|x402)\/|.*\/purchase$)/,
  });
  await fc.assert(
    fc.asyncProperty(requests, payments(), async ({ method, path, body }, [name, value]) => {
      const headers = { ...(value !== undefined && { [name]: value }), accept: "application/json, text/event-stream" };
      const { status, text } = await call(paid.marketplace.url, path, { key: paid.market.key, method, headers, body });
      expect(status, text).toBeLessThan(500);
    }),
    { numRuns: 300 },
  );
});

test("made-up requests to the facilitator are answered as its document says and never with a 5xx", async ({ paid }) => {
  const { body: document } = await paid.facilitator.get("/openapi.json");
  const facilitator = documented(paid.facilitator);
  const bodies = proofs.map((proof) => ({ paymentPayload: proof, paymentRequirements: proof.accepted }));
  const requests = madeUpRequests(document, {
    parts: ["0x00", "0.0.1"],
    bodies,
    leaveOut: /^\/metrics$|^\/health$|^\/readyz$/,
  });
  await fc.assert(
    fc.asyncProperty(requests, async ({ method, path, body }) => {
      const verb = path.startsWith("/verify") ? facilitator.verify : facilitator.settle;
      const { status } = await (method === "GET" ? facilitator.get(path) : verb(body));
      expect(status).toBeLessThan(500);
    }),
    { numRuns: 400 },
  );
});
