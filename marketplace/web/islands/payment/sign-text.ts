import { accountOf, type Provider, signText, type Wallet } from "../wallet/providers.ts";
import { connectHedera } from "./sign-hedera.ts";

/** The signature of a text by this account of the wallet. Throws what its holder is to do where the wallet shows other accounts. */
export function signTextAs(wallet: Wallet, network: string, address: string, text: string): Promise<string> {
  return network.startsWith("hedera:")
    ? signOnHedera(wallet, network, address, text)
    : signOnEvm(wallet.provider, address, text);
}

async function signOnEvm(provider: Provider, address: string, message: string): Promise<string> {
  const account = await accountOf(provider);
  if (account.toLowerCase() !== address.toLowerCase()) {
    throw new Error(`The wallet shows ${account}. Choose the account ${address} in it, or add that one instead.`);
  }
  return signText(provider, account, message);
}

/** HIP-820's way, for wallets that have it. */
async function signOnHedera(wallet: Wallet, network: string, address: string, message: string): Promise<string> {
  const accounts = await connectHedera(wallet, network);
  if (accounts.length > 0 && !accounts.includes(address)) {
    throw new Error(
      `The wallet shows ${accounts.join(", ")}. Choose the account ${address} in it, or add that one instead.`,
    );
  }
  const asked = { signerAccountId: `${network}:${address}`, message };
  const answer = (await wallet.provider.request({ method: "hedera_signMessage", params: [asked] })) as {
    signatureMap?: string;
  };
  if (!answer?.signatureMap) throw new Error("The wallet gave no signature. Sign the text elsewhere and paste it.");
  return answer.signatureMap;
}
