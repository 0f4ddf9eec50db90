import { isIP } from "node:net";
import { type DeclaredDurability, readDurability } from "../shared/durability.ts";
import { EnvReader, Secret } from "../shared/env.ts";
import { type HttpLimits, readHttpLimits } from "../shared/http-limits.ts";
import { readDrainMs } from "../shared/leaving.ts";
import { networksOf } from "../shared/networks.ts";
import type { Statements } from "../shared/postgres.ts";
import { readReplicaUrl } from "../shared/reads.ts";
import { readSecurityContact } from "../shared/security-contact.ts";
import { readTracing } from "../shared/tracing.ts";
import { readValkey, type ValkeyConfig } from "../shared/valkey.ts";
import { type AnonymousLimitsConfig, readAnonymousLimits } from "./anonymous-limits.ts";
import { type ChainsConfig, readChains, readServices, type ServicesConfig } from "./connectors/config.ts";
import { type ModelFundsConfig, readModelFunds } from "./models/funds-config.ts";
import { type ModelList, readModelList } from "./models/model-list.ts";
import { type HomeTryConfig, readHomeTry } from "./runs/home-try-config.ts";
import { readSignIn, type SignInConfig } from "./sign-in/config.ts";
import { type FreeTriesConfig, readFreeTries } from "./svg/free-tries.ts";
import { readDemoWallet } from "./web/demo-wallet.ts";
import { type OperatorTexts, readOperatorTexts } from "./web/operator-texts.ts";
import { readWalletConnect, type WalletConnectConfig } from "./web/wallet-connect-config.ts";

/** Everything the marketplace is told by its environment. Throws ConfigError naming every problem at once. */
export function readConfig(environment: Record<string, string | undefined>): Config {
  const env = new EnvReader(environment);
  const host = env.text("MARKETPLACE_HOST", "127.0.0.1");
  const port = env.integer("MARKETPLACE_PORT", 4020, { max: 65_535 });
  const publicUrl = env.url("MARKETPLACE_PUBLIC_URL", `http://127.0.0.1:${port}`);
  const facilitatorUrl = env.url("FACILITATOR_URL");
  const config: Config = {
    host,
    port,
    publicUrl,
    trustProxy: readTrustProxy(env),
    http: readHttpLimits(env),
    drainMs: readDrainMs(env),
    metricsToken: readMetricsToken(env),
    securityContact: readSecurityContact(env),
    logLevel: env.choice("LOG_LEVEL", ["fatal", "error", "warn", "info", "debug", "silent"], "info"),
    ...readStore(env),
    databaseReadUrl: readReplicaUrl(env, "MARKETPLACE_DATABASE_READ_URL"),
    databaseStatements: env.choice("MARKETPLACE_DATABASE_STATEMENTS", ["named", "unnamed"], "named"),
    durability: readDurability(env),
    valkey: readValkey(env),
    tracesTo: readTracing(env),
    databasePoolMax: env.integer("MARKETPLACE_DATABASE_POOL", 16, { min: 2, max: 500 }),
    facilitatorUrl,
    facilitatorPublicUrl: env.url("FACILITATOR_PUBLIC_URL", facilitatorUrl || "http://missing"),
    facilitatorToken: readFacilitatorToken(env),
    quoteKeys: readKeys(env, "MARKETPLACE_QUOTE_KEY", "MARKETPLACE_QUOTE_KEYS_OTHER"),
    failedPayments: {
      perAddress: env.integer("LIMIT_FAILED_PROOFS_PER_ADDRESS", 60, failedProofs),
      perPayer: env.integer("LIMIT_FAILED_PROOFS_PER_PAYER", 30, failedProofs),
    },
    platformFeeBasisPoints: env.integer("PLATFORM_FEE_BASIS_POINTS", 0, { max: 9_999 }),
    platformWallets: readWallets(env, "PLATFORM_WALLETS"),
    runLeaseMs: env.integer("RUN_LEASE_MS", 60_000, { min: 1_000, max: 600_000 }),
    outputBytesPerAccount: env.integer("RUN_OUTPUT_BYTES_PER_ACCOUNT", 4_000_000_000, { min: 1 }),
    model: {
      baseUrl: env.url("LLM_BASE_URL"),
      apiKey: optionalSecret(env, "LLM_API_KEY"),
    },
    services: readServices(env),
    signIn: readSignIn(env, { host, publicUrl }),
    anonymousLimits: readAnonymousLimits(env),
    freeTries: readFreeTries(env),
    operatorTexts: readOperatorTexts(env),
    homeTry: readHomeTry(env),
    modelFunds: readModelFunds(env),
    demoWalletScript: readDemoWallet(env, publicUrl),
    walletConnect: readWalletConnect(env),
    doubts: env.doubts,
  };
  requireHttps(env, config.publicUrl);
  env.finish("marketplace");
  return config;
}

