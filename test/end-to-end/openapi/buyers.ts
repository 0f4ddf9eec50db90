import { describe } from "vitest";
import { publishAgent } from "../../../marketplace/agents/publish.ts";
import { createKey } from "../../../marketplace/api-keys/create.ts";
import { echoAgent } from "../../support/marketplace.ts";
import { payQuote } from "../../support/pay-call.ts";
import { onePixel, ownPage, test } from "./stage.ts";

const text = { text: "Buyers pay per call." };
const misspelt = { slug: "summariser" };

describe("a buyer's operations", () => {
  test("runs on credits, and their history", async ({ stage: { calls } }) => {
    const { body } = await calls.expect("runAgent", 200);
    const params = { run_id: body.run_id };
    for (const id of ["runAgent", "runAgentSignedIn"]) {
      const headers = { "idempotency-key": id };
      await calls.expect(id, 200, { headers });
      await calls.expect(id, 409, { headers, but: { input: text } });
      await calls.expect(id, 402, { but: { max_credits: 3 } });
      await calls.expect(id, 404, { but: { agent: "ada/summariser" } });
      await calls.expect(id, 422, { but: { input: { text: "x".repeat(20_001) } } });
    }
    for (const id of ["listRuns", "listOwnRuns", "getActivity"]) await calls.expect(id, 200);
    for (const id of ["getRun", "getOwnRun"]) {
      await calls.expect(id, 200, { params });
      await calls.expect(id, 404);
    }
    const { body: share } = await calls.expect("shareRun", 200, { params });
    const shared = { token: share.token };
    await calls.expect("getSharedRun", 200, { params: shared });
    await calls.expect("revokeRunShare", 200, { params });
    for (const id of ["shareRun", "revokeRunShare", "getSharedRun"]) await calls.expect(id, 404);
  });

  test("agents, credits and rewards", async ({ stage: { calls } }) => {
    for (const id of ["listAgents", "getAgent", "listCatalog", "listPaidAddresses"]) {
      const { headers } = await calls.expect(id, 200);
      await calls.expect(id, 304, { headers: { "if-none-match": headers.get("etag") ?? "" } });
    }
    await calls.expect("getAgent", 404, { params: misspelt });
    for (const id of [
      "getBalance",
      "listPostings",
      "listRewards",
      "listRewardsSignedIn",
      "listFiles",
      "listFilesSignedIn",
    ])
      await calls.expect(id, 200);
    for (const id of ["getAccountCredits", "readAccountStatement", "downloadStatement", "getAlerts"])
      await calls.expect(id, 200);
    await calls.expect("setAlerts", 409);
    for (const id of ["transferCredits", "transferAccountCredits"]) {
      await calls.expect(id, 422, { but: { credits: 1_000_000 } });
      await calls.expect(id, 200, { but: { credits: 1 } });
    }
  });

  test("drawings with a key, and their files", async ({ stage: { calls } }) => {
    for (const id of ["vectorize", "vectorizeSignedIn"]) {
      const headers = { "idempotency-key": id };
      const { body } = await calls.expect(id, 200, { headers, but: { image: onePixel } });
      await calls.expect(id, 409, { headers, but: { image: onePixel, colors: 3 } });
      await calls.expect(id, 402, { but: { image: onePixel, max_credits: 0 } });
      await calls.expect(id, 422, { but: { image: "bm8gaW1hZ2U=" } });
      const params = { name: new URL(body.url).pathname.split("/").at(-1) ?? "" };
      const suffix = id === "vectorize" ? "" : "SignedIn";
      await calls.expect("getFile", 200, { params });
      await calls.expect("getFile", 304, { params, headers: { "if-none-match": `"${params.name.slice(0, 64)}"` } });
      await calls.expect(`hideFile${suffix}`, 200, { params });
      await calls.expect("getFile", 410, { params });
      await calls.expect(`showFile${suffix}`, 200, { params });
      for (const act of ["hideFile", "showFile"]) await calls.expect(`${act}${suffix}`, 404);
    }
    await calls.expect("getFile", 404);
    await calls.expect("getDrawingQueue", 200);
    const from = { "x-forwarded-for": "203.0.113.9", ...ownPage };
    await calls.expect("tryVectorize", 403);
    await calls.expect("tryVectorize", 422, { headers: from, but: { image: "bm8gaW1hZ2U=" } });
    await calls.expect("tryVectorize", 200, { headers: from });
  });

  test("paying per call", async ({ paid, stage: { calls, ada } }) => {
    const pay = async (id: string, chain: "hedera" | "evm", change: object = {}) => {
      const quoted = await calls.expect(id, 402, change);
      const proof = await payQuote(paid, chain, quoted as never);
      return { "payment-signature": Buffer.from(JSON.stringify(proof)).toString("base64") };
    };
    const headers = await pay("payAgent", "evm");
    await calls.expect("payAgent", 400, { headers, body: {} });
    await calls.expect("payAgent", 422, { headers, body: { text: "x".repeat(20_001) } });
    await calls.expect("payAgent", 200, { headers });
    await calls.expect("payAgent", 404, { params: misspelt });
    paid.marketplace.model.injectFault({ status: 500 });
    await calls.expect("payAgent", 500, { headers: await pay("payAgent", "hedera") });
    paid.marketplace.model.clearFaults();
    await calls.expect("preflightPayAgent", 204, { headers: { origin: "https://any.example" } });
    const image = { but: { image: onePixel } };
    const paidFor = await pay("payVectorize", "hedera", image);
    await calls.expect("payVectorize", 400, { headers: paidFor, body: {} });
    await calls.meet("payVectorize", 422, { headers: paidFor, body: { image: "bm8gaW1hZ2U=" } });
    await calls.expect("payVectorize", 200, { headers: paidFor, ...image });
    for (const id of ["payAgent", "payVectorize"])
      calls.hold(id, 413, await calls.announce(id, 20_000_000, { headers: paidFor }));
    await publishAgent(paid.marketplace.context, ada.account, "free", { ...echoAgent, price_credits: 0 });
    const foreign = { origin: "https://evil.example" };
    await calls.expect("payAgent", 403, { params: { slug: "free" }, body: { text: "Hello." }, headers: foreign });
    const few = { but: { credits: 50 } };
    for (const id of ["purchaseCredits", "purchaseAccountCredits"]) {
      await calls.expect(id, 200, { headers: await pay(id, "evm", few), ...few });
    }
    await calls.expect("listDebts", 200);
    await calls.expect("getPaymentProgress", 200, {
      query: `?network=eip155:84532&payer=0x${"1b".repeat(20)}&nonce=0x${"2c".repeat(32)}`,
    });
  });

  test("the tool server's messages", async ({ paid, stage: { calls } }) => {
    const { token: key } = await createKey(paid.marketplace.context.db, {
      accountId: paid.market.buyer.id,
      name: "tools",
      rateLimitPerMinute: 600,
    });
    const accept = { accept: "application/json, text/event-stream" };
    for (const id of ["sendToMcp", "sendToPaidMcp"]) {
      const as = id === "sendToMcp" ? { key } : {};
      await calls.expect(id, 200, { as, headers: accept, body: { jsonrpc: "2.0", id: 1, method: "tools/list" } });
      await calls.expect(id, 202, {
        as,
        headers: accept,
        body: { jsonrpc: "2.0", method: "notifications/initialized" },
      });
      await calls.expect(id, 406, { as, headers: { accept: "application/json" } });
      await calls.expect(id, 415, { as, headers: { ...accept, "content-type": "text/plain" } });
      await calls.expect(id, 403, { as, headers: { ...accept, origin: "https://evil.example" } });
    }
  });
});
