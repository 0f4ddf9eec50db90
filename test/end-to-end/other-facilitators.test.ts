import { TopicCreateTransaction } from "@hashgraph/sdk";
import { expect } from "vitest";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { creditAbandonedPurchases } from "../../marketplace/payments/purchase.ts";
import { paidTest } from "../support/fixtures.ts";
import { type HttpServer, startHttpServer } from "../support/http-server.ts";
import { operatorVariables } from "../support/ledger-agents.ts";
import { startMarketplace } from "../support/marketplace.ts";
import type { PaidMarket } from "../support/paid-market.ts";
import { perFile } from "../support/part.ts";
import { payQuote, post } from "../support/pay-call.ts";

const test = paidTest().extend("options", perFile, ({ open }) => ({ env: { ...operatorVariables(open) } }));

const nonceUsed = "invalid_exact_evm_nonce_already_used";
const tooLate = "invalid_exact_evm_payload_authorization_valid_before";
const body = { text: "paid once" };

interface Other {
  /** What it says against a payment that it had to settle before. */
  readonly reason?: string;
  /** It is ours, did not even hear of the settlement, and has its record away when that is asked for first. */
  readonly isOurs?: boolean;
}

/**
 * As x402's own: it has no record of payments, and tells of a nonce that was used only that; of a payment that is late, after `expire`, not
 * even that. Its first answer about a settlement is lost.
 */
async function startOther(
  { facilitator }: PaidMarket,
  { reason: first = nonceUsed, isOurs = false }: Other,
): Promise<HttpServer & { expire(): void }> {
  let settled = 0;
  let asked = 0;
  let reason = first;
  const server = await startHttpServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const answer = (status: number, said: unknown) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(said));
    if (request.url?.startsWith("/payments")) {
      asked += 1;
      if (!isOurs) return void answer(404, { error: "Not found" });
      if (asked === 1) return void request.socket.destroy();
    }
    if (request.url === "/settle") settled += 1;
    if (request.url === "/settle" && settled > 1) {
      return void answer(200, { success: false, errorReason: reason, transaction: "", network: "eip155:84532" });
    }
    if (request.url === "/verify" && settled > 0) return void answer(200, { isValid: false, invalidReason: reason });
    if (request.url === "/settle" && isOurs) return void request.socket.destroy();
    const passed = await fetch(facilitator.url + request.url, {
      method: request.method ?? "GET",
      headers: { "content-type": "application/json" },
      ...(request.method === "POST" && { body: Buffer.concat(chunks) }),
    });
    const said = await passed.json();
    if (request.url === "/settle") return void request.socket.destroy();
    answer(passed.status, said);
  });
  const expire = () => {
    reason = tooLate;
  };
  return { ...server, expire };
}

/** A marketplace that settles there. */
async function startThere(paid: PaidMarket, said: Other = {}) {
  const other = await startOther(paid, said);
  const { databaseUrl, environment, model } = paid.marketplace;
  const market = await startMarketplace({ databaseUrl, env: { ...environment, FACILITATOR_URL: other.url }, model });
  return { other, market };
}

const mayHavePaid = { status: 503, body: { error: expect.stringMatching(/do not pay anew/i) } };

/** A payment of a call there, posted three times, once late: answered as one that may have paid, and with no offer; and as one post to ours. */
async function payThere(paid: PaidMarket, address: string, reason = nonceUsed) {
  const { other, market } = await startThere(paid, { reason });
  const url = `${market.url}/api/agent/${address}`;
  const had = (await paid.setting.chain.balances(paid.evmWallet)).usdc ?? 0n;
  const proof = await payQuote(paid, "evm", await post(url, { body }));
  for (let posts = 0; posts < 3; posts += 1) {
    if (posts === 2) other.expire();
    const answer = await post(url, { body, proof });
    expect(answer).toMatchObject(mayHavePaid);
    expect(answer.headers.get("payment-required")).toBeNull();
  }
  expect((await paid.setting.chain.balances(paid.evmWallet)).usdc).toBe(had + 50_000n);
  await market.stop();
  await other.stop();
  return proof;
}

test("a settlement whose answer was lost is not taken for a refusal of a facilitator that does not know it again", async ({
  paid,
}) => {
  const proof = await payThere(paid, paid.address);
  expect(await post(paid.url, { body, proof })).toMatchObject({ status: 200, body: { success: true } });
});

test("nor is it when that says later that the payment comes too late", async ({ paid }) => {
  const proof = await payThere(paid, paid.address, tooLate);
  expect(await post(paid.url, { body, proof })).toMatchObject({ status: 200, body: { success: true } });
});

test("a payment that comes too late is offered anew where the facilitator's record shows that it was never to be settled", async ({
  paid,
}) => {
  const { other, market } = await startThere(paid, { reason: tooLate, isOurs: true });
  const url = `${market.url}/api/agent/${paid.address}`;
  const proof = await payQuote(paid, "evm", await post(url, { body }));
  for (const _ of ["the settlement's answer is lost", "the record cannot be asked"]) {
    expect((await post(url, { body, proof })).status).toBe(503);
  }
  const later = await post(url, { body, proof });
  expect(later.status).toBe(402);
  expect(later.headers.get("payment-required")).not.toBeNull();
  await market.stop();
  await other.stop();
});

test("nor is it for an agent that is paid first, and nothing stays reserved for it", async ({ open, paid }) => {
  const topic = (await open.run(new TopicCreateTransaction())).topicId!.toString();
  const { context, url } = paid.marketplace;
  const { address } = await publishAgent(context, paid.market.creator, "writer", {
    name: "Writer",
    description: "Writes.",
    connector: "hcs-write",
    price_credits: 5,
    fields: [{ name: "text", type: "text", required: true }],
    settings: { network: "hedera:testnet", topic, message: "{{text}}" },
  });
  const proof = await payThere(paid, address);
  const { rows } = await context.db.query("select holder from reservations where until > now()");
  expect(rows).toEqual([]);
  const result = await post(`${url}/api/agent/${address}`, { body, proof });
  expect(result).toMatchObject({ status: 200, body: { success: true } });
});

test("nor is it for credits, whose purchase goes on by itself and is left to its buyer after a day", async ({
  paid,
}) => {
  const { other, market } = await startThere(paid);
  const { context, url } = market;
  const buy = (proof?: object) =>
    post(`${url}/api/v1/credits/purchase`, { key: paid.market.key, body: { credits: 19 }, ...(proof && { proof }) });
  const call = "paid_calls where product like 'credits:%:19'";
  const proof = await payQuote(paid, "evm", await buy());
  expect(await buy(proof)).toMatchObject(mayHavePaid);
  for (const age of ["3 s", "25 hours"]) {
    const past = `now() - interval '${age}'`;
    await context.db.query(`update ${call.replace(" ", ` set created_at = ${past}, updated_at = ${past} `)}`);
    await creditAbandonedPurchases(context)(new AbortController().signal);
    const answer = await buy(proof);
    expect(answer).toMatchObject(mayHavePaid);
    expect(answer.headers.get("payment-required")).toBeNull();
    other.expire();
  }
  const { rows } = await context.db.query(`select proof is null as "isBuyers" from ${call}`);
  expect(rows).toEqual([{ isBuyers: true }]);
  await market.stop();
  await other.stop();
});
