import { type EnvReader, Secret } from "../../shared/env.ts";
import { networksOf } from "../../shared/networks.ts";
import { readS3, type S3Config } from "../../shared/s3.ts";
import { operatorKey } from "./hedera/operator.ts";

/** The chains that agents read and write; what publishing needs too. */
export interface ChainsConfig {
  readonly hedera: HederaConfig | undefined;
  /** RPC endpoint by CAIP-2 id. */
  readonly evmRpcUrls: Readonly<Record<string, string>>;
}

export interface HederaConfig {
  /** CAIP-2. */
  readonly network: string;
  readonly mirrorUrl: string;
  /** gRPC address → node account id. */
  readonly nodes: Readonly<Record<string, string>>;
  readonly operator: { readonly accountId: string; readonly key: Secret } | undefined;
  /** How long a transaction may be taken; after that it certainly was not. */
  readonly validSeconds: number;
  /** For so long after that the chain is asked what became of it; then that is said to be unknown. */
  readonly giveUpAfterMs: number;
  /** What the operator's account pays for agents' transactions in 24 hours, in tinybars; 0n is no limit. */
  readonly feesPerDay: bigint;
  readonly feesPerCreatorDay: bigint;
}

export interface ServicesConfig {
  readonly images: { readonly baseUrl: string; readonly apiKey: Secret | undefined };
  /** The maker of the drawings that are sold: an image model whose pictures are traced, or a chat model that writes SVG. */
  readonly drawings: { readonly engine: "images" | "chat"; readonly model: string | undefined };
  readonly x: {
    readonly baseUrl: string;
    readonly token: Secret | undefined;
    /** Claims of one creator's agents for which posts are read in a minute; 0 is no limit. */
    readonly claimsPerCreator: number;
  };
  /** Where stored images and drawings are. */
  readonly filesDirectory: string;
  /** Instead of the directory, where it is set. */
  readonly filesBucket: S3Config | undefined;
  readonly filesBytesPerAccount: number;
}

export function readChains(env: EnvReader): ChainsConfig {
  return { hedera: readHedera(env), evmRpcUrls: readEvmRpcUrls(env) };
}

export function readServices(env: EnvReader): ServicesConfig {
  const llmBaseUrl = env.optional("LLM_BASE_URL");
  return {
    images: {
      baseUrl:
        llmBaseUrl === undefined
          ? env.url("IMAGES_BASE_URL", "http://missing")
          : env.url("IMAGES_BASE_URL", llmBaseUrl),
      apiKey: optionalSecret(env, "IMAGES_API_KEY") ?? optionalSecret(env, "LLM_API_KEY"),
    },
    drawings: { engine: env.choice("SVG_ENGINE", ["images", "chat"], "images"), model: env.optional("SVG_MODEL") },
    x: {
      baseUrl: env.url("X_API_BASE_URL", "https://api.x.com"),
      token: optionalSecret(env, "X_API_BEARER_TOKEN"),
      claimsPerCreator: env.integer("X_CLAIMS_PER_CREATOR_MINUTE", 30, { max: 100_000 }),
    },
    filesDirectory: env.text("FILES_DIR", ".data/files"),
    filesBucket: readS3(env, "FILES"),
    filesBytesPerAccount: env.integer("FILES_BYTES_PER_ACCOUNT", 10_000_000_000),
  };
}

function readHedera(env: EnvReader): HederaConfig | undefined {
  const names = networksOf("hedera").map((network) => network.slice("hedera:".length));
  const name = env.choice("HEDERA_NETWORK", names, "testnet");
  const mirror = env.optional("HEDERA_MIRROR");
  const nodes = readPairs(env, "HEDERA_NODES", /^[^=\s]+:\d{1,5}=0\.0\.\d{1,10}$/, "host:port=0.0.n");
  const accountId = env.optional("HEDERA_OPERATOR_ID");
  const key = optionalSecret(env, "HEDERA_OPERATOR_KEY");
  const validSeconds = env.integer("HEDERA_VALID_SECONDS", 60, { min: 15, max: 90 });
  const feesPerDay = tinybars(env.integer("HEDERA_FEES_PER_DAY", 1_000, { max: 1_000_000_000 }));
  const feesPerCreatorDay = tinybars(env.integer("HEDERA_FEES_PER_CREATOR_DAY", 250, { max: 1_000_000_000 }));
  if (accountId !== undefined && !/^0\.0\.[1-9]\d{0,9}$/.test(accountId)) {
    env.problem("HEDERA_OPERATOR_ID must be an account id such as 0.0.1234", undefined);
  }
  if (key && !operatorKey.test(key.reveal())) {
    env.problem("HEDERA_OPERATOR_KEY must be ed25519:<hex>, ecdsa:<hex> or DER in hex", undefined);
  }
  if ((accountId === undefined) !== (key === undefined)) {
    env.problem("HEDERA_OPERATOR_ID and HEDERA_OPERATOR_KEY go together", undefined);
  }
  if (accountId !== undefined && (mirror === undefined || Object.keys(nodes).length === 0)) {
    env.problem("HEDERA_OPERATOR_ID needs HEDERA_MIRROR and HEDERA_NODES", undefined);
  }
  if (mirror === undefined) return undefined;
  const operator = accountId !== undefined && key ? { accountId, key } : undefined;
  return {
    network: `hedera:${name}`,
    mirrorUrl: env.url("HEDERA_MIRROR"),
    nodes,
    operator,
    validSeconds,
    giveUpAfterMs: 25_000,
    feesPerDay,
    feesPerCreatorDay,
  };
}

function tinybars(hbar: number): bigint {
  return BigInt(hbar) * 100_000_000n;
}

function readEvmRpcUrls(env: EnvReader): Record<string, string> {
  const urls = readPairs(env, "EVM_RPC_URLS", /^eip155:[1-9]\d{0,18}=https?:\/\/\S+$/, "eip155:<chain id>=<RPC URL>");
  return urls;
}

/** `a=b,c=d` as {a: "b", c: "d"}. */
function readPairs(env: EnvReader, name: string, form: RegExp, meaning: string): Record<string, string> {
  const pairs = env.list(name);
  if (!pairs.every((pair) => form.test(pair))) env.problem(`${name} must list ${meaning}`, undefined);
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]));
}

function optionalSecret(env: EnvReader, name: string): Secret | undefined {
  const value = env.optional(name);
  return value === undefined ? undefined : new Secret(value);
}
