import { fromBase64, toBase64 } from "../../../../client/base64.ts";
import {
  hederaNodes,
  hederaTransfer,
  transactionId,
  transactionList,
  transferBody,
} from "../../../../client/payments/hedera-transfer.ts";
import type { Requirements } from "../../../../client/payments/quote.ts";
import type { Provider } from "../wallet/providers.ts";
import type { Signed } from "./sign.ts";

/** The wallet's account on this network; undefined for a wallet that signs for none there. */
export async function hederaAccount(provider: Provider, network: string): Promise<string | undefined> {
  const accounts = await provider.request({ method: "hedera_accounts" }).catch(() => []);
  if (!Array.isArray(accounts)) return undefined;
  const account = accounts.map(String).find((one) => one.startsWith(`${network}:`));
  return account?.slice(network.length + 1);
}

/**
 * Has the wallet sign a transfer of exactly this amount to this creator, on an id of the facilitator's account, which pays the
 * network's fee. A wallet signs one body, so the transaction goes to one node.
 */
export async function signHedera(provider: Provider, accepted: Requirements, at: Date): Promise<Signed> {
  const payer = await hederaAccount(provider, accepted.network);
  if (payer === undefined) throw new Error("This wallet has no account on that network.");
  const transfer = hederaTransfer(accepted, payer, at);
  const body = transferBody(transfer, hederaNodes[Math.floor(Math.random() * hederaNodes.length)]!);
  const { signatureMap } = (await provider.request({
    method: "hedera_signTransaction",
    params: [{ signerAccountId: `${accepted.network}:${payer}`, transactionBody: toBase64(body) }],
  })) as { signatureMap: string };
  return {
    payload: { transaction: toBase64(transactionList([{ body, signatures: fromBase64(signatureMap) }])) },
    asked: { network: accepted.network, transaction: transactionId(transfer) },
    endsAt: Number(transfer.seconds + transfer.duration) * 1_000,
  };
}
