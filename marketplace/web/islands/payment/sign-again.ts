import { fromBase64 } from "../../../../client/base64.ts";
import { encodeHeader } from "../../../../client/payments/quote.ts";
import type { Wallet } from "../wallet/providers.ts";
import type { KeptPayment } from "./kept.ts";
import { signEvm } from "./sign-evm.ts";
import { connectHedera, signBody } from "./sign-hedera.ts";
import { OtherAccountError } from "./sign-text.ts";
import { signerOf, type UnsignedPayment } from "./unsigned.ts";

/** Has the wallet that paid sign the same payment again, which is charged once. Throws OtherAccountError where it has another account. */
export async function signAgain(wallet: Wallet, unsigned: UnsignedPayment): Promise<KeptPayment> {
  const { resource, accepted, authorization, ...kept } = unsigned;
  const payload = authorization ? await signEvmAgain(wallet, unsigned) : await signHederaAgain(wallet, unsigned);
  return { ...kept, isSignedAgain: true, header: encodeHeader({ x402Version: 2, resource, accepted, payload }) };
}

async function signEvmAgain({ provider }: Wallet, unsigned: UnsignedPayment) {
  const { accepted, authorization } = unsigned;
  const accounts = (await provider.request({ method: "eth_requestAccounts" })) as readonly string[] | null;
  // The case of an EVM address says nothing.
  const signer = signerOf(unsigned).toLowerCase();
  if (!accounts?.some((one) => one.toLowerCase() === signer)) throw new OtherAccountError();
  return (await signEvm(provider, accepted, new Date(), authorization)).payload;
}

async function signHederaAgain(wallet: Wallet, unsigned: UnsignedPayment) {
  const { network } = unsigned.accepted;
  const signer = signerOf(unsigned);
  const accounts = await connectHedera(wallet, network);
  if (!accounts.includes(signer)) throw new OtherAccountError();
  return {
    transaction: await signBody(wallet.provider, `${network}:${signer}`, fromBase64(unsigned.signed?.body ?? "")),
  };
}
