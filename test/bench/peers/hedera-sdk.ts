import { AccountId, Client, PrivateKey, PublicKey, Transaction, type TransferTransaction } from "@hashgraph/sdk";
import express from "express";

/**
 * What a facilitator built on the SDK does: fromBytes and verify for /verify; those, sign, execute and getReceipt for
 * /settle. It is spared every other check, all mirror reads and all records.
 */
const nodes = JSON.parse(process.env.PEER_NODES as string) as Record<string, string>;
const client = Client.forNetwork(
  Object.fromEntries(Object.entries(nodes).map(([address, node]) => [address, AccountId.fromString(node)])),
);
if (process.env.PEER_MIN_BACKOFF_MS) client.setMinBackoff(Number(process.env.PEER_MIN_BACKOFF_MS));
const feePayerKey = PrivateKey.fromStringDer(process.env.PEER_FEE_PAYER_KEY as string);
const payerKey = PublicKey.fromStringED25519(process.env.PEER_PAYER_PUBLIC_KEY as string);

const read = (body: { paymentPayload: { payload: { transaction: string } } }) =>
  Transaction.fromBytes(Buffer.from(body.paymentPayload.payload.transaction, "base64")) as TransferTransaction;

const app = express();
app.use(express.json());
app.post("/verify", (request, response) => {
  response.json({ isValid: payerKey.verifyTransaction(read(request.body)) });
});
app.post("/settle", async (request, response) => {
  const transaction = read(request.body);
  if (!payerKey.verifyTransaction(transaction)) return void response.json({ success: false });
  const sent = await (await transaction.sign(feePayerKey)).execute(client);
  const receipt = await sent.getReceipt(client);
  response.json({ success: receipt.status.toString() === "SUCCESS", transaction: sent.transactionId.toString() });
});
app.get("/supported", (_request, response) => void response.json({}));
app.listen(Number(process.env.PEER_PORT), "127.0.0.1");
process.once("SIGTERM", () => process.exit(0));
