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
  const [family, reference = ""] = network.split(":");
  return family === "hedera" ? `https://hashscan.io/${reference}` : evmExplorers[reference];
}

const evmExplorers: Readonly<Record<string, string>> = {
  1: "https://etherscan.io",
  11155111: "https://sepolia.etherscan.io",
  8453: "https://basescan.org",
  84532: "https://sepolia.basescan.org",
  43114: "https://snowtrace.io",
  43113: "https://testnet.snowtrace.io",
  137: "https://polygonscan.com",
  80002: "https://amoy.polygonscan.com",
  4689: "https://iotexscan.io",
  1329: "https://seiscan.io",
  1328: "https://testnet.seiscan.io",
  3338: "https://peaq.subscan.io",
  1514: "https://storyscan.io",
  2741: "https://abscan.org",
  11124: "https://sepolia.abscan.org",
};
