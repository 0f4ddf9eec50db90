import { networkOf } from "../shared/networks.ts";
import { hostProblem } from "../shared/public-address.ts";
import type { Config } from "./config.ts";

/** Where a person can look a transaction up; null on a network without a public explorer, or not served any more. */
export function explorerUrl({ evm, hedera }: Explorers, network: string, transaction: string | null): string | null {
  const base = [...evm, ...hedera].find((served) => served.network === network)?.explorer;
  if (!transaction || base === undefined) return null;
  return network.startsWith("hedera:") ? `${base}/transaction/${transaction}` : `${base}/tx/${transaction}`;
}

export type Explorers = Pick<Config, "evm" | "hedera">;

/** The explorer of a public network; none when the network's endpoint is on this machine or a private network. */
export function explorerOf(network: string, endpoint: string): string | undefined {
  if (!URL.canParse(endpoint) || hostProblem(new URL(endpoint).hostname) !== undefined) return undefined;
  return networkOf(network)?.explorer;
}
