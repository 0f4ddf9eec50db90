import secp256k1 from "secp256k1";
import { getAddress } from "viem/utils";
import { type AmountRange, type EnvReader, Secret } from "../../../shared/env.ts";
import { type Environment, environmentOf, networkOf } from "../../../shared/networks.ts";
import { type KeySource, kmsKeyPattern } from "../../signing/keys.ts";
import { isPrivateKey } from "../../signing/local-key.ts";
import { readSeedKeys } from "../../signing/seed.ts";
import {
  amountMinOn,
  amountMinRange,
  budgetOn,
  type EnvironmentOf,
  type NetworkConfig,
  readAssets,
  readExplorer,
  readFunds,
  type Variables,
} from "../network-config.ts";
import { addressOf } from "./eip3009.ts";
import { type Hex, isAddress } from "./hex.ts";

export interface EvmConfig extends NetworkConfig {
  readonly chainId: number;
  readonly rpcUrl: string;
  readonly signers: readonly EvmSignerConfig[];
  /** Gas limit of one settlement, and what its simulation must fit in. */
  readonly gasLimit: bigint;
  readonly feePerGasMaxWei: bigint;
  /** After this long unmined a transaction is sent again with a higher fee. */
  readonly bumpAfterMs: number;
  readonly confirmations: number;
  readonly rpcTimeoutMs: number;
}

/** One fee payer. */
export interface EvmSignerConfig {
  readonly address: Hex;
  readonly key: KeySource;
}

/** The chains that are served: those that any `EIP155_<chain id>_…` variable names, but for one that says its environment alone. */
export function evmChainIds(variables: Variables): readonly number[] {
  return chainIdsIn(Object.keys(variables).filter((name) => !name.endsWith("_ENVIRONMENT")));
}

function chainIdsIn(names: readonly string[]): readonly number[] {
  const ids = names.flatMap((name) => /^EIP155_(\d{1,15})_/.exec(name)?.[1] ?? []);
  return [...new Set(ids)].map(Number).toSorted((a, b) => a - b);
}

/**
 * The environment of a chain, also of one that is served no more: as the operator says, else by the table of chains; a chain in neither
 * is a main network.
 */
export function readEnvironments(env: EnvReader, variables: Variables): EnvironmentOf {
  const declared = new Map(
    chainIdsIn(Object.keys(variables)).map((chainId) => {
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
  const signers = readSigners(env, name("SIGNERS"), readSeedKeys(env, `EIP155_${chainId}`));
  const assets = readAssets(env, name("ASSETS"), network, { isAsset: isAddress, form: "an address" });
  const rpcUrl = readRpcUrl(env, name("RPC_URL"));
  return {
    network,
    chainId,
    rpcUrl,
    explorer: readExplorer(env, name("EXPLORER"), network, rpcUrl),
    signers,
    assets,
    amountMin: env.amount(name("AMOUNT_MIN"), amountMinOn(environmentOf(network)), amountMinRange),
    ...readFunds(env, name, fundsRange, {
      balanceLow: ether / 100n,
      balanceEmpty: ether / 1_000n,
      dailyBudget: budgetOn(environmentOf(network), ether / 20n),
    }),
    gasLimit: env.amount(name("GAS_LIMIT"), 200_000n, gasRange),
    feePerGasMaxWei: env.amount(name("FEE_PER_GAS_MAX_WEI"), 50_000_000_000n, gasPriceRange),
    bumpAfterMs: env.integer(name("BUMP_AFTER_MS"), 30_000, { min: 500, max: 86_400_000 }),
    confirmations: env.integer(name("CONFIRMATIONS"), networkOf(network)?.confirmations ?? 1, { min: 1, max: 200 }),
    rpcTimeoutMs: env.integer(name("RPC_TIMEOUT_MS"), 5_000, { min: 100, max: 30_000 }),
  };
}

/** It may hold a user and a password, whose `%` stands for a character that is written in hex. */
function readRpcUrl(env: EnvReader, name: string): string {
  const text = env.url(name);
  if (!URL.canParse(text)) return text;
  const { username, password } = new URL(text);
  try {
    decodeURIComponent(`${username}:${password}`);
    return text;
  } catch {
    return env.problem(`${name} must have each % of its user and password written as %25`, text);
  }
}

/** The listed signers, then those of the seed. */
function readSigners(env: EnvReader, name: string, seedKeys: readonly Secret[]): readonly EvmSignerConfig[] {
  const listed = env.list(name).flatMap((entry) => readSigner(entry) ?? []);
  if (listed.length < env.list(name).length) {
    const meaning = "a comma-separated list of 0x-prefixed 32-byte private keys and of 0x<address>:kms:<key>";
    env.problem(`${name} is not ${meaning}`, 0);
  }
  const signers = [...listed, ...seedKeys.map(ofPrivateKey)];
  const addresses = new Set(signers.map(({ address }) => address));
  if (addresses.size < signers.length) env.problem(`${name} names a fee payer twice`, 0);
  if (env.list(name).length + seedKeys.length === 0) env.problem(`${name} is missing`, 0);
  return signers;
}

function readSigner(entry: string): EvmSignerConfig | undefined {
  const [, address, kms] = inKms.exec(entry) ?? [];
  if (address !== undefined && kms !== undefined) return { address: getAddress(address.toLowerCase()), key: { kms } };
  const isKey = /^0x[0-9a-fA-F]{64}$/.test(entry) && isPrivateKey(Buffer.from(entry.slice(2), "hex"));
  return isKey ? ofPrivateKey(new Secret(entry)) : undefined;
}

function ofPrivateKey(secret: Secret): EvmSignerConfig {
  const publicKey = secp256k1.publicKeyCreate(Buffer.from(secret.reveal().slice(2), "hex"), false);
  return { address: getAddress(addressOf(publicKey)), key: { secret } };
}

const inKms = new RegExp(`^(0x[0-9a-fA-F]{40}):kms:(${kmsKeyPattern})$`);
const ether = 10n ** 18n;
/** From a millionth of a coin to a billion of them; in ether or gwei a balance is below that. */
const fundsRange: AmountRange = { unit: "wei", min: ether / 1_000_000n, max: 10n ** 9n * ether };
/** A transfer of a token takes more than the least; no chain counts more than the most for one. */
const gasRange: AmountRange = { unit: "gas", min: 30_000n, max: 1_000_000_000n, least: 21_000n };
/** From .0001 gwei, below what any public network asks, to 100,000 gwei. */
const gasPriceRange: AmountRange = { unit: "wei", min: 100_000n, max: 10n ** 14n };
