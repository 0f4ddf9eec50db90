import { type EnvReader, Secret } from "../../../shared/env.ts";
import { type Environment, environmentOf, networkOf } from "../../../shared/networks.ts";
import {
  amountMinOn,
  budgetOn,
  type EnvironmentOf,
  type NetworkConfig,
  readAssets,
  readExplorer,
  type Variables,
} from "../network-config.ts";
import { isAddress } from "./hex.ts";

export interface EvmConfig extends NetworkConfig {
  readonly chainId: number;
  readonly rpcUrl: string;
  readonly signers: readonly Secret[];
  /** Gas limit of one settlement, and what its simulation must fit in. */
  readonly gasLimit: bigint;
  readonly feePerGasMaxWei: bigint;
  /** After this long unmined a transaction is sent again with a higher fee. */
  readonly bumpAfterMs: number;
  readonly confirmations: number;
  readonly rpcTimeoutMs: number;
}

/** The chains that any `EIP155_<chain id>_…` variable names. */
export function evmChainIds(variables: Variables): readonly number[] {
  const ids = Object.keys(variables).flatMap((name) => /^EIP155_(\d{1,15})_/.exec(name)?.[1] ?? []);
  return [...new Set(ids)].map(Number).toSorted((a, b) => a - b);
}

/** As the table of chains has it, unless the operator says otherwise; a chain that neither names is a main network. */
export function readEnvironments(env: EnvReader, variables: Variables): EnvironmentOf {
  const declared = new Map(
    evmChainIds(variables).map((chainId) => {
      const network = `eip155:${chainId}`;
      const name = `EIP155_${chainId}_ENVIRONMENT`;
      return [network, env.choice<Environment>(name, ["mainnet", "testnet"], environmentOf(network))];
    }),
  );
  return (network) => declared.get(network) ?? environmentOf(network);
}

export function readEvm(env: EnvReader, chainId: number, environmentOf: EnvironmentOf): EvmConfig {
  const network = `eip155:${chainId}`;
  const name = (suffix: string) => `EIP155_${chainId}_${suffix}`;
  const signers = secrets(
    env,
    name("SIGNERS"),
    /^0x[0-9a-fA-F]{64}$/,
    "a comma-separated list of 0x-prefixed 32-byte private keys",
  );
  const assets = readAssets(env, name("ASSETS"), network, { isAsset: isAddress, form: "an address" });
  const rpcUrl = env.url(name("RPC_URL"));
  return {
    network,
    chainId,
    rpcUrl,
    explorer: readExplorer(env, name("EXPLORER"), network, rpcUrl),
    signers,
    assets,
    amountMin: env.amount(name("AMOUNT_MIN"), amountMinOn(environmentOf(network))),
    balanceLow: env.amount(name("BALANCE_LOW_WEI"), ether / 100n),
    balanceEmpty: env.amount(name("BALANCE_EMPTY_WEI"), ether / 1_000n),
    dailyBudget: env.amount(name("DAILY_BUDGET_WEI"), budgetOn(environmentOf(network), ether / 20n)),
    gasLimit: env.amount(name("GAS_LIMIT"), 200_000n),
    feePerGasMaxWei: env.amount(name("FEE_PER_GAS_MAX_WEI"), 50_000_000_000n),
    bumpAfterMs: env.integer(name("BUMP_AFTER_MS"), 30_000, { min: 500 }),
    confirmations: env.integer(name("CONFIRMATIONS"), networkOf(network)?.confirmations ?? 1, { min: 1, max: 200 }),
    rpcTimeoutMs: env.integer(name("RPC_TIMEOUT_MS"), 5_000, { min: 100, max: 30_000 }),
  };
}

function secrets(env: EnvReader, name: string, pattern: RegExp, meaning: string): readonly Secret[] {
  const values = env.list(name);
  if (values.length === 0) env.problem(`${name} is missing`, 0);
  if (!values.every((value) => pattern.test(value))) env.problem(`${name} is not ${meaning}`, 0);
  return values.map((value) => new Secret(value));
}

const ether = 10n ** 18n;
