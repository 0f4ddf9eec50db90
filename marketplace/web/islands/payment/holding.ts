import type { Provider } from "../wallet/providers.ts";
import { hederaAccount } from "./sign-hedera.ts";

/** What the wallet shows this page without asking its holder. */
export interface Holding {
  readonly account: string;
  /** Base units of the stablecoin; undefined where the wallet does not tell. */
  readonly units: bigint | undefined;
}

/** Undefined for a wallet that has not been connected to this page yet. */
export async function holdingOf(provider: Provider, network: string, asset: string): Promise<Holding | undefined> {
  if (!network.startsWith("eip155:")) {
    const account = await hederaAccount(provider, network);
    return account === undefined ? undefined : { account, units: undefined };
  }
  const accounts = (await provider.request({ method: "eth_accounts" }).catch(() => [])) as readonly string[] | null;
  const account = accounts?.[0];
  if (!account) return undefined;
  return { account, units: await unitsOf(provider, { network, asset, account }).catch(() => undefined) };
}

/** By ERC-20's balanceOf(address), asked of the wallet's own node: the page itself reaches no chain. */
async function unitsOf(provider: Provider, { network, asset, account }: Asked): Promise<bigint | undefined> {
  // A wallet answers for the chain that it is on.
  const chainId = Number(await provider.request({ method: "eth_chainId" }));
  if (network !== `eip155:${chainId}`) return undefined;
  const data = `0x70a08231${account.slice(2).toLowerCase().padStart(64, "0")}`;
  const answer = await provider.request({ method: "eth_call", params: [{ to: asset, data }, "latest"] });
  return typeof answer === "string" && /^0x[0-9a-f]{1,64}$/i.test(answer) ? BigInt(answer) : undefined;
}

interface Asked {
  readonly network: string;
  readonly asset: string;
  readonly account: string;
}
