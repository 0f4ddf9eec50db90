/** What is known about chains beyond configuration: x402 v1 names, stablecoins. */

/** v1 network names of the reference SDK, by chain id. */
const evmNames: Readonly<Record<string, number>> = {
  ethereum: 1,
  sepolia: 11155111,
  base: 8453,
  "base-sepolia": 84532,
  avalanche: 43114,
  "avalanche-fuji": 43113,
  polygon: 137,
  "polygon-amoy": 80002,
  iotex: 4689,
  sei: 1329,
  "sei-testnet": 1328,
  peaq: 3338,
  story: 1514,
  educhain: 41923,
  abstract: 2741,
  "abstract-testnet": 11124,
  "skale-base-sepolia": 324705682,
  megaeth: 4326,
  monad: 143,
  stable: 988,
  "stable-testnet": 2201,
};

const namesToCaip2: ReadonlyMap<string, string> = new Map([
  ...Object.entries(evmNames).map(([name, chainId]) => [name, `eip155:${chainId}`] as const),
  ["hedera-mainnet", "hedera:mainnet"],
  ["hedera-testnet", "hedera:testnet"],
  ["hedera-previewnet", "hedera:previewnet"],
]);

/** CAIP-2 for a v1 name; anything else is returned as it is. */
export function toCaip2(network: string): string {
  return namesToCaip2.get(network) ?? network;
}

/** The v1 name of a CAIP-2 network, if it has one. */
export function v1NameOf(network: string): string | undefined {
  for (const [name, caip2] of namesToCaip2) if (caip2 === network) return name;
  return undefined;
}

const mainnetChainIds = new Set([1, 8453, 43114, 137, 4689, 1329, 3338, 1514, 41923, 2741, 4326, 143, 988]);

export function environmentOf(network: string): "mainnet" | "testnet" {
  const [family, reference] = network.split(":");
  const mainnet = family === "eip155" ? mainnetChainIds.has(Number(reference)) : reference === "mainnet";
  return mainnet ? "mainnet" : "testnet";
}

/** Native USDC where Circle publishes one; the default of what may be paid with. */
export const usdcByNetwork: Readonly<Record<string, string>> = {
  "eip155:1": "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
  "eip155:11155111": "0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238",
  "eip155:8453": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
  "eip155:84532": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
  "eip155:43114": "0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E",
  "eip155:43113": "0x5425890298aed601595a70AB815c96711a31Bc65",
  "eip155:137": "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359",
  "eip155:80002": "0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582",
  "hedera:mainnet": "0.0.456858",
  "hedera:testnet": "0.0.429274",
};
