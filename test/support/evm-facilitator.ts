import { createTestClient, http, parseEther, publicActions } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { type EvmChain, startEvmChain } from "../../infra/local-evm/chain.ts";
import { type Buyer, type EvmTerms, newBuyer } from "./evm-payments.ts";
import { freshDatabase } from "./postgres.ts";

/** A local EVM chain and what a daemon needs to settle on it. */
export async function evmSetting(changes: Record<string, string> = {}): Promise<EvmSetting> {
  const [chain, databaseUrl] = await Promise.all([startEvmChain(), freshDatabase("facilitator")]);
  const signerKey = generatePrivateKey();
  const signer = privateKeyToAccount(signerKey).address;
  await chain.fund(signer, { wei: parseEther("10") });
  const payTo = newBuyer().address;
  return {
    chain,
    signer,
    variables: {
      FACILITATOR_DATABASE_URL: databaseUrl,
      FACILITATOR_MIGRATE: "on",
      DRAIN_MS: "0",
      [`EIP155_${chain.chainId}_RPC_URL`]: chain.rpcUrl,
      [`EIP155_${chain.chainId}_SIGNERS`]: signerKey,
      ...changes,
    },
    terms: { network: `eip155:${chain.chainId}`, chainId: chain.chainId, asset: chain.usdc, payTo, amount: "10000" },
    fundedBuyer: async (usdc = 1_000_000n) => {
      const buyer = newBuyer();
      await chain.fund(buyer.address, { usdc });
      return buyer;
    },
    stop: () => chain.stop(),
  };
}

/** Makes the newest block one in which a TurningToken moves money, as a simulation then sees it. */
export async function untilOddBlock({ rpcUrl }: EvmChain): Promise<void> {
  const client = createTestClient({ mode: "anvil", transport: http(rpcUrl) }).extend(publicActions);
  if ((await client.getBlockNumber()) % 2n === 0n) await client.mine({ blocks: 1 });
}

export interface EvmSetting {
  readonly chain: EvmChain;
  readonly signer: string;
  readonly variables: Record<string, string>;
  readonly terms: EvmTerms;
  fundedBuyer(usdc?: bigint): Promise<Buyer>;
  stop(): Promise<void>;
}
