import { setTimeout as pause } from "node:timers/promises";
import {
  type Abi,
  type Address,
  createTestClient,
  encodeDeployData,
  encodeFunctionData,
  getAddress,
  type Hex,
  http,
  keccak256,
  publicActions,
  slice,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
  toBytes,
  walletActions,
} from "viem";
import { networkOf } from "../../shared/networks.ts";
import { type AnvilOptions, startAnvil } from "./anvil.ts";
import { multicall3, usdcStandIn } from "./artifacts.ts";

/** Base Sepolia's. */
const defaultChainId = 84532;
/** Where Circle's USDC stands on Base Sepolia. */
const usdcAddress = networkOf(`eip155:${defaultChainId}`)?.stablecoins[0]?.asset as Address;

/**
 * Starts a local EVM chain on 127.0.0.1 with a stand-in for USDC and with Multicall3 at their public addresses, and
 * no account that owns anything. See AnvilOptions for its blocks, its clock and its memory.
 */
export async function startEvmChain(options: Partial<AnvilOptions> = {}): Promise<EvmChain> {
  const { chainId = defaultChainId } = options;
  const anvil = await startAnvil({ ...options, chainId });
  const { rpcUrl } = anvil;
  const client = clientOf(rpcUrl);

  const setCodeAt = (address: Address, bytecode: Hex) => client.setCode({ address, bytecode });
  const standIn = async (address: Address, creationCode: Hex) => {
    if (await client.getCode({ address })) return;
    const { data } = await client.call({ data: creationCode });
    await setCodeAt(address, data as Hex);
  };

  const mined = minerOf(client);
  const mint = (token: Address, address: Address, value: bigint) => {
    const data = encodeFunctionData({ abi: usdcStandIn.abi, functionName: "mint", args: [address, value] });
    return mined({ to: token, data });
  };

  try {
    await standIn(usdcAddress, usdcStandIn.bytecode);
    await standIn(multicall3Address, multicall3.bytecode);
    await client.impersonateAccount({ address: minter });
    await client.setBalance({ address: minter, value: 10n ** 24n });
  } catch (error) {
    await anvil.stop();
    throw error;
  }

  return {
    ...anvil,
    chainId,
    usdc: usdcAddress,
    setCodeAt,
    balances: async (address) => {
      const balance = {
        abi: usdcStandIn.abi,
        address: usdcAddress,
        functionName: "balanceOf",
        args: [address],
      } as const;
      const [wei, usdc] = await Promise.all([client.getBalance({ address }), client.readContract(balance)]);
      return { wei, usdc };
    },
    fund: async (address, { wei = 0n, usdc = 0n }) => {
      if (wei > 0n) await client.setBalance({ address, value: (await client.getBalance({ address })) + wei });
      if (usdc > 0n) await mint(usdcAddress, address, usdc);
    },
    mint: async (token, address, value) => void (await mint(token, address, value)),
    receipt: (hash) => receiptOf(client, hash),
    deploy: async ({ abi, bytecode }, args = []) => {
      const data = encodeDeployData({ abi, bytecode, args: [...args] });
      const receipt = await mined({ data });
      return getAddress(receipt.contractAddress as Address);
    },
  };
}

function clientOf(rpcUrl: string) {
  return createTestClient({ mode: "anvil", transport: http(rpcUrl), pollingInterval: 20 })
    .extend(publicActions)
    .extend(walletActions);
}

/**
 * Sends transactions of the minter and waits until they are mined. Nonces are given out here: anvil's own count is late when many
 * arrive at once.
 */
function minerOf(client: ReturnType<typeof clientOf>) {
  let nonce: number | undefined;
  let lastSent: Promise<unknown> = Promise.resolve();
  return async (transaction: { to?: Address; data: Hex }): Promise<TransactionReceipt> => {
    const sent = lastSent.then(async () => {
      nonce ??= await client.getTransactionCount({ address: minter, blockTag: "pending" });
      const hash = await client.sendTransaction({ ...transaction, account: minter, chain: null, nonce });
      nonce += 1;
      return hash;
    });
    lastSent = sent.catch(() => {
      nonce = undefined;
    });
    const hash = await sent;
    const receipt = await receiptOf(client, hash);
    if (receipt.status !== "success") throw new Error(`transaction ${hash} of the local chain's minter reverted`);
    return receipt;
  };
}

/**
 * Waits until a transaction is mined. viem's own wait asks again with each new block: a receipt that comes a moment after its block
 * is never seen where no other block follows.
 */
async function receiptOf(client: ReturnType<typeof clientOf>, hash: Hex): Promise<TransactionReceipt> {
  for (const deadline = Date.now() + minedMs; Date.now() < deadline; await pause(client.pollingInterval)) {
    try {
      return await client.getTransactionReceipt({ hash });
    } catch (error) {
      if (!(error instanceof TransactionReceiptNotFoundError)) throw error;
    }
  }
  throw new Error(`transaction ${hash} was not mined within ${minedMs / 1_000} s`);
}

const minedMs = 60_000;

/**
 * A chain whose blocks cost the same however much has been paid on it, to measure programs that use it. For each block
 * anvil computes the root of the whole state anew: a payment takes it 1 ms at first and 15 ms after 5,000 others. A chain
 * that goes on from another one, here from an empty one, computes none.
 */
export async function startSteadyEvmChain(): Promise<EvmChain> {
  const origin = await startAnvil({ chainId: defaultChainId });
  try {
    const chain = await startEvmChain({ forkUrl: origin.rpcUrl });
    const stop = async () => {
      await chain.stop();
      await origin.stop();
    };
    return { ...chain, stop };
  } catch (error) {
    await origin.stop();
    throw error;
  }
}

export interface EvmChain {
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly usdc: Address;
  readonly pid: number;
  /** Settles with an explanation when the chain ends, however it ended. */
  readonly died: Promise<Error>;
  /** What the chain began with. */
  readonly origin: "nothing" | "state file" | "older copy of the state file";
  balances(address: Address): Promise<{ wei: bigint; usdc: bigint }>;
  /** Adds to what the address has: `wei` of gas money, `usdc` in base units. */
  fund(address: Address, amounts: { wei?: bigint; usdc?: bigint }): Promise<void>;
  /** Adds to the address' balance of a token deployed from UsdcStandIn or one of the hostile tokens. */
  mint(token: Address, address: Address, value: bigint): Promise<void>;
  /** Waits until the transaction is mined, a minute at most. */
  receipt(hash: Hex): Promise<TransactionReceipt>;
  setCodeAt(address: Address, runtimeCode: Hex): Promise<void>;
  deploy(artifact: Artifact, args?: readonly unknown[]): Promise<Address>;
  stop(): Promise<void>;
}

export interface Artifact {
  readonly abi: Abi | readonly unknown[];
  readonly bytecode: Hex;
}

const multicall3Address = "0xcA11bde05977b3631167028862bE2a173976CA11";

/** The address UsdcStandIn.sol calls MINTER. */
const minter = getAddress(slice(keccak256(toBytes("minter of a local chain")), 12));
