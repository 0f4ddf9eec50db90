import { x402Facilitator } from "@x402/core/facilitator";
import { toFacilitatorEvmSigner } from "@x402/evm";
import { ExactEvmScheme } from "@x402/evm/exact/facilitator";
import express from "express";
import { createWalletClient, http, nonceManager, publicActions } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { baseSepolia } from "viem/chains";

/** The official SDK's facilitator behind Express, as its own examples set it up, with viem's nonce manager. */
const account = privateKeyToAccount(process.env.PEER_SIGNER as `0x${string}`, { nonceManager });
const wallet = createWalletClient({
  account,
  chain: baseSepolia,
  transport: http(process.env.PEER_RPC_URL),
  pollingInterval: 20,
}).extend(publicActions);
// biome-ignore lint/suspicious/noExplicitAny: the SDK's own viem types are of another copy
const signer = toFacilitatorEvmSigner(wallet as any);
const facilitator = new x402Facilitator().register("eip155:84532", new ExactEvmScheme(signer));

const app = express();
app.use(express.json());
app.post("/verify", async (request, response) => {
  response.json(await facilitator.verify(request.body.paymentPayload, request.body.paymentRequirements));
});
app.post("/settle", async (request, response) => {
  response.json(await facilitator.settle(request.body.paymentPayload, request.body.paymentRequirements));
});
app.get("/supported", (_request, response) => {
  response.json(facilitator.getSupported());
});
app.listen(Number(process.env.PEER_PORT), "127.0.0.1");
process.once("SIGTERM", () => process.exit(0));
