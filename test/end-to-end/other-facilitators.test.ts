import { expect } from "vitest";
import { paidTest } from "../support/fixtures.ts";
import { startHttpServer } from "../support/http-server.ts";
import { startMarketplace } from "../support/marketplace.ts";
import { payQuote, post } from "../support/pay-call.ts";

const test = paidTest();

test("a settlement whose answer was lost is not taken for a refusal of a facilitator that does not know it again", async ({
  paid,
}) => {
  let settled = 0;
  // As x402's own: no record of payments, and of a nonce that was used only that.
  const other = await startHttpServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const answer = (status: number, body: unknown) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (request.url?.startsWith("/payments")) return void answer(404, { error: "Not found" });
    if (request.url === "/settle") settled += 1;
    if (request.url === "/settle" && settled > 1) {
      const errorReason = "invalid_exact_evm_nonce_already_used";
      return void answer(200, { success: false, errorReason, transaction: "", network: "eip155:84532" });
    }
    const passed = await fetch(paid.facilitator.url + request.url, {
      method: request.method ?? "GET",
      headers: { "content-type": "application/json" },
      ...(request.method === "POST" && { body: Buffer.concat(chunks) }),
    });
    const body = await passed.json();
    if (request.url === "/settle") return void request.socket.destroy();
    answer(passed.status, body);
  });
  const { databaseUrl, environment } = paid.marketplace;
  const env = { ...environment, FACILITATOR_URL: other.url };
  const market = await startMarketplace({ databaseUrl, env, model: paid.marketplace.model });
  const url = `${market.url}/api/agent/${paid.address}`;
  const body = { text: "paid once" };
  const had = (await paid.setting.chain.balances(paid.evmWallet)).usdc ?? 0n;
  const proof = await payQuote(paid, "evm", await post(url, { body }));
  for (let posts = 0; posts < 2; posts += 1) {
    const answer = await post(url, { body, proof });
    expect(answer).toMatchObject({ status: 503, body: { error: expect.stringContaining("Do not pay anew") } });
    expect(answer.headers.get("payment-required")).toBeNull();
  }
  expect((await paid.setting.chain.balances(paid.evmWallet)).usdc).toBe(had + 50_000n);
  // Ours knows it.
  expect(await post(paid.url, { body, proof })).toMatchObject({ status: 200, body: { success: true } });
  await market.stop();
  await other.stop();
});
