import { type DeclaredDurability, readDurability } from "../shared/durability.ts";
import { EnvReader, type Secret } from "../shared/env.ts";
import { type HttpLimits, readHttpLimits } from "../shared/http-limits.ts";
import { readDrainMs } from "../shared/leaving.ts";
import { networksOf } from "../shared/networks.ts";
import type { Statements } from "../shared/postgres.ts";
import { readReplicaUrl } from "../shared/reads.ts";
import { readSecurityContact } from "../shared/security-contact.ts";
import { readTracing } from "../shared/tracing.ts";
import { readValkey, type ValkeyConfig } from "../shared/valkey.ts";
import { type ArchiveConfig, readArchive } from "./archive/config.ts";
import { type Client, readClients } from "./limits/clients.ts";
import { type LimitsConfig, readLimits } from "./limits/config.ts";
import { type EvmConfig, evmChainIds, readEnvironments, readEvm } from "./schemes/exact-evm/config.ts";
import { type HederaConfig, readHederaNetworks } from "./schemes/exact-hedera/config.ts";
import type { EnvironmentOf, Variables } from "./schemes/network-config.ts";
import { type KmsConfig, readKms } from "./signing/kms.ts";

const hederaNames = networksOf("hedera").map((network) => network.slice("hedera:".length).toUpperCase());

/** Everything the daemon reads from its environment, once. Throws ConfigError naming every problem. */
export function readConfig(variables: Variables): Config {
  const env = new EnvReader(variables);
  const environmentOf = readEnvironments(env, variables);
  const evm = evmChainIds(variables).map((chainId) => readEvm(env, chainId, environmentOf));
  const hedera = readHederaNetworks(env, variables, environmentOf);
  const isKmsNeeded = [
    ...evm.flatMap(({ signers }) => signers.map(({ key }) => key)),
    ...hedera.flatMap((h) => h.feePayers),
  ].some((key) => "kms" in key);
  const onMainnet = [...evm, ...hedera].some(({ network }) => environmentOf(network) === "mainnet");
  const databasePoolMax = env.integer("FACILITATOR_DATABASE_POOL", 20, { min: 2, max: 200 });
  const config: Config = {
    host: env.text("FACILITATOR_HOST", "127.0.0.1"),
    port: env.integer("FACILITATOR_PORT", 4022, { max: 65_535 }),
    databaseUrl: env.url("FACILITATOR_DATABASE_URL", undefined, ["postgres:", "postgresql:"]),
    databaseReadUrl: readReplicaUrl(env, "FACILITATOR_DATABASE_READ_URL"),
    migrates: env.choice("FACILITATOR_MIGRATE", ["on", "off"], "off") === "on",
    databaseStatements: env.choice("FACILITATOR_DATABASE_STATEMENTS", ["named", "unnamed"], "named"),
    durability: readDurability(env),
    databasePoolMax,
    databaseReadsMax: Math.max(1, Math.floor(databasePoolMax / 4)),
    logLevel: env.choice("LOG_LEVEL", ["debug", "info", "warn", "error", "silent"], "info"),
    trustProxy: env.integer("TRUST_PROXY_HOPS", 0, { max: 10 }),
    http: readHttpLimits(env),
    drainMs: readDrainMs(env),
    securityContact: readSecurityContact(env),
    settleTimeoutMs: env.integer("SETTLE_TIMEOUT_MS", 50_000, { min: 1_000, max: 60_000 }),
    discovery: {
      probe: env.choice("FACILITATOR_DISCOVERY_PROBE", ["on", "off"], "on") === "on",
      allowLocalhost: env.flag("FACILITATOR_DISCOVERY_LOCALHOST", false),
    },
    valkey: readValkey(env),
    archive: readArchive(env),
    tracesTo: readTracing(env),
    environmentOf,
    clients: readClients(env),
    limits: readLimits(env, onMainnet),
    kms: readKms(env, isKmsNeeded),
    evm,
    hedera,
    unknownVariables: env.unread(networkVariable),
    doubts: env.doubts,
  };
  if (config.evm.length + config.hedera.length === 0) {
    env.problem(
      `no network is configured: set EIP155_<chain id>_RPC_URL or HEDERA_<${hederaNames.join("|")}>_MIRROR and their companions`,
      0,
    );
  }
  env.finish("facilitator");
  return config;
}

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly databaseUrl: string;
  /** A replica of it; undefined: there is none. */
  readonly databaseReadUrl: Secret | undefined;
  /** Brings its database to its schema when it starts; otherwise that was done before. */
  readonly migrates: boolean;
  readonly databaseStatements: Statements;
  /** What the operator says becomes of commits when the database's machine is lost. */
  readonly durability: DeclaredDurability;
  readonly databasePoolMax: number;
  /** Of these, for the public record, listings and pages. */
  readonly databaseReadsMax: number;
  readonly logLevel: string;
  /** Reverse proxies in front that may name the client's address. */
  readonly trustProxy: number;
  readonly http: HttpLimits;
  /** How long it answers requests after it was told to stop. */
  readonly drainMs: number;
  /** The address to which people write about a weakness. */
  readonly securityContact: string | undefined;
  /** How long /settle waits for the chain before it answers `settlement_pending`. */
  readonly settleTimeoutMs: number;
  /** For development both: list resources without asking them, and list servers on this machine. */
  readonly discovery: { readonly probe: boolean; readonly allowLocalhost: boolean };
  /** Whether a network's money is real, of any network that was ever served. */
  readonly environmentOf: EnvironmentOf;
  /** Where calls are counted for their limits; undefined: in the database, and what is only read by each copy. */
  readonly valkey: ValkeyConfig | undefined;
  /** Where old records are; undefined: all are in the database. */
  readonly archive: ArchiveConfig | undefined;
  /** The collector of spans. */
  readonly tracesTo: string | undefined;
  /** Resource servers with a limit of their own; any other may call, too. */
  readonly clients: readonly Client[];
  readonly limits: LimitsConfig;
  /** Where fee payers' keys are that are not in this environment. */
  readonly kms: KmsConfig | undefined;
  readonly evm: readonly EvmConfig[];
  readonly hedera: readonly HederaConfig[];
  /** Named like settings of a network, and none. */
  readonly unknownVariables: readonly string[];
  /** Settings that were meant otherwise, most likely, each in words. */
  readonly doubts: readonly string[];
}

const networkVariable = new RegExp(`^(EIP155_\\d+|HEDERA_(${hederaNames.join("|")}))_`);
