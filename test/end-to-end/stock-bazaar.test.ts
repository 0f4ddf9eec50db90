import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { HTTPFacilitatorClient, x402ResourceServer } from "@x402/core/server";
import { ExactEvmScheme as ClientScheme } from "@x402/evm/exact/client";
import { ExactEvmScheme as ServerScheme } from "@x402/evm/exact/server";
import { paymentMiddleware } from "@x402/express";
import { bazaarResourceServerExtension, declareDiscoveryExtension, withBazaar } from "@x402/extensions/bazaar";
import { wrapFetchWithPaymentFromConfig } from "@x402/fetch";
import express from "express";
import { expect } from "vitest";
import { evmTest } from "../support/fixtures.ts";

const test = evmTest({ FACILITATOR_DISCOVERY_LOCALHOST: "true" });

test("a stock server's route, paid for by a stock buyer, is found by a stock client under its template", async ({
  facilitator,
  setting,
}) => {
  const client = new HTTPFacilitatorClient({ url: facilitator.url });
  const price = { amount: "10000", asset: setting.chain.usdc, extra: { name: "USDC", version: "2" } };
  const accepts = { scheme: "exact", network: "eip155:84532", payTo: setting.terms.payTo, price } as const;
  const extensions = declareDiscoveryExtension({
    inputSchema: { properties: { units: { type: "string" } } },
    input: { units: "metric" },
    output: { example: { weather: "sunny" } },
  });
  const resourceServer = new x402ResourceServer(client)
    .register("eip155:84532", new ServerScheme())
    .registerExtension(bazaarResourceServerExtension);
  const app = express();
  const route = { accepts, description: "Weather by city", mimeType: "application/json", extensions };
  app.use(paymentMiddleware({ "GET /weather/:city": route }, resourceServer));
  app.get("/weather/:city", (_request, response) => {
    response.json({ weather: "sunny" });
  });
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const payingFetch = wrapFetchWithPaymentFromConfig(fetch, {
      schemes: [{ network: "eip155:84532", client: new ClientScheme(await setting.fundedBuyer()) }],
      spendControls: { allowedAssets: [{ network: "eip155:84532", asset: setting.chain.usdc }] },
    });
    expect((await payingFetch(`${origin}/weather/paris?units=metric`)).status).toBe(200);

    const { bazaar } = withBazaar(client).extensions;
    const find = async () => (await bazaar.search({ query: "what is the weather in a city" })).resources;
    await expect.poll(find).toHaveLength(1);
    const { items } = await bazaar.listResources({ network: "eip155:84532", payTo: setting.terms.payTo });
    expect(items).toEqual(await find());
    expect(items[0]).toMatchObject({
      resource: `${origin}/weather/:city`,
      type: "http",
      description: "Weather by city",
      accepts: [{ scheme: "exact", amount: "10000", payTo: setting.terms.payTo }],
      extensions: {
        bazaar: { routeTemplate: "/weather/:city", info: { input: { method: "GET", pathParams: { city: "paris" } } } },
      },
    });
  } finally {
    server.close();
  }
});
