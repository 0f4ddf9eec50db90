import { fromBase64, toBase64 } from "../../../../client/base64.ts";
import {
  hederaNodes,
  hederaTransfer,
  transactionId,
  transactionList,
  transferBody,
} from "../../../../client/payments/hedera-transfer.ts";
import type { Requirements } from "../../../../client/payments/quote.ts";
import type { Provider, Wallet } from "../wallet/providers.ts";
import type { Signed } from "./sign.ts";

/** The wallet's account on this network; undefined for a wallet that signs for none there. */
export async function hederaAccount(provider: Provider, network: string): Promise<string | undefined> {
  const [account] = await hederaAccounts(provider, network);
  return account;
}

async function hederaAccounts(provider: Provider, network: string): Promise<readonly string[]> {
  const accounts = await provider.request({ method: "hedera_accounts" }).catch(() => []);
  if (!Array.isArray(accounts)) return [];
  return accounts.map(String).flatMap((one) => (one.startsWith(`${network}:`) ? [one.slice(network.length + 1)] : []));
}

/** All of them. A wallet that shows its accounts only when it is connected is asked to connect; throws where its holder does not. */
export async function connectHedera({ provider, networks }: Wallet, network: string): Promise<readonly string[]> {
  const known = await hederaAccounts(provider, network);
  if (known.length > 0 || !networks?.includes(network)) return known;
  await provider.request({ method: "hedera_requestAccounts", params: [network] });
  return hederaAccounts(provider, network);
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
  return {
    payload: { transaction: await signBody(provider, `${accepted.network}:${payer}`, body) },
    asked: { network: accepted.network, transaction: transactionId(transfer) },
    endsAt: Number(transfer.seconds + transfer.duration) * 1_000,
    signed: { by: payer, body: toBase64(body) },
  };
}

/** The transaction in base64, with the signature of this account (CAIP-10). */
export async function signBody(
  provider: Provider,
  signerAccountId: string,
  body: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const params = [{ signerAccountId, transactionBody: toBase64(body) }];
  const answer = (await provider.request({ method: "hedera_signTransaction", params })) as { signatureMap?: unknown };
  return toBase64(transactionList([{ body, signatures: fromSignatureMap(answer?.signatureMap) }]));
}

function fromSignatureMap(text: unknown): Uint8Array {
  try {
    if (text) return fromBase64(String(text));
  } catch {
    // Told below.
  }
  throw new Error("The wallet answered without a signature.");
}
