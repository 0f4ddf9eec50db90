/**
 * What is known about chains beyond configuration, a row a chain. A chain that has no row is a main network: its
 * money is taken for real unless the table or the operator says otherwise.
 * Sources: v1 names, @x402/evm; explorers and what fees are paid in, viem/chains; tokens, developers.circle.com/stablecoins/usdc-contract-addresses,
 * their EIP-712 domains (where they are certain), @x402/evm.
 */
export const mainNetworks: readonly NetworkRow[] = [
  {
    id: "hedera:mainnet",
    name: "Hedera",
    explorer: "https://hashscan.io/mainnet",
    v1Names: ["hedera-mainnet"],
    confirmations: 1,
    gasToken: "HBAR",
    stablecoins: [usdcOf("0.0.456858")],
  },
  {
    id: "eip155:1",
    name: "Ethereum",
    explorer: "https://etherscan.io",
    v1Names: ["ethereum"],
    confirmations: 1,
    stablecoins: [usdCoin("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48")],
  },
  {
    id: "eip155:8453",
    name: "Base",
    explorer: "https://basescan.org",
    v1Names: ["base"],
    confirmations: 1,
    stablecoins: [usdCoin("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913")],
  },
  {
    id: "eip155:137",
    name: "Polygon",
    explorer: "https://polygonscan.com",
    v1Names: ["polygon"],
    confirmations: 1,
    gasToken: "POL",
    stablecoins: [usdCoin("0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359")],
  },
  {
    id: "eip155:43114",
    name: "Avalanche",
    explorer: "https://snowtrace.io",
    v1Names: ["avalanche"],
    confirmations: 1,
    gasToken: "AVAX",
    stablecoins: [usdCoin("0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E")],
  },
  {
    id: "eip155:42161",
    name: "Arbitrum One",
    explorer: "https://arbiscan.io",
    v1Names: [],
    confirmations: 1,
    stablecoins: [usdCoin("0xaf88d065e77c8cC2239327C5EDb3A432268e5831")],
  },
  {
    id: "eip155:10",
    name: "OP Mainnet",
    explorer: "https://optimistic.etherscan.io",
    v1Names: [],
    confirmations: 1,
    stablecoins: [usdCoin("0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85")],
  },
  // Its USDC is bridged, has 18 decimals and knows no authorizations.
  {
    id: "eip155:56",
    name: "BNB Smart Chain",
    explorer: "https://bscscan.com",
    v1Names: [],
    confirmations: 1,
    gasToken: "BNB",
    stablecoins: [],
  },
  {
    id: "eip155:59144",
    name: "Linea",
    explorer: "https://lineascan.build",
    v1Names: [],
    confirmations: 1,
    stablecoins: [usdcOf("0x176211869cA2b568f2A7D4EE941E073a821EE1ff")],
  },
  {
    id: "eip155:42220",
    name: "Celo",
    explorer: "https://celoscan.io",
    v1Names: [],
    confirmations: 1,
    gasToken: "CELO",
    stablecoins: [usdc("0xcebA9300f2b948710d2653dD7B07f33A8B32118C")],
  },
  {
    id: "eip155:130",
    name: "Unichain",
    explorer: "https://uniscan.xyz",
    v1Names: [],
    confirmations: 1,
    stablecoins: [usdc("0x078D782b760474a361dDA0AF3839290b0EF57AD6")],
  },
  {
    id: "eip155:480",
    name: "World Chain",
    explorer: "https://worldscan.org",
    v1Names: [],
    confirmations: 1,
    stablecoins: [usdcOf("0x79A02482A880bCE3F13e09Da970dC34db4CD24d1")],
  },
  {
    id: "eip155:146",
    name: "Sonic",
    explorer: "https://sonicscan.org",
    v1Names: [],
    confirmations: 1,
    gasToken: "S",
    stablecoins: [usdcOf("0x29219dd400f2Bf60E5a23d13Be72B486D4038894")],
  },
  {
    id: "eip155:324",
    name: "ZKsync Era",
    explorer: "https://explorer.zksync.io",
    v1Names: [],
    confirmations: 1,
    stablecoins: [usdcOf("0x1d17CBcF0D6D143135aE902365D2E5e2A16538D4")],
  },
  {
    id: "eip155:1329",
    name: "Sei",
    explorer: "https://seiscan.io",
    v1Names: ["sei"],
    confirmations: 1,
    gasToken: "SEI",
    stablecoins: [usdc("0xe15fC38F6D8c56aF07bbCBe3BAf5708A2Bf42392")],
  },
  {
    id: "eip155:143",
    name: "Monad",
    explorer: "https://monadscan.com",
    v1Names: ["monad"],
    confirmations: 1,
    gasToken: "MON",
    stablecoins: [usdc("0x754704Bc059F8C67012fEd69BC8A327a5aafb603")],
  },
  {
    id: "eip155:50",
    name: "XDC",
    explorer: "https://xdcscan.com",
    v1Names: [],
    confirmations: 1,
    gasToken: "XDC",
    stablecoins: [usdc("0xfA2958CB79b0491CC627c1557F441eF849Ca8eb1")],
  },
  {
    id: "eip155:4689",
    name: "IoTeX",
    explorer: "https://iotexscan.io",
    v1Names: ["iotex"],
    confirmations: 1,
    gasToken: "IOTX",
    stablecoins: [],
  },
  {
    id: "eip155:3338",
    name: "peaq",
    explorer: "https://peaq.subscan.io",
    v1Names: ["peaq"],
    confirmations: 1,
    gasToken: "PEAQ",
    stablecoins: [],
  },
  {
    id: "eip155:1514",
    name: "Story",
    explorer: "https://storyscan.io",
    v1Names: ["story"],
    confirmations: 1,
    gasToken: "DATA",
    stablecoins: [],
  },
  {
    id: "eip155:41923",
    name: "EDU Chain",
    explorer: "https://explorer.educhain.xyz",
    v1Names: ["educhain"],
    confirmations: 1,
    gasToken: "EDU",
    stablecoins: [],
  },
  {
    id: "eip155:2741",
    name: "Abstract",
    explorer: "https://abscan.org",
    v1Names: ["abstract"],
    confirmations: 1,
    stablecoins: [],
  },
  {
    id: "eip155:4326",
    name: "MegaETH",
    explorer: "https://mega.etherscan.io",
    v1Names: ["megaeth"],
    confirmations: 1,
    stablecoins: [],
  },
  {
    id: "eip155:988",
    name: "Stable",
    explorer: "https://stablescan.xyz",
    v1Names: ["stable"],
    confirmations: 1,
    gasToken: "USDT0",
    stablecoins: [],
  },
];

