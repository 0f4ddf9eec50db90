import { type Provider, signText, type Wallet } from "../wallet/providers.ts";
import { connectHedera } from "./sign-hedera.ts";

/** The wallet shows other accounts than the one that is to sign; its message names them. */
export class OtherAccountError extends Error {}

/** The signature of a text by this account of the wallet. Throws OtherAccountError where the wallet shows others. */
export function signTextAs(wallet: Wallet, network: string, address: string, text: string): Promise<string> {
  return network.startsWith("hedera:")
    ? signOnHedera(wallet, network, address, text)
    : signOnEvm(wallet.provider, address, text);
}

async function signOnEvm(provider: Provider, address: string, text: string): Promise<string> {
  const accounts = ((await provider.request({ method: "eth_requestAccounts" })) ?? []) as readonly string[];
  // The case of an EVM address says nothing.
  const account = accounts.find((one) => one.toLowerCase() === address.toLowerCase());
  if (!account) throw new OtherAccountError(accounts.join(", "));
  return signText(provider, account, text);
}

/** HIP-820's way, for wallets that have it. */
async function signOnHedera(wallet: Wallet, network: string, address: string, text: string): Promise<string> {
  const accounts = await connectHedera(wallet, network);
  if (accounts.length > 0 && !accounts.includes(address)) throw new OtherAccountError(accounts.join(", "));
  const asked = { signerAccountId: `${network}:${address}`, message: text };
  const answer = (await wallet.provider.request({ method: "hedera_signMessage", params: [asked] })) as {
    signatureMap?: string;
  };
  if (!answer?.signatureMap) throw new Error("The wallet gave no signature.");
  return answer.signatureMap;
}