/** What the command line needs to change the same database. */
export function readStoreConfig(environment: Record<string, string | undefined>): StoreConfig {
  const env = new EnvReader(environment);
  const config = readStore(env);
  env.finish("the command");
  return config;
}

export interface StoreConfig {
  readonly databaseUrl: Secret;
  /** Brings the database to its schema before anything else; otherwise that was done before. */
  readonly migrates: boolean;
  /** Development only: `host:port` pairs the outbound guard lets through although they are private. */
  readonly outboundAllowHosts: readonly string[];
  /** The first seals creators' secrets, all of them open what they sealed. */
  readonly sealingKeys: readonly Secret[];
  /** The chains that agents read and write. */
  readonly chains: ChainsConfig;
  readonly modelList: ModelList;
}

export interface Config extends StoreConfig {
  /** Settings that were meant otherwise, most likely, each in words. */
  readonly doubts: readonly string[];
  readonly host: string;
  readonly port: number;
  readonly publicUrl: string;
  readonly trustProxy: string | number | boolean;
  readonly http: HttpLimits;
  /** A scraper that shows it reads the figures; undefined: none does. */
  readonly metricsToken: Secret | undefined;
  /** How long it answers requests after it was told to stop. */
  readonly drainMs: number;
  /** The address to which people write about a weakness. */
  readonly securityContact: string | undefined;
  readonly logLevel: string;
  /** A replica of the database; undefined: there is none. */
  readonly databaseReadUrl: Secret | undefined;
  readonly databaseStatements: Statements;
  /** What the operator says becomes of commits when the database's machine is lost. */
  readonly durability: DeclaredDurability;
  /** Where calls are counted for their limits; undefined: in the database, and public ones by each copy. */
  readonly valkey: ValkeyConfig | undefined;
  /** The collector of spans. */
  readonly tracesTo: string | undefined;
  readonly databasePoolMax: number;
  readonly facilitatorUrl: string;
  /** The facilitator's URL for buyers. */
  readonly facilitatorPublicUrl: string;
  /** The token that names this service at the facilitator; undefined: it is anonymous there. */
  readonly facilitatorToken: Secret | undefined;
  /** The first authenticates new quotes, all of them recognise their own; where there is none, a key in the database does. */
  readonly quoteKeys: readonly Secret[];
  /** Payments that bought nothing, within a minute, by each copy of the service. */
  readonly failedPayments: { readonly perAddress: number; readonly perPayer: number };
  readonly platformFeeBasisPoints: number;
  /** Where the platform is paid for what it sells itself: credits, vector graphics. */
  readonly platformWallets: ReadonlyArray<{ readonly network: string; readonly address: string }>;
  /** How long a run outlives the copy of the service that died running it. */
  readonly runLeaseMs: number;
  /** What the outputs of an account's runs may take together for longer than a day. */
  readonly outputBytesPerAccount: number;
  /** The OpenAI-compatible endpoint of language models. */
  readonly model: { readonly baseUrl: string; readonly apiKey: Secret | undefined };
  /** Where images are drawn, posts are read and files are kept. */
  readonly services: ServicesConfig;
  readonly signIn: SignInConfig;
  readonly anonymousLimits: AnonymousLimitsConfig;
  readonly freeTries: FreeTriesConfig;
  readonly operatorTexts: OperatorTexts;
  /** What visitors of the first page can try; undefined: nothing. */
  readonly homeTry: HomeTryConfig | undefined;
  readonly modelFunds: ModelFundsConfig;
  /** In development, the file of a wallet for the pages. */
  readonly demoWalletScript: string | undefined;
  /** How pages reach Hedera wallets that are not in the browser; undefined: they do not. */
  readonly walletConnect: WalletConnectConfig | undefined;
}