export const testNetworks: readonly NetworkRow[] = [
  {
    id: "hedera:testnet",
    name: "Hedera testnet",
    explorer: "https://hashscan.io/testnet",
    v1Names: ["hedera-testnet"],
    confirmations: 1,
    gasToken: "HBAR",
    stablecoins: [usdcOf("0.0.429274")],
  },
  {
    id: "hedera:previewnet",
    name: "Hedera previewnet",
    explorer: "https://hashscan.io/previewnet",
    v1Names: ["hedera-previewnet"],
    confirmations: 1,
    gasToken: "HBAR",
    stablecoins: [],
  },
  {
    id: "eip155:11155111",
    name: "Sepolia",
    explorer: "https://sepolia.etherscan.io",
    v1Names: ["sepolia"],
    confirmations: 1,
    stablecoins: [usdc("0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238")],
  },
  {
    id: "eip155:84532",
    name: "Base Sepolia",
    explorer: "https://sepolia.basescan.org",
    v1Names: ["base-sepolia"],
    confirmations: 1,
    stablecoins: [usdc("0x036CbD53842c5426634e7929541eC2318f3dCF7e")],
  },
  {
    id: "eip155:80002",
    name: "Polygon Amoy",
    explorer: "https://amoy.polygonscan.com",
    v1Names: ["polygon-amoy"],
    confirmations: 1,
    gasToken: "POL",
    stablecoins: [usdc("0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582")],
  },
  {
    id: "eip155:43113",
    name: "Avalanche Fuji",
    explorer: "https://testnet.snowtrace.io",
    v1Names: ["avalanche-fuji"],
    confirmations: 1,
    gasToken: "AVAX",
    stablecoins: [usdCoin("0x5425890298aed601595a70AB815c96711a31Bc65")],
  },
  {
    id: "eip155:421614",
    name: "Arbitrum Sepolia",
    explorer: "https://sepolia.arbiscan.io",
    v1Names: [],
    confirmations: 1,
    stablecoins: [usdCoin("0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d")],
  },
  {
    id: "eip155:11155420",
    name: "OP Sepolia",
    explorer: "https://optimism-sepolia.blockscout.com",
    v1Names: [],
    confirmations: 1,
    stablecoins: [usdc("0x5fd84259d66Cd46123540766Be93DFE6D43130D7")],
  },
  {
    id: "eip155:97",
    name: "BNB Smart Chain testnet",
    explorer: "https://testnet.bscscan.com",
    v1Names: [],
    confirmations: 1,
    gasToken: "BNB",
    stablecoins: [],
  },
  {
    id: "eip155:59141",
    name: "Linea Sepolia",
    explorer: "https://sepolia.lineascan.build",
    v1Names: [],
    confirmations: 1,
    stablecoins: [usdcOf("0xFEce4462D57bD51A6A552365A011b95f0E16d9B7")],
  },
  {
    id: "eip155:11142220",
    name: "Celo Sepolia",
    explorer: "https://celo-sepolia.blockscout.com",
    v1Names: [],
    confirmations: 1,
    gasToken: "CELO",
    stablecoins: [usdc("0x01C5C0122039549AD1493B8220cABEdD739BC44E")],
  },
  {
    id: "eip155:1301",
    name: "Unichain Sepolia",
    explorer: "https://sepolia.uniscan.xyz",
    v1Names: [],
    confirmations: 1,
    stablecoins: [usdcOf("0x31d0220469e10c4E71834a79b1f276d740d3768F")],
  },
  {
    id: "eip155:4801",
    name: "World Chain Sepolia",
    explorer: "https://sepolia.worldscan.org",
    v1Names: [],
    confirmations: 1,
    stablecoins: [usdcOf("0x66145f38cBAC35Ca6F1Dfb4914dF98F1614aeA88")],
  },
  {
    id: "eip155:300",
    name: "ZKsync Sepolia",
    explorer: "https://sepolia.explorer.zksync.io",
    v1Names: [],
    confirmations: 1,
    stablecoins: [],
  },
  {
    id: "eip155:1328",
    name: "Sei testnet",
    explorer: "https://testnet.seiscan.io",
    v1Names: ["sei-testnet"],
    confirmations: 1,
    gasToken: "SEI",
    stablecoins: [usdc("0x4fCF1784B31630811181f670Aea7A7bEF803eaED")],
  },
  {
    id: "eip155:51",
    name: "XDC Apothem",
    explorer: "https://testnet.xdcscan.com",
    v1Names: [],
    confirmations: 1,
    gasToken: "XDC",
    stablecoins: [usdc("0xb5AB69F7bBada22B28e79C8FFAECe55eF1c771D4")],
  },
  {
    id: "eip155:10143",
    name: "Monad testnet",
    explorer: "https://testnet.monadexplorer.com",
    v1Names: [],
    confirmations: 1,
    gasToken: "MON",
    stablecoins: [],
  },
  {
    id: "eip155:11124",
    name: "Abstract testnet",
    explorer: "https://sepolia.abscan.org",
    v1Names: ["abstract-testnet"],
    confirmations: 1,
    stablecoins: [],
  },
  {
    id: "eip155:324705682",
    name: "SKALE Base Sepolia",
    explorer: undefined,
    v1Names: ["skale-base-sepolia"],
    confirmations: 1,
    gasToken: "CREDIT",
    stablecoins: [],
  },
  {
    id: "eip155:2201",
    name: "Stable testnet",
    explorer: "https://testnet.stablescan.xyz",
    v1Names: ["stable-testnet"],
    confirmations: 1,
    gasToken: "USDT0",
    stablecoins: [],
  },
  {
    id: "eip155:31337",
    name: "a development chain",
    explorer: undefined,
    v1Names: [],
    confirmations: 1,
    stablecoins: [],
  },
];

