import { EnvReader, Secret } from "../shared/env.ts";
import { type HttpLimits, readHttpLimits } from "../shared/http-limits.ts";
import { type Environment, environmentOf, networkOf } from "../shared/networks.ts";
import { explorerOf } from "./explorer.ts";
import { type Client, readClient } from "./limits/clients.ts";

/** Everything the daemon reads from its environment, once. Throws ConfigError naming every problem. */
export function readConfig(variables: Record<string, string | undefined>): Config {
  const env = new EnvReader(variables);
  const environments = readEnvironments(env, variables);
  const config: Config = {
    host: env.text("FACILITATOR_HOST", "127.0.0.1"),
    port: env.integer("FACILITATOR_PORT", 4022, { max: 65_535 }),
    databaseUrl: env.url("FACILITATOR_DATABASE_URL", undefined, ["postgres:", "postgresql:"]),
    databasePoolMax: env.integer("FACILITATOR_DATABASE_POOL", 20, { min: 2, max: 200 }),
    logLevel: env.choice("LOG_LEVEL", ["debug", "info", "warn", "error", "silent"], "info"),
    trustProxy: env.integer("TRUST_PROXY_HOPS", 0, { max: 10 }),
    http: readHttpLimits(env),
    settleTimeoutMs: env.integer("SETTLE_TIMEOUT_MS", 50_000, { min: 1_000, max: 60_000 }),
    discovery: {
      probe: env.choice("FACILITATOR_DISCOVERY_PROBE", ["on", "off"], "on") === "on",
      allowLocalhost: env.flag("FACILITATOR_DISCOVERY_LOCALHOST", false),
    },
    environmentOf: environments,
    clients: readClients(env),
    limits: readLimits(env, variables, environments),
    evm: evmChainIds(variables).map((chainId) => readEvm(env, chainId, environments)),
    hedera: hederaNetworks
      .filter((name) => hasAny(variables, `HEDERA_${name.toUpperCase()}_`))
      .map((name) => readHedera(env, name, environments)),
  };
  if (config.evm.length + config.hedera.length === 0) {
    env.problem(
      "no network is configured: set EIP155_<chain id>_RPC_URL or HEDERA_<TESTNET|MAINNET>_MIRROR and their companions",
      0,
    );
  }
  env.finish("facilitator");
  return config;
}

/** Calls a minute; 0 is no limit. Where real money pays the fees there are limits unless configured otherwise. */
export interface LimitsConfig {
  readonly verifyPerAddress: number;
  readonly settlePerAddress: number;
  readonly settlePerPayer: number;
  readonly settlePerPayTo: number;
  /** Of the public GET routes, by each copy of the daemon on its own. */
  readonly readPerAddress: number;
  /** Settlements of one payer that may fail on the chain, at our cost, within ten minutes. */
  readonly failuresPerPayer: number;
  /** The same within a day. */
  readonly failuresPerPayerDay: number;
}

function readClients(env: EnvReader): readonly Client[] {
  const clients = env.list("FACILITATOR_CLIENTS").flatMap((entry) => {
    const client = readClient(entry);
    return client ? [client] : env.problem("FACILITATOR_CLIENTS must list name:sha256-hex-of-token:calls a minute", []);
  });
  const isUnique = (values: readonly string[]) => new Set(values).size === values.length;
  if (!isUnique(clients.map(({ name }) => name)) || !isUnique(clients.map(({ tokenHash }) => tokenHash))) {
    env.problem("FACILITATOR_CLIENTS names a client or a token twice", 0);
  }
  return clients;
}

type EnvironmentOf = (network: string) => Environment;

/** As the table of chains has it, unless the operator says otherwise; a chain that neither names is a main network. */
function readEnvironments(env: EnvReader, variables: Record<string, string | undefined>): EnvironmentOf {
  const declared = new Map(
    evmChainIds(variables).map((chainId) => {
      const network = `eip155:${chainId}`;
      const name = `EIP155_${chainId}_ENVIRONMENT`;
      return [network, env.choice<Environment>(name, ["mainnet", "testnet"], environmentOf(network))];
    }),
  );
  return (network) => declared.get(network) ?? environmentOf(network);
}

