import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { HTTPFacilitatorClient } from "@x402/core/server";
import { ExactEvmScheme as ClientScheme } from "@x402/evm/exact/client";
import { ExactEvmScheme as ServerScheme } from "@x402/evm/exact/server";
import { paymentMiddlewareFromConfig } from "@x402/express";
import { wrapFetchWithPaymentFromConfig } from "@x402/fetch";
import express from "express";
import { expect } from "vitest";
import { evmTest } from "../support/fixtures.ts";

const test = evmTest();

test("somebody else's Express server takes payments through the facilitator with the stock middleware and client", async ({
  setting,
  facilitator,
}) => {
  const app = express();
  const price = { amount: "10000", asset: setting.chain.usdc, extra: { name: "USDC", version: "2" } };
  const accepts = { scheme: "exact", network: "eip155:84532", payTo: setting.terms.payTo, price } as const;
  app.use(
    paymentMiddlewareFromConfig(
      { "GET /weather": { accepts, description: "Weather", mimeType: "application/json" } },
      new HTTPFacilitatorClient({ url: facilitator.url }),
      [{ network: "eip155:84532", server: new ServerScheme() }],
    ),
  );
  app.get("/weather", (_request, response) => {
    response.json({ weather: "sunny" });
  });
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/weather`;
  try {
    expect((await fetch(url)).status).toBe(402);
    const payingFetch = wrapFetchWithPaymentFromConfig(fetch, {
      schemes: [{ network: "eip155:84532", client: new ClientScheme(await setting.fundedBuyer()) }],
      spendControls: { allowedAssets: [{ network: "eip155:84532", asset: setting.chain.usdc }] },
    });
    const response = await payingFetch(url);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ weather: "sunny" });
    const settlement = JSON.parse(Buffer.from(response.headers.get("payment-response") ?? "", "base64").toString());
    expect(settlement).toMatchObject({
      success: true,
      network: "eip155:84532",
      transaction: expect.stringMatching(/^0x/),
    });
  } finally {
    server.close();
  }
});
