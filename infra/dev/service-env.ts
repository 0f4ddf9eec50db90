import { join } from "node:path";
import { type BackingServices, type LocalHedera, xToken } from "./backing-services.ts";
import type { Settings } from "./settings.ts";
import { developmentSealingKey, developmentSessionSecret, type EvmWallets } from "./wallets.ts";

/** The environments of both services on this machine. What the developer's own environment says of the marketplace goes first. */
export interface EnvOptions {
  readonly settings: Settings;
  readonly wallets: EvmWallets;
  readonly backing: BackingServices;
  readonly env: NodeJS.ProcessEnv;
}

export function serviceUrls({ ports }: Settings): { readonly facilitator: string; readonly marketplace: string } {
  return {
    facilitator: `http://127.0.0.1:${ports.facilitator.number}`,
    marketplace: `http://127.0.0.1:${ports.marketplace.number}`,
  };
}

export async function facilitatorEnv({ settings, wallets, backing }: EnvOptions): Promise<Record<string, string>> {
  const [{ facilitatorDatabase }, hedera, chain] = await Promise.all([backing.databases, backing.hedera, backing.evm]);
  const { accountId, privateKey } = hedera.accounts.feePayer;
  return {
    FACILITATOR_DATABASE_URL: facilitatorDatabase,
    FACILITATOR_MIGRATE: "on",
    DRAIN_MS: "0",
    FACILITATOR_HOST: "127.0.0.1",
    FACILITATOR_PORT: String(settings.ports.facilitator.number),
    FACILITATOR_DISCOVERY_LOCALHOST: "true",
    HEDERA_TESTNET_NODES: nodesOf(hedera),
    HEDERA_TESTNET_MIRROR: hedera.mirror,
    HEDERA_TESTNET_FEE_PAYERS: `${accountId}:${privateKey}`,
    [`EIP155_${chain.chainId}_RPC_URL`]: chain.rpcUrl,
    [`EIP155_${chain.chainId}_SIGNERS`]: wallets.feePayer.privateKey,
  };
}

export async function marketplaceEnv(options: EnvOptions): Promise<Record<string, string>> {
  const { settings, wallets, backing, env } = options;
  const { dataDirectory, ports } = settings;
  const urls = serviceUrls(settings);
  const [{ marketplaceDatabase }, models, x] = await Promise.all([backing.databases, backing.models, backing.x]);
  const [hedera, chain] = await Promise.all([backing.hedera, backing.evm]);
  const { accountId, privateKey } = hedera.accounts.operator;
  const platform = [
    `${hedera.network}=${hedera.accounts.platform.accountId}`,
    `eip155:${chain.chainId}=${wallets.platform.address}`,
  ];
  return {
    MARKETPLACE_DATABASE_URL: marketplaceDatabase,
    MARKETPLACE_MIGRATE: "on",
    DRAIN_MS: "0",
    NODE_ENV: "development",
    MARKETPLACE_HOST: "127.0.0.1",
    MARKETPLACE_PORT: String(ports.marketplace.number),
    MARKETPLACE_PUBLIC_URL: env.MARKETPLACE_PUBLIC_URL ?? urls.marketplace,
    MARKETPLACE_SEALING_KEY: env.MARKETPLACE_SEALING_KEY ?? developmentSealingKey,
    SESSION_SECRET: env.SESSION_SECRET ?? developmentSessionSecret,
    FACILITATOR_URL: urls.facilitator,
    PLATFORM_WALLETS: env.PLATFORM_WALLETS ?? platform.join(","),
    OUTBOUND_ALLOW_HOSTS: env.OUTBOUND_ALLOW_HOSTS ?? `127.0.0.1:${ports.model.number},127.0.0.1:${ports.mcp.number}`,
    // A model of your own works as well as the mock.
    LLM_BASE_URL: env.LLM_BASE_URL ?? models.baseUrl,
    LLM_MODELS: env.LLM_MODELS ?? `${env.LLM_MODEL ?? "gpt-4o-mini"}=1:4000:40000`,
    IMAGES_MODELS: env.IMAGES_MODELS ?? `${env.IMAGES_MODEL ?? "gpt-image-1"}=4:4:4000`,
    HOME_AGENT: env.HOME_AGENT ?? "ada/summarizer",
    HOME_PAYER: env.HOME_PAYER ?? "grace",
    FILES_DIR: env.FILES_DIR ?? join(dataDirectory, "files"),
    HEDERA_NETWORK: "testnet",
    HEDERA_MIRROR: hedera.mirror,
    HEDERA_NODES: nodesOf(hedera),
    HEDERA_OPERATOR_ID: accountId,
    HEDERA_OPERATOR_KEY: privateKey,
    X_API_BASE_URL: env.X_API_BASE_URL ?? x.url,
    X_API_BEARER_TOKEN: env.X_API_BEARER_TOKEN ?? xToken,
    EVM_RPC_URLS: `eip155:${chain.chainId}=${chain.rpcUrl}`,
  };
}

function nodesOf({ nodes }: LocalHedera): string {
  return Object.entries(nodes)
    .map(([address, node]) => `${address}=${node}`)
    .join(",");
}
