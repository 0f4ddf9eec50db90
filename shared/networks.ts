/**
 * What is known about chains beyond configuration, a row a chain. A chain that has no row is a main network: nobody plays
 * there for play money unless the table or the operator says so.
 * Sources: v1 names, @x402/evm; explorers, viem/chains; tokens, developers.circle.com/stablecoins/usdc-contract-addresses,
 * their EIP-712 domains (where they are certain), @x402/evm.
 */
const main: readonly Row[] = [
  ["hedera:mainnet", "Hedera", "https://hashscan.io/mainnet", ["hedera-mainnet"], { asset: "0.0.456858" }],
  ["eip155:1", "Ethereum", "https://etherscan.io", ["ethereum"], usdCoin("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48")],
  ["eip155:8453", "Base", "https://basescan.org", ["base"], usdCoin("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913")],
  [
    "eip155:137",
    "Polygon",
    "https://polygonscan.com",
    ["polygon"],
    usdCoin("0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359"),
  ],
  [
    "eip155:43114",
    "Avalanche",
    "https://snowtrace.io",
    ["avalanche"],
    usdCoin("0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E"),
  ],
  ["eip155:42161", "Arbitrum One", "https://arbiscan.io", [], usdCoin("0xaf88d065e77c8cC2239327C5EDb3A432268e5831")],
  [
    "eip155:10",
    "OP Mainnet",
    "https://optimistic.etherscan.io",
    [],
    usdCoin("0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85"),
  ],
  // Its USDC is bridged, has 18 decimals and knows no authorizations.
  ["eip155:56", "BNB Smart Chain", "https://bscscan.com", []],
  ["eip155:59144", "Linea", "https://lineascan.build", [], { asset: "0x176211869cA2b568f2A7D4EE941E073a821EE1ff" }],
  ["eip155:42220", "Celo", "https://celoscan.io", [], usdc("0xcebA9300f2b948710d2653dD7B07f33A8B32118C")],
  ["eip155:130", "Unichain", "https://uniscan.xyz", [], usdc("0x078D782b760474a361dDA0AF3839290b0EF57AD6")],
  ["eip155:480", "World Chain", "https://worldscan.org", [], { asset: "0x79A02482A880bCE3F13e09Da970dC34db4CD24d1" }],
  ["eip155:146", "Sonic", "https://sonicscan.org", [], { asset: "0x29219dd400f2Bf60E5a23d13Be72B486D4038894" }],
  [
    "eip155:324",
    "ZKsync Era",
    "https://explorer.zksync.io",
    [],
    { asset: "0x1d17CBcF0D6D143135aE902365D2E5e2A16538D4" },
  ],
  ["eip155:1329", "Sei", "https://seiscan.io", ["sei"], usdc("0xe15fC38F6D8c56aF07bbCBe3BAf5708A2Bf42392")],
  ["eip155:143", "Monad", "https://monadscan.com", ["monad"], usdc("0x754704Bc059F8C67012fEd69BC8A327a5aafb603")],
  ["eip155:50", "XDC", "https://xdcscan.com", [], usdc("0xfA2958CB79b0491CC627c1557F441eF849Ca8eb1")],
  ["eip155:4689", "IoTeX", "https://iotexscan.io", ["iotex"]],
  ["eip155:3338", "peaq", "https://peaq.subscan.io", ["peaq"]],
  ["eip155:1514", "Story", "https://storyscan.io", ["story"]],
  ["eip155:41923", "EDU Chain", "https://explorer.educhain.xyz", ["educhain"]],
  ["eip155:2741", "Abstract", "https://abscan.org", ["abstract"]],
  ["eip155:4326", "MegaETH", "https://mega.etherscan.io", ["megaeth"]],
  ["eip155:988", "Stable", "https://stablescan.xyz", ["stable"]],
];

