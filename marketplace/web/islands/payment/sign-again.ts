import { fromBase64 } from "../../../../client/base64.ts";
import { encodeHeader } from "../../../../client/payments/quote.ts";
import { accountOf, type Wallet } from "../wallet/providers.ts";
import type { KeptPayment } from "./kept.ts";
import { signAuthorization, useChain } from "./sign-evm.ts";
import { connectHedera, signBody } from "./sign-hedera.ts";
import type { UnsignedPayment } from "./unsigned.ts";

/** Another account than the one that paid is connected. */
export class OtherAccountError extends Error {}

/** Has the wallet that paid sign the same payment again, which is charged once. Throws OtherAccountError where it has another account. */
export async function signAgain(wallet: Wallet, unsigned: UnsignedPayment): Promise<KeptPayment> {
  const { resource, accepted, authorization, ...kept } = unsigned;
  const payload = authorization ? await signEvmAgain(wallet, unsigned) : await signHederaAgain(wallet, unsigned);
  return { ...kept, header: encodeHeader({ x402Version: 2, resource, accepted, payload }) };
}

async function signEvmAgain({ provider }: Wallet, { accepted, authorization, signer }: UnsignedPayment) {
  await accountOf(provider);
  await useChain(provider, accepted);
  const accounts = (await provider.request({ method: "eth_requestAccounts" })) as readonly string[] | null;
  // The case of an EVM address says nothing.
  if (!accounts?.some((one) => one.toLowerCase() === signer.toLowerCase())) throw new OtherAccountError();
  return { signature: await signAuthorization(provider, accepted, authorization!), authorization };
}

async function signHederaAgain(wallet: Wallet, { accepted: { network }, signer, bytes = "" }: UnsignedPayment) {
  const accounts = await connectHedera(wallet, network);
  if (!accounts.includes(signer)) throw new OtherAccountError();
  return { transaction: await signBody(wallet.provider, `${network}:${signer}`, fromBase64(bytes)) };
}