function readLimits(
  env: EnvReader,
  variables: Record<string, string | undefined>,
  environments: EnvironmentOf,
): LimitsConfig {
  const onMainnet =
    hasAny(variables, "HEDERA_MAINNET_") ||
    evmChainIds(variables).some((chainId) => environments(`eip155:${chainId}`) === "mainnet");
  const limit = (name: string, usual: number) => env.integer(name, onMainnet ? usual : 0);
  return {
    verifyPerAddress: limit("LIMIT_VERIFY_PER_ADDRESS", 6_000),
    settlePerAddress: limit("LIMIT_SETTLE_PER_ADDRESS", 1_200),
    settlePerPayer: limit("LIMIT_SETTLE_PER_PAYER", 60),
    settlePerPayTo: limit("LIMIT_SETTLE_PER_PAY_TO", 1_200),
    readPerAddress: limit("LIMIT_READ_PER_ADDRESS", 3_000),
    failuresPerPayer: env.integer("LIMIT_FAILURES_PER_PAYER", 5),
    failuresPerPayerDay: env.integer("LIMIT_FAILURES_PER_PAYER_DAY", 20),
  };
}

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly databaseUrl: string;
  readonly databasePoolMax: number;
  readonly logLevel: string;
  /** Reverse proxies in front that may name the client's address. */
  readonly trustProxy: number;
  readonly http: HttpLimits;
  /** How long /settle waits for the chain before it answers `settlement_pending`. */
  readonly settleTimeoutMs: number;
  /** For development both: list what nobody has checked, and list servers on this machine. */
  readonly discovery: { readonly probe: boolean; readonly allowLocalhost: boolean };
  /** Whether a network's money is real, of any network that was ever served. */
  readonly environmentOf: EnvironmentOf;
  /** Resource servers with a limit of their own; everybody else is welcome, too. */
  readonly clients: readonly Client[];
  readonly limits: LimitsConfig;
  readonly evm: readonly EvmConfig[];
  readonly hedera: readonly HederaConfig[];
}

interface NetworkConfig {
  /** CAIP-2. */
  readonly network: string;
  /** What may be paid with. */
  readonly assets: readonly string[];
  /** The smallest payment that is worth its network fee, in base units. */
  readonly amountMin: bigint;
  /** A warning and /health 503 below the first, no settlement below the second; wei or tinybars. */
  readonly balanceLow: bigint;
  readonly balanceEmpty: bigint;
  /** What one fee payer may spend on fees in a day (UTC); 0 is no limit. */
  readonly dailyBudget: bigint;
  /** Begins the links under which people look transactions up; undefined where there is no public explorer. */
  readonly explorer: string | undefined;
}

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

export interface HederaConfig extends NetworkConfig {
  /** gRPC address → node account id. */
  readonly nodes: Readonly<Record<string, string>>;
  readonly mirrorUrl: string;
  readonly feePayers: ReadonlyArray<{ readonly accountId: string; readonly privateKey: Secret }>;
  /** The highest transaction fee the daemon co-signs, tinybars. */
  readonly transactionFeeMax: bigint;
  /** The least it must allow where the mirror does not say what a tinybar is worth. */
  readonly transactionFeeMin: bigint;
}

const hederaNetworks = ["mainnet", "testnet", "previewnet"] as const;
const hbar = 100_000_000n;
const ether = 10n ** 18n;

function readEvm(env: EnvReader, chainId: number, environments: EnvironmentOf): EvmConfig {
  const network = `eip155:${chainId}`;
  const name = (suffix: string) => `EIP155_${chainId}_${suffix}`;
  const signers = secrets(
    env,
    name("SIGNERS"),
    /^0x[0-9a-fA-F]{64}$/,
    "a comma-separated list of 0x-prefixed 32-byte private keys",
  );
  const assets = env.list(name("ASSETS"), usdcOf(network));
  if (assets.length === 0) env.problem(`${name("ASSETS")} is missing (no USDC is known for ${network})`, 0);
  for (const asset of assets) {
    if (!/^0x[0-9a-fA-F]{40}$/.test(asset)) env.problem(`${name("ASSETS")} holds ${asset}, which is not an address`, 0);
  }
  const rpcUrl = env.url(name("RPC_URL"));
  return {
    network,
    chainId,
    rpcUrl,
    explorer: readExplorer(env, name("EXPLORER"), network, rpcUrl),
    signers,
    assets,
    amountMin: env.amount(name("AMOUNT_MIN"), amountMinOn(environments(network))),
    balanceLow: env.amount(name("BALANCE_LOW_WEI"), ether / 100n),
    balanceEmpty: env.amount(name("BALANCE_EMPTY_WEI"), ether / 1_000n),
    dailyBudget: env.amount(name("DAILY_BUDGET_WEI"), budgetOn(environments(network), ether / 20n)),
    gasLimit: env.amount(name("GAS_LIMIT"), 200_000n),
    feePerGasMaxWei: env.amount(name("FEE_PER_GAS_MAX_WEI"), 50_000_000_000n),
    bumpAfterMs: env.integer(name("BUMP_AFTER_MS"), 30_000, { min: 500 }),
    confirmations: env.integer(name("CONFIRMATIONS"), 1, { min: 1, max: 200 }),
    rpcTimeoutMs: env.integer(name("RPC_TIMEOUT_MS"), 5_000, { min: 100, max: 30_000 }),
  };
}

