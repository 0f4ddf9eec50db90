import { type AmountRange, type EnvReader, Secret } from "../../../shared/env.ts";
import { networksOf } from "../../../shared/networks.ts";
import { kmsKeyPattern } from "../../signing/keys.ts";
import {
  amountMinOn,
  amountMinRange,
  budgetOn,
  type EnvironmentOf,
  hasAny,
  type NetworkConfig,
  readAssets,
  readExplorer,
  readFunds,
  type Variables,
} from "../network-config.ts";

export interface HederaConfig extends NetworkConfig {
  /** gRPC address → node account id. */
  readonly nodes: Readonly<Record<string, string>>;
  readonly mirrorUrl: string;
  readonly feePayers: readonly HederaFeePayerConfig[];
  /** The highest transaction fee the daemon co-signs, tinybars. */
  readonly transactionFeeMax: bigint;
  /** The least it must allow where the mirror does not say what a tinybar is worth. */
  readonly transactionFeeMin: bigint;
}

/** One account; `privateKey` as readSigner takes it, or the id of an ECDSA key in the KMS. */
export type HederaFeePayerConfig = { readonly accountId: string } & (
  | { readonly privateKey: Secret }
  | { readonly kms: string }
);

const hbar = 100_000_000n;
/** From a hundredth of an HBAR to all there are. */
const fundsRange: AmountRange = { unit: "tinybars", min: hbar / 100n, max: 50_000_000_000n * hbar };
/** The network takes about a thousandth of an HBAR for a transfer; in HBAR the number is below the least. */
const feeRange: AmountRange = { unit: "tinybars", min: 10_000n, max: 1_000n * hbar };

/** One for each Hedera network that a `HEDERA_<TESTNET|MAINNET|PREVIEWNET>_…` variable names. */
export function readHederaNetworks(
  env: EnvReader,
  variables: Variables,
  environmentOf: EnvironmentOf,
): readonly HederaConfig[] {
  const chains = networksOf("hedera").map((network) => network.slice("hedera:".length));
  const named = chains.filter((chain) => hasAny(variables, `HEDERA_${chain.toUpperCase()}_`));
  return named.map((chain) => readHedera(env, chain, environmentOf));
}

function readHedera(env: EnvReader, chain: string, environmentOf: EnvironmentOf): HederaConfig {
  const network = `hedera:${chain}`;
  const name = (suffix: string) => `HEDERA_${chain.toUpperCase()}_${suffix}`;
  const assets = readAssets(env, name("ASSETS"), network, { isAsset: isEntityId, form: "of the form 0.0.n" });
  const mirrorUrl = readMirror(env, name("MIRROR"));
  return {
    network,
    nodes: readNodes(env, name("NODES")),
    mirrorUrl,
    explorer: readExplorer(env, name("EXPLORER"), network, mirrorUrl),
    feePayers: readFeePayers(env, name("FEE_PAYERS")),
    assets,
    amountMin: env.amount(name("AMOUNT_MIN"), amountMinOn(environmentOf(network)), amountMinRange),
    ...readFunds(env, name, fundsRange, {
      balanceLow: 20n * hbar,
      balanceEmpty: 2n * hbar,
      dailyBudget: budgetOn(environmentOf(network), 100n * hbar),
    }),
    ...readTransactionFees(env, name),
  };
}

function readTransactionFees(env: EnvReader, name: (suffix: string) => string) {
  const [least, most] = [name("TRANSACTION_FEE_MIN_TINYBARS"), name("TRANSACTION_FEE_MAX_TINYBARS")];
  const transactionFeeMax = env.amount(most, 2n * hbar, feeRange);
  const transactionFeeMin = env.amount(least, hbar / 100n, feeRange);
  if (transactionFeeMin > transactionFeeMax) {
    env.doubts.push(`${least} (${transactionFeeMin}) is more than ${most} (${transactionFeeMax}): no payment is taken`);
  }
  return { transactionFeeMax, transactionFeeMin };
}

/** Only its origin and path are used, and `/api/v1` comes after them. */
function readMirror(env: EnvReader, name: string): string {
  const text = env.url(name);
  if (!URL.canParse(text)) return text;
  const { username, password, search, hash, pathname } = new URL(text);
  if (username || password || search || hash || pathname.endsWith("/api/v1"))
    return env.problem(`${name} must be a mirror's address without a user, a query and /api/v1`, text);
  return text;
}

function readFeePayers(env: EnvReader, name: string): HederaConfig["feePayers"] {
  const feePayers = env.list(name).map((entry) => {
    const [, account, kms] = inKms.exec(entry) ?? [];
    if (account !== undefined && kms !== undefined) return { accountId: account, kms };
    const [id = "", key = "", ...rest] = entry.split(":");
    const [kind, hex] = rest.length === 1 ? [key, rest[0] ?? ""] : ["", key];
    if (
      !isEntityId(id) ||
      rest.length > 1 ||
      !["", "ed25519", "ecdsa"].includes(kind) ||
      !/^(0x)?[0-9a-fA-F]{64,}$/.test(hex)
    ) {
      env.problem(`${name} must list 0.0.n:ed25519:<hex>, 0.0.n:ecdsa:<hex>, 0.0.n:<DER hex> or 0.0.n:kms:<key>`, 0);
    }
    return { accountId: id, privateKey: new Secret(kind === "" ? hex : `${kind}:${hex}`) };
  });
  const accounts = new Set(feePayers.map(({ accountId }) => accountId));
  if (accounts.size < feePayers.length) env.problem(`${name} names a fee payer twice`, 0);
  if (feePayers.length === 0) env.problem(`${name} is missing`, 0);
  return feePayers;
}

function readNodes(env: EnvReader, name: string): HederaConfig["nodes"] {
  const nodes = Object.fromEntries(
    env.list(name).map((entry) => {
      const [address = "", node = ""] = entry.split("=");
      if (!/^[^:]+:\d+$/.test(address) || !isEntityId(node)) {
        env.problem(`${name} must list host:port=0.0.n`, 0);
      }
      return [address, node];
    }),
  );
  if (Object.keys(nodes).length === 0) env.problem(`${name} is missing`, 0);
  return nodes;
}

function isEntityId(text: string): boolean {
  return /^0\.0\.(0|[1-9]\d{0,18})$/.test(text);
}

const inKms = new RegExp(`^(0\\.0\\.(?:0|[1-9]\\d{0,18})):kms:(${kmsKeyPattern})$`);
