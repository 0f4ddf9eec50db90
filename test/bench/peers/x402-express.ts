import { HTTPFacilitatorClient } from "@x402/core/server";
import type { PaymentRequirements, SchemeNetworkServer } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/server";
import { paymentMiddlewareFromConfig } from "@x402/express";
import express from "express";

/**
 * The official SDK's paywall before a route that answers at once, as its own examples set it up. It keeps no record of
 * any kind. The SDK at hand has no Hedera scheme for servers; the one here adds what the facilitator says of it.
 */
const accepts = JSON.parse(process.env.PEER_ACCEPTS as string) as PaymentRequirements[];

const hederaScheme: SchemeNetworkServer = {
  scheme: "exact",
  defaultAssetTransferMethod: "default",
  paymentFlows: { default: { supported: ["authorization"], default: "authorization" } },
  parsePrice: async (price) => price as { asset: string; amount: string },
  enhancePaymentRequirements: async (requirements, { extra }) => ({ ...requirements, extra: { ...extra } }),
};

const app = express();
app.use(
  paymentMiddlewareFromConfig(
    {
      "POST /call": {
        accepts: accepts.map(({ network, amount, asset, payTo, maxTimeoutSeconds, extra }) => {
          return { scheme: "exact", network, payTo, maxTimeoutSeconds, price: { amount, asset, extra } };
        }),
        description: "Answers at once.",
        mimeType: "application/json",
      },
    },
    new HTTPFacilitatorClient({ url: process.env.PEER_FACILITATOR as string }),
    [
      { network: "eip155:84532", server: new ExactEvmScheme() },
      { network: "hedera:testnet", server: hederaScheme },
    ],
  ),
);
app.post("/call", express.json(), (_request, response) => void response.json({ success: true, output: "at once" }));
app.get("/health", (_request, response) => void response.json({}));
app.listen(Number(process.env.PEER_PORT), "127.0.0.1");
process.once("SIGTERM", () => process.exit(0));
