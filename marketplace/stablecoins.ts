import type { Stablecoin } from "../shared/network-table.ts";
import { knownNetworks, networkOf } from "../shared/networks.ts";

/** What a call is paid with on a chain; undefined where it cannot be paid, also when the data a wallet signs with is missing. */
export function stablecoinOn(network: string): Stablecoin | undefined {
  const coin = networkOf(network)?.stablecoins[0];
  return network.startsWith("eip155:") && !coin?.domain ? undefined : coin;
}

/** Circle's, for USDC on test networks: developers.circle.com/w3s/developer-console-faucet. */
export const faucet = "https://faucet.circle.com";

/** CAIP-2 of every network a call can be paid on. */
export const payableNetworks = knownNetworks.filter((network) => stablecoinOn(network) !== undefined);
