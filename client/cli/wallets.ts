import type { EvmAccount, HederaAccount, Wallets } from "../agent-marketplace.ts";
import { UsageError } from "./arguments.ts";

/** The wallets that the environment names. Their libraries are loaded only for that. */
export async function walletsIn(env: NodeJS.ProcessEnv): Promise<Wallets> {
  const {
    AGENT_MARKETPLACE_EVM_KEY: evmKey,
    AGENT_MARKETPLACE_HEDERA_ACCOUNT: accountId,
    AGENT_MARKETPLACE_HEDERA_KEY: hederaKey,
  } = env;
  if (!evmKey && !(accountId && hederaKey)) {
    throw new UsageError(
      "Paying needs a wallet: AGENT_MARKETPLACE_EVM_KEY, or AGENT_MARKETPLACE_HEDERA_ACCOUNT and AGENT_MARKETPLACE_HEDERA_KEY.",
    );
  }
  return {
    ...(evmKey && { evm: await evmAccount(evmKey) }),
    ...(accountId && hederaKey && { hedera: await hederaAccount(accountId, hederaKey) }),
  };
}

async function evmAccount(key: string): Promise<EvmAccount> {
  const { privateKeyToAccount } = await import("viem/accounts").catch(missing("viem"));
  if (!/^0x[0-9a-fA-F]{64}$/.test(key))
    throw new UsageError("AGENT_MARKETPLACE_EVM_KEY must be 0x and 64 hexadecimal digits.");
  return privateKeyToAccount(key as `0x${string}`);
}

async function hederaAccount(accountId: string, der: string): Promise<HederaAccount> {
  const { PrivateKey } = await import("@hashgraph/sdk").catch(missing("@hashgraph/sdk"));
  try {
    return { accountId, key: PrivateKey.fromStringDer(der) };
  } catch {
    throw new UsageError("AGENT_MARKETPLACE_HEDERA_KEY must be a private key in DER, in hexadecimal.");
  }
}

function missing(name: string) {
  return (): never => {
    throw new UsageError(`This wallet needs the package ${name}: npm install ${name}`);
  };
}
