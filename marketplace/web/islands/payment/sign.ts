import type { Requirements } from "../../../../client/payments/quote.ts";
import type { Provider, Wallet } from "../wallet/providers.ts";
import { signEvm } from "./sign-evm.ts";
import { hederaAccount, signHedera } from "./sign-hedera.ts";

/** What a wallet signed. */
export interface Signed {
  /** `payload` of the payment. */
  readonly payload: object;
  /** The query by which `GET /api/payments` tells how the payment goes. */
  readonly asked: Readonly<Record<string, string>>;
  /** From then on it can no longer land; milliseconds. */
  readonly endsAt: number;
  /** What was signed and by which account, where the rest does not say: a transaction's body in base64. */
  readonly signed?: SignedBody;
}

export interface SignedBody {
  readonly by: string;
  readonly body: string;
}

/** Whether the wallet can be asked to sign for this network. */
export async function canSignFor({ provider, networks }: Wallet, network: string): Promise<boolean> {
  if (networks) return networks.includes(network);
  if (network.startsWith("eip155:")) return true;
  return (await hederaAccount(provider, network)) !== undefined;
}

export function sign(provider: Provider, accepted: Requirements, at: Date): Promise<Signed> {
  return accepted.network.startsWith("eip155:") ? signEvm(provider, accepted, at) : signHedera(provider, accepted, at);
}
