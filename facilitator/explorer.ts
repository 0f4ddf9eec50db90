/** Where a person can look a transaction up; null where no explorer of the network is known. */
export function explorerUrl(network: string, transaction: string | null): string | null {
  if (!transaction) return null;
  const [family, reference = ""] = network.split(":");
  if (family === "hedera") return `https://hashscan.io/${reference}/transaction/${transaction}`;
  const base = evmExplorers[reference];
  return family === "eip155" && base !== undefined ? `${base}/tx/${transaction}` : null;
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