/** A chain; which list it is in says whether its money is real. */
export interface NetworkRow {
  /** CAIP-2. */
  readonly id: string;
  readonly name: string;
  /** Where people look transactions up: begins the links. */
  readonly explorer: string | undefined;
  /** What version 1 of the protocol calls it, the usual one first. */
  readonly v1Names: readonly string[];
  /** After how many blocks a transaction counts as final, its own block included, unless the operator says otherwise. */
  readonly confirmations: number;
  /** What its fees are paid in, where it is not ETH. */
  readonly gasToken?: string;
  /** What payments are made in, the usual one first; none where nothing is known that can be. */
  readonly stablecoins: readonly Stablecoin[];
}

/** USDC as Circle issues it. */
export interface Stablecoin {
  /** Token id, or contract address with its checksum. */
  readonly asset: string;
  readonly decimals: number;
  /** EIP-712 name and version of an EVM token, which a payer must know to sign for it; undefined where they are not certain. */
  readonly domain?: { readonly name: string; readonly version: string };
}

/** A token whose EIP-712 domain is not certain, or a chain that has no such thing. */
function usdcOf(asset: string): Stablecoin {
  return { asset, decimals: 6 };
}

function usdc(asset: string): Stablecoin {
  return { ...usdcOf(asset), domain: { name: "USDC", version: "2" } };
}

function usdCoin(asset: string): Stablecoin {
  return { ...usdcOf(asset), domain: { name: "USD Coin", version: "2" } };
}