const test: readonly Row[] = [
  ["hedera:testnet", "Hedera testnet", "https://hashscan.io/testnet", ["hedera-testnet"], { asset: "0.0.429274" }],
  ["hedera:previewnet", "Hedera previewnet", "https://hashscan.io/previewnet", ["hedera-previewnet"]],
  [
    "eip155:11155111",
    "Sepolia",
    "https://sepolia.etherscan.io",
    ["sepolia"],
    usdc("0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238"),
  ],
  [
    "eip155:84532",
    "Base Sepolia",
    "https://sepolia.basescan.org",
    ["base-sepolia"],
    usdc("0x036CbD53842c5426634e7929541eC2318f3dCF7e"),
  ],
  [
    "eip155:80002",
    "Polygon Amoy",
    "https://amoy.polygonscan.com",
    ["polygon-amoy"],
    usdc("0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582"),
  ],
  [
    "eip155:43113",
    "Avalanche Fuji",
    "https://testnet.snowtrace.io",
    ["avalanche-fuji"],
    usdCoin("0x5425890298aed601595a70AB815c96711a31Bc65"),
  ],
  [
    "eip155:421614",
    "Arbitrum Sepolia",
    "https://sepolia.arbiscan.io",
    [],
    usdCoin("0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d"),
  ],
  [
    "eip155:11155420",
    "OP Sepolia",
    "https://optimism-sepolia.blockscout.com",
    [],
    usdc("0x5fd84259d66Cd46123540766Be93DFE6D43130D7"),
  ],
  ["eip155:97", "BNB Smart Chain testnet", "https://testnet.bscscan.com", []],
  [
    "eip155:59141",
    "Linea Sepolia",
    "https://sepolia.lineascan.build",
    [],
    { asset: "0xFEce4462D57bD51A6A552365A011b95f0E16d9B7" },
  ],
  [
    "eip155:11142220",
    "Celo Sepolia",
    "https://celo-sepolia.blockscout.com",
    [],
    usdc("0x01C5C0122039549AD1493B8220cABEdD739BC44E"),
  ],
  [
    "eip155:1301",
    "Unichain Sepolia",
    "https://sepolia.uniscan.xyz",
    [],
    { asset: "0x31d0220469e10c4E71834a79b1f276d740d3768F" },
  ],
  [
    "eip155:4801",
    "World Chain Sepolia",
    "https://sepolia.worldscan.org",
    [],
    { asset: "0x66145f38cBAC35Ca6F1Dfb4914dF98F1614aeA88" },
  ],
  ["eip155:300", "ZKsync Sepolia", "https://sepolia.explorer.zksync.io", []],
  [
    "eip155:1328",
    "Sei testnet",
    "https://testnet.seiscan.io",
    ["sei-testnet"],
    usdc("0x4fCF1784B31630811181f670Aea7A7bEF803eaED"),
  ],
  ["eip155:51", "XDC Apothem", "https://testnet.xdcscan.com", [], usdc("0xb5AB69F7bBada22B28e79C8FFAECe55eF1c771D4")],
  ["eip155:10143", "Monad testnet", "https://testnet.monadexplorer.com", []],
  ["eip155:11124", "Abstract testnet", "https://sepolia.abscan.org", ["abstract-testnet"]],
  ["eip155:324705682", "SKALE Base Sepolia", undefined, ["skale-base-sepolia"]],
  ["eip155:2201", "Stable testnet", "https://testnet.stablescan.xyz", ["stable-testnet"]],
  ["eip155:31337", "a development chain", undefined, []],
];

type Row = readonly [
  network: string,
  name: string,
  explorer: string | undefined,
  v1Names: readonly string[],
  coin?: Stablecoin,
];

export type Environment = "mainnet" | "testnet";

/** What payments are made in on a chain: USDC as Circle issues it, with 6 decimals everywhere. */
export interface Stablecoin {
  /** Token id, or contract address with its checksum. */
  readonly asset: string;
  /** EIP-712 name and version of an EVM token, which a payer must know to sign for it; undefined where they are not certain. */
  readonly domain?: { readonly name: string; readonly version: string };
}

export interface Network {
  /** CAIP-2. */
  readonly id: string;
  readonly name: string;
  readonly environment: Environment;
  /** Where people look transactions up: begins the links. */
  readonly explorer: string | undefined;
  /** What version 1 of the protocol calls it, the usual one first. */
  readonly v1Names: readonly string[];
  readonly stablecoin: Stablecoin | undefined;
}

const networks: ReadonlyMap<string, Network> = new Map(
  [...main.map(networkIn("mainnet")), ...test.map(networkIn("testnet"))].map((network) => [network.id, network]),
);
const idsByV1Name: ReadonlyMap<string, string> = new Map(
  [...networks.values()].flatMap(({ id, v1Names }) => v1Names.map((name) => [name, id])),
);

/** CAIP-2 of every chain of the table. */
export const knownNetworks: readonly string[] = [...networks.keys()];

export function networkOf(id: string): Network | undefined {
  return networks.get(id);
}

/** A chain that nobody has said anything of is a main network. */
export function environmentOf(id: string): Environment {
  return networks.get(id)?.environment ?? "mainnet";
}

/** CAIP-2 for a v1 name; anything else is returned as it is. */
export function toCaip2(network: string): string {
  return idsByV1Name.get(network) ?? network;
}

/** The v1 name of a CAIP-2 network, if it has one. */
export function v1NameOf(id: string): string | undefined {
  return networks.get(id)?.v1Names[0];
}

function networkIn(environment: Environment) {
  return ([id, name, explorer, v1Names, stablecoin]: Row): Network => {
    return { id, name, environment, explorer, v1Names, stablecoin };
  };
}

function usdc(asset: string): Stablecoin {
  return { asset, domain: { name: "USDC", version: "2" } };
}

function usdCoin(asset: string): Stablecoin {
  return { asset, domain: { name: "USD Coin", version: "2" } };
}