function readHedera(
  env: EnvReader,
  ledger: (typeof hederaNetworks)[number],
  environments: EnvironmentOf,
): HederaConfig {
  const network = `hedera:${ledger}`;
  const name = (suffix: string) => `HEDERA_${ledger.toUpperCase()}_${suffix}`;
  const assets = env.list(name("ASSETS"), usdcOf(network));
  if (assets.length === 0) env.problem(`${name("ASSETS")} is missing (no USDC is known for ${network})`, 0);
  for (const asset of assets) {
    if (!accountId.test(asset)) env.problem(`${name("ASSETS")} holds ${asset}, which is not of the form 0.0.n`, 0);
  }
  const feePayers = env.list(name("FEE_PAYERS")).map((entry) => {
    const [id = "", key = "", ...rest] = entry.split(":");
    const [kind, hex] = rest.length === 1 ? [key, rest[0] ?? ""] : ["", key];
    if (
      !accountId.test(id) ||
      rest.length > 1 ||
      !["", "ed25519", "ecdsa"].includes(kind) ||
      !/^(0x)?[0-9a-fA-F]{64,}$/.test(hex)
    ) {
      env.problem(`${name("FEE_PAYERS")} must list 0.0.n:ed25519:<hex>, 0.0.n:ecdsa:<hex> or 0.0.n:<DER hex>`, 0);
    }
    return { accountId: id, privateKey: new Secret(kind === "" ? hex : `${kind}:${hex}`) };
  });
  if (feePayers.length === 0) env.problem(`${name("FEE_PAYERS")} is missing`, 0);
  const nodes = Object.fromEntries(
    env.list(name("NODES")).map((entry) => {
      const [address = "", node = ""] = entry.split("=");
      if (!/^[^:]+:\d+$/.test(address) || !accountId.test(node)) {
        env.problem(`${name("NODES")} must list host:port=0.0.n`, 0);
      }
      return [address, node];
    }),
  );
  if (Object.keys(nodes).length === 0) env.problem(`${name("NODES")} is missing`, 0);
  const mirrorUrl = env.url(name("MIRROR"));
  return {
    network,
    nodes,
    mirrorUrl,
    explorer: readExplorer(env, name("EXPLORER"), network, mirrorUrl),
    feePayers,
    assets,
    amountMin: env.amount(name("AMOUNT_MIN"), amountMinOn(environments(network))),
    balanceLow: env.amount(name("BALANCE_LOW_TINYBARS"), 20n * hbar),
    balanceEmpty: env.amount(name("BALANCE_EMPTY_TINYBARS"), 2n * hbar),
    dailyBudget: env.amount(name("DAILY_BUDGET_TINYBARS"), budgetOn(environments(network), 100n * hbar)),
    transactionFeeMax: env.amount(name("TRANSACTION_FEE_MAX_TINYBARS"), 2n * hbar),
    transactionFeeMin: env.amount(name("TRANSACTION_FEE_MIN_TINYBARS"), hbar / 100n),
  };
}

function readExplorer(env: EnvReader, name: string, network: string, endpoint: string): string | undefined {
  const given = env.optional(name);
  if (given === undefined) return explorerOf(network, endpoint);
  return given === "off" ? undefined : env.url(name);
}

/** A test network's fees are play money, so there the smallest payment is welcome. */
function amountMinOn(environment: Environment): bigint {
  return environment === "mainnet" ? 1_000n : 1n;
}

function budgetOn(environment: Environment, mainnet: bigint): bigint {
  return environment === "mainnet" ? mainnet : 0n;
}

const accountId = /^0\.0\.(0|[1-9]\d{0,18})$/;

function usdcOf(network: string): readonly string[] {
  const coin = networkOf(network)?.stablecoin;
  return coin === undefined ? [] : [coin.asset];
}

function secrets(env: EnvReader, name: string, pattern: RegExp, meaning: string): readonly Secret[] {
  const values = env.list(name);
  if (values.length === 0) env.problem(`${name} is missing`, 0);
  if (!values.every((value) => pattern.test(value))) env.problem(`${name} is not ${meaning}`, 0);
  return values.map((value) => new Secret(value));
}

function hasAny(variables: Record<string, string | undefined>, prefix: string): boolean {
  return Object.keys(variables).some((name) => name.startsWith(prefix));
}

function evmChainIds(variables: Record<string, string | undefined>): readonly number[] {
  const ids = Object.keys(variables).flatMap((name) => /^EIP155_(\d{1,15})_/.exec(name)?.[1] ?? []);
  return [...new Set(ids)].map(Number).toSorted((a, b) => a - b);
}
