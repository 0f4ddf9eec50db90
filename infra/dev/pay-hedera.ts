import { AccountId, PrivateKey, TransactionId, TransferTransaction } from "@hashgraph/sdk";
import type { PaymentRequirements } from "../../shared/x402.ts";

/**
 * The buyer's side of a Hedera payment: a transfer signed by the buyer alone, on an id of the facilitator's account
 * named in the quote, which pays the fee. `nodes` are the node accounts it may be sent to. `privateKey` is DER, hex.
 */
export async function signHederaPayment(
  entry: PaymentRequirements,
  buyer: { accountId: string; privateKey: string },
  nodes: readonly string[],
): Promise<object> {
  const { feePayer } = entry.extra as { feePayer: string };
  const amount = Number(entry.amount);
  const transaction = new TransferTransaction()
    .addTokenTransfer(entry.asset, buyer.accountId, -amount)
    .addTokenTransfer(entry.asset, entry.payTo, amount)
    .setTransactionId(TransactionId.generate(feePayer))
    .setNodeAccountIds(nodes.slice(0, 3).map((node) => AccountId.fromString(node)))
    .setTransactionValidDuration(Math.min(180, entry.maxTimeoutSeconds))
    .freeze();
  const signed = await transaction.sign(PrivateKey.fromStringDer(buyer.privateKey));
  return { transaction: Buffer.from(signed.toBytes()).toString("base64") };
}
