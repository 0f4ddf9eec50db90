import { knownNetworks, networkOf, type Stablecoin } from "../../shared/networks.ts";

/** What a call is paid with on a chain; undefined where nothing can be, also for want of what a wallet must know to sign. */
export function stablecoinOn(network: string): Stablecoin | undefined {
  const coin = networkOf(network)?.stablecoin;
  return network.startsWith("eip155:") && !coin?.domain ? undefined : coin;
}

/** CAIP-2 of every network a call can be paid on. */
export const payableNetworks = knownNetworks.filter((network) => stablecoinOn(network) !== undefined);
