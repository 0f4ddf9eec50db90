import { describe, expect } from "vitest";
import { publishAgent } from "../../../marketplace/agents/publish.ts";
import { moveAgent } from "../../../marketplace/agents/state.ts";
import { createKey } from "../../../marketplace/api-keys/create.ts";
import type { AccountId } from "../../../marketplace/ids.ts";
import { sdkOn } from "../../infra/local-hedera/sdk.ts";
import { withAccount } from "../../support/browser.ts";
import type { ExampleCalls } from "../../support/example-calls.ts";
import { allow } from "../../support/ledger-agents.ts";
import { echoAgent, type TestMarketplace, until } from "../../support/marketplace.ts";
import type { PaidMarket } from "../../support/paid-market.ts";
import { encodeHeader, payQuote, settleFirst } from "../../support/pay-call.ts";
import { onePixel, ownPage, test, x } from "./stage.ts";

const text = { text: "Buyers pay per call." };
const misspelt = { slug: "summariser" };

describe("a buyer's operations answer as documented:", () => {
  test("runs on credits, and their history", async ({ paid: { marketplace }, stage: { calls } }) => {
    const { body } = await calls.expect("runAgent", 200);
    const params = { run_id: body.run_id };
    for (const id of ["runAgent", "runAgentSignedIn"]) {
      const headers = { "idempotency-key": id };
      await calls.expect(id, 200, { headers });
      await calls.expect(id, 409, { headers, but: { input: text } });
      await letOutputGo(marketplace, id);
      await calls.expect(id, 410, { headers });
      await calls.expect(id, 402, { but: { max_credits: 3 } });
      await calls.expect(id, 404, { but: { agent: "ada/summariser" } });
      await calls.expect(id, 422, { but: { input: { text: "x".repeat(20_001) } } });
    }
    for (const id of ["listRuns", "listOwnRuns", "getActivity"]) await calls.expect(id, 200);
    for (const id of ["getRun", "getOwnRun"]) {
      await calls.expect(id, 200, { params });
      await calls.expect(id, 404);
    }
    await calls.expect("showRunAsExample", 200, { params });
    await calls.expect("removeExample", 200, { params });
    for (const id of ["showRunAsExample", "removeExample"]) await calls.expect(id, 404);
    marketplace.model.injectFault({ delayMs: 600_000 });
    const running = calls.send("runAgent");
    const { db } = marketplace.context;
    const underWay = async () => (await db.query("select id as run_id from runs where state = 'running'")).rows;
    await until(async () => (await underWay()).length > 0);
    for (const id of ["shareRun", "showRunAsExample"]) await calls.expect(id, 409, { params: (await underWay())[0] });
    marketplace.model.answerHeld();
    await running;
    const { body: share } = await calls.expect("shareRun", 200, { params });
    const shared = { token: share.token };
    await calls.expect("getSharedRun", 200, { params: shared });
    await calls.expect("revokeRunShare", 200, { params });
    for (const id of ["shareRun", "revokeRunShare", "getSharedRun"]) await calls.expect(id, 404);
  });

  test("agents, credits and rewards", async ({ paid, stage: { calls } }) => {
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
    await calls.expect("setAlerts", 200, { body: { balance_below: null, cap_percent: null } });
    const { handle, browser } = await withAccount(paid.marketplace);
    const { db } = paid.marketplace.context;
    const { rows } = await db.query<{ id: AccountId }>(
      `with posted as (
         insert into postings (kind, from_purse, to_purse, amount)
         select 'grant', 'platform:issued', 'spendable:' || id, 1 from accounts, generate_series(0, 100000) where handle = $1
       ) select id from accounts where handle = $1`,
      [handle],
    );
    const { token: key } = await createKey(db, { accountId: rows[0]!.id, name: "busy", rateLimitPerMinute: 10 });
    await calls.expect("downloadStatement", 422, { as: { cookie: browser.cookie } });
    await calls.expect("readAccountStatement", 422, { as: { cookie: browser.cookie }, query: "?key_id=any" });
    await calls.expect("listPostings", 422, { as: { key }, query: "?key_id=any" });
    for (const id of ["transferCredits", "transferAccountCredits"]) {
      await calls.expect(id, 422, { but: { credits: 1_000_000 } });
      const headers = { "idempotency-key": id };
      await calls.expect(id, 200, { headers, but: { credits: 1 } });
      await calls.expect(id, 409, { headers, but: { credits: 2 } });
    }
  });

  test("drawings with a key, and their files", async ({ paid, stage: { calls, away } }) => {
    for (const id of ["vectorize", "vectorizeSignedIn"]) {
      const headers = { "idempotency-key": id };
      const { body } = await calls.expect(id, 200, { headers, but: { image: onePixel } });
      await calls.expect(id, 409, { headers, but: { image: onePixel, colors: 3 } });
      await letOutputGo(paid.marketplace, id);
      await calls.expect(id, 410, { headers, but: { image: onePixel } });
      await calls.expect(id, 402, { but: { image: onePixel, max_credits: 0 } });
      await calls.expect(id, 422, { but: { image: "bm8gaW1hZ2U=" } });
      const params = { name: new URL(body.url).pathname.split("/").at(-1) ?? "" };
      const suffix = id === "vectorize" ? "" : "SignedIn";
      await calls.expect("getFile", 200, { params });
      await calls.expect("getFile", 304, { params, headers: { "if-none-match": `"${params.name.slice(0, 64)}"` } });
      await calls.expect(`hideFile${suffix}`, 200, { params });
      await calls.expect("getFile", 410, { params });
      await calls.expect(`showFile${suffix}`, 200, { params });
      await isForBuyers(paid.marketplace, params.name, true);
      await calls.expect(`deleteFile${suffix}`, 409, { params });
      await isForBuyers(paid.marketplace, params.name, false);
      await calls.expect(`deleteFile${suffix}`, 200, { params });
      for (const act of ["hideFile", "showFile", "deleteFile"]) await calls.expect(`${act}${suffix}`, 404);
    }
    await calls.expect("getFile", 404);
    await calls.expect("getFile", 503, { at: away, params: { name: `${"0".repeat(64)}.png` } });
    await calls.expect("getDrawingQueue", 200);
    const from = { "x-forwarded-for": "203.0.113.9", ...ownPage };
    await calls.expect("tryVectorize", 403);
    await calls.expect("tryVectorize", 422, { headers: from, but: { image: "bm8gaW1hZ2U=" } });
    await calls.expect("tryVectorize", 200, { headers: from });
  });

  test("drawings of a prompt, with a key and without", async ({ paid, stage: { calls } }) => {
    const { model } = paid.marketplace;
    for (const id of ["generateSvg", "generateSvgSignedIn"]) {
      const headers = { "idempotency-key": id };
      await calls.expect(id, 200, { headers });
      await calls.expect(id, 409, { headers, but: { hd: true } });
      await letOutputGo(paid.marketplace, id);
      await calls.expect(id, 410, { headers });
      await calls.expect(id, 402, { but: { max_credits: 2 } });
      model.injectFault({ status: 500 });
      await calls.expect(id, 502);
      model.clearFaults();
    }
    for (const id of ["payGenerateSvg", "payGenerateSvgHd"]) {
      const headers = await payFor(paid, calls, id, "evm");
      await calls.expect(id, 400, { headers, body: {} });
      calls.hold(id, 413, await calls.announce(id, 20_000_000, { headers }));
      model.injectFault({ status: 500 });
      await calls.expect(id, 500, { headers });
      model.clearFaults();
      await calls.expect(id, 200, { headers });
    }
  });

  test("what a mock model fails to draw for nothing", async ({ paid, stage: { calls } }) => {
    const { model } = paid.marketplace;
    const pose = async (asModel: boolean) => {
      model.poseAsModel(asModel);
      // What it is is known from its last answer.
      await calls.send("generateSvg");
    };
    await pose(false);
    for (const id of ["payGenerateSvg", "payGenerateSvgHd"]) {
      model.injectFault({ status: 500 });
      await calls.expect(id, 502);
      model.clearFaults();
    }
    await pose(true);
  });

  test("work whose results cannot be kept", async ({ paid, stage: { calls } }) => {
    const { db } = paid.marketplace.context;
    const image = { but: { image: onePixel } };
    await db.query("alter table files rename to mislaid_files");
    for (const id of ["vectorize", "vectorizeSignedIn"]) await calls.expect(id, 502, image);
    const headers = await payFor(paid, calls, "payVectorize", "evm", image);
    await calls.expect("payVectorize", 500, { ...image, headers });
    await db.query("alter table mislaid_files rename to files");
    await db.query("alter table postings rename to mislaid_postings");
    const few = { but: { credits: 50 } };
    const bought = [];
    for (const id of ["purchaseCredits", "purchaseAccountCredits"]) {
      const paidFor = { ...few, headers: await payFor(paid, calls, id, "evm", few) };
      await calls.expect(id, 500, paidFor);
      bought.push([id, paidFor] as const);
    }
    await db.query("alter table mislaid_postings rename to postings");
    for (const [id, paidFor] of bought) await calls.expect(id, 200, paidFor);
  });

  test("paying per call", async ({ paid, stage: { calls, ada } }) => {
    const pay = payFor.bind(undefined, paid, calls);
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

  test("a payment whose agent is gone, or has nothing left to give", async ({ paid, stage: { calls, ada } }) => {
    const { context } = paid.marketplace;
    const settings = { network: "hedera:testnet", asset: "hbar", amount: "100", per_day_max: "900", budget: "100" };
    const reward = { connector: "x-reward", settings: { ...settings, post: "{{text}}", wallet: "0.0.1003", rule: {} } };
    const open = sdkOn(paid.ledger);
    await allow({ open } as never, 100_000);
    open.close();
    await publishAgent(context, ada.account, "reward", { ...echoAgent, ...reward });
    const { id } = x.add({ id: "1900000000000000001", text: "pay 0.0.1003", author: { id: "77", username: "one" } });
    const asked = { params: { slug: "reward" }, body: { text: id } };
    const pay = async () => ({ ...asked, headers: await payFor(paid, calls, "payAgent", "evm", asked) });
    await calls.expect("payAgent", 200, await pay());
    await calls.expect("payAgent", 409, await pay());

    const { creator } = paid.market;
    await publishAgent(context, creator, "gone", echoAgent);
    const gone = { params: { handle: creator.handle, slug: "gone" } };
    const proof = await payQuote(paid, "evm", (await calls.send("payAgent", gone)) as never);
    await settleFirst(paid, proof);
    await moveAgent(context.db, `${creator.handle}/gone`, "suspend");
    await calls.expect("payAgent", 410, { ...gone, headers: { "payment-signature": encodeHeader(proof) } });
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
      const version = "2026-07-28";
      const _meta = {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
      };
      await calls.expect(id, 404, {
        as,
        headers: { ...accept, "mcp-protocol-version": version, "mcp-method": "prompts/none" },
        body: { jsonrpc: "2.0", id: 1, method: "prompts/none", params: { _meta } },
      });
    }
  });
});

/** The headers that pay for the operation's example, changed. */
async function payFor(paid: PaidMarket, calls: ExampleCalls, id: string, chain: "hedera" | "evm", change: object = {}) {
  const quoted = await calls.expect(id, 402, change);
  const proof = await payQuote(paid, chain, quoted as never);
  return { "payment-signature": encodeHeader(proof) };
}

/** Of the run that the request of this name began, as long after it as an account with a great many keeps outputs. */
async function letOutputGo({ context }: TestMarketplace, name: string): Promise<void> {
  const { rowCount } = await context.db.query("update runs set output = null where idempotency_key = $1", [name]);
  expect(rowCount).toBe(1);
}

/** As if an agent had made it for others, or for the account alone. */
async function isForBuyers({ context }: TestMarketplace, name: string, shared: boolean): Promise<void> {
  const set = "agent_id = case when $2 then (select min(id) from agents) end, shared = $2";
  expect((await context.db.query(`update files set ${set} where name = $1`, [name, shared])).rowCount).toBe(1);
}
