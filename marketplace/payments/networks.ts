/** What a call is paid with on each chain: native USDC, with what a wallet must know to sign for it. */
const stablecoins: Readonly<Record<string, Stablecoin>> = {
  "hedera:mainnet": { asset: "0.0.456858" },
  "hedera:testnet": { asset: "0.0.429274" },
  "eip155:1": { asset: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", domain: { name: "USD Coin", version: "2" } },
  "eip155:8453": { asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", domain: { name: "USD Coin", version: "2" } },
  "eip155:84532": { asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e", domain: { name: "USDC", version: "2" } },
  "eip155:137": { asset: "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359", domain: { name: "USD Coin", version: "2" } },
  "eip155:43114": { asset: "0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E", domain: { name: "USD Coin", version: "2" } },
};

export interface Stablecoin {
  /** Token id or contract address; 6 decimals everywhere. */
  readonly asset: string;
  /** EIP-712 name and version of an EVM token. */
  readonly domain?: { readonly name: string; readonly version: string };
}

/** CAIP-2 of every network a call can be paid on. */
export const networkIds = Object.keys(stablecoins);

export function stablecoinOn(network: string): Stablecoin | undefined {
  return stablecoins[network];
}

/** CAIP-2 for the names that version 1 clients use on the networks above; anything else as it is. */
export function toCaip2(network: string): string {
  return v1Names[network] ?? network;
}

/** The version 1 name of a network above, if it has one. */
export function v1NameOf(network: string): string | undefined {
  return Object.keys(v1Names).find((name) => v1Names[name] === network);
}

const v1Names: Readonly<Record<string, string>> = {
  ethereum: "eip155:1",
  base: "eip155:8453",
  "base-sepolia": "eip155:84532",
  polygon: "eip155:137",
  avalanche: "eip155:43114",
  "hedera-mainnet": "hedera:mainnet",
  "hedera-testnet": "hedera:testnet",
};