function readStore(env: EnvReader): StoreConfig {
  return {
    databaseUrl: env.secret("MARKETPLACE_DATABASE_URL", /^postgres(ql)?:\/\//, "a postgres:// URL"),
    migrates: env.choice("MARKETPLACE_MIGRATE", ["on", "off"], "off") === "on",
    outboundAllowHosts: readAllowHosts(env),
    sealingKeys: readKeys(env, "MARKETPLACE_SEALING_KEY", "MARKETPLACE_SEALING_KEYS_RETIRED"),
    chains: readChains(env),
    modelList: readModelList(env),
  };
}

/** `true`, `false`, a number of proxies, or addresses and ranges; Express' own setting of that name. */
function readTrustProxy(env: EnvReader): string | number | boolean {
  const value = env.optional("TRUST_PROXY");
  if (value === undefined || value === "false") return false;
  if (value === "true") return true;
  if (/^\d{1,2}$/.test(value)) return Number(value);
  if (value.split(",").every((item) => isAddressRange(item.trim()))) return value;
  return env.problem("TRUST_PROXY must be true, false, a number of proxies, or a list of addresses and ranges", false);
}

function isAddressRange(item: string): boolean {
  if (/^(loopback|linklocal|uniquelocal)$/.test(item)) return true;
  const [address = "", bits, ...rest] = item.split("/");
  const bitsMax = isIP(address) === 4 ? 32 : 128;
  const isPrefix = (text: string) => /^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= bitsMax;
  const isMask = (text: string) => isIP(address) === 4 && isIP(text) === 4;
  return isIP(address) > 0 && rest.length === 0 && (bits === undefined || isPrefix(bits) || isMask(bits));
}

/** Links to images, files and payment routes are given out under it. */
function requireHttps(env: EnvReader, publicUrl: string): void {
  const { protocol, hostname } = URL.canParse(publicUrl) ? new URL(publicUrl) : { protocol: "", hostname: "" };
  if (protocol !== "http:" || ["localhost", "127.0.0.1", "[::1]"].includes(hostname)) return;
  env.problem("MARKETPLACE_PUBLIC_URL must be https:// where it is not this machine", undefined);
}

/** `network=address` pairs, networks in CAIP-2, each once. */
function readWallets(env: EnvReader, name: string): ReadonlyArray<{ network: string; address: string }> {
  const form = "<network>=<address>, such as hedera:testnet=0.0.1234 or eip155:84532=0x…";
  const wallets = env.list(name).map((entry) => {
    const [network = "", address = "", ...rest] = entry.split("=");
    const isHedera = networksOf("hedera").includes(network) && /^0\.0\.[1-9]\d{0,18}$/.test(address);
    const isEvm = /^eip155:[1-9]\d{0,14}$/.test(network) && /^0x(?!0{40})[0-9a-fA-F]{40}$/.test(address);
    if (rest.length > 0 || !(isHedera || isEvm)) env.problem(`${name} must list ${form}`, undefined);
    return { network, address };
  });
  if (new Set(wallets.map(({ network }) => network)).size < wallets.length) {
    env.problem(`${name} names a network twice`, undefined);
  }
  return wallets;
}

function readAllowHosts(env: EnvReader): readonly string[] {
  const hosts = env.list("OUTBOUND_ALLOW_HOSTS").map((item) => item.toLowerCase());
  for (const host of hosts) {
    if (!/^(\[[0-9a-f:.]+\]|[a-z0-9.-]+):\d{1,5}$/.test(host)) {
      env.problem(`OUTBOUND_ALLOW_HOSTS must list host:port pairs; "${host}" is none`, undefined);
    }
  }
  return hosts;
}

/** The key that is used, then those that are known, too. */
function readKeys(env: EnvReader, used: string, known: string): readonly Secret[] {
  if (env.list(used).length === 0 && env.list(known).length > 0) {
    env.problem(`${used} is missing: the first of ${known} would be used in its place`, undefined);
  }
  return [used, known].flatMap((name) =>
    env.list(name).map((text) => {
      if (Buffer.from(text, "base64").length !== 32) env.problem(`${name} must be 32 bytes in base64`, undefined);
      return new Secret(text);
    }),
  );
}

/** Guessed at leisure by whoever reaches the service, so it should be long. */
function readMetricsToken(env: EnvReader): Secret | undefined {
  const token = env.optional("METRICS_TOKEN");
  if (token !== undefined && token.length < 16)
    env.doubts.push("METRICS_TOKEN has less than 16 characters, and can be guessed");
  return token === undefined ? undefined : new Secret(token);
}

function readFacilitatorToken(env: EnvReader): Secret | undefined {
  const token = env.optional("FACILITATOR_TOKEN");
  if (token === undefined || /^[\x21-\x7e]+$/.test(token)) return token === undefined ? undefined : new Secret(token);
  return env.problem("FACILITATOR_TOKEN must be of ASCII characters without spaces", undefined);
}

function optionalSecret(env: EnvReader, name: string): Secret | undefined {
  const value = env.optional(name);
  return value === undefined ? undefined : new Secret(value);
}

const failedProofs = { min: 1, max: 100_000_000 };
