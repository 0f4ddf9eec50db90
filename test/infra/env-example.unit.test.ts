import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { readConfig as readFacilitatorConfig } from "../../facilitator/config.ts";
import { readSettings } from "../../infra/dev/settings.ts";
import { evmWallets } from "../../infra/dev/wallets.ts";
import { readConfig as readMarketplaceConfig } from "../../marketplace/config.ts";

type Env = Record<string, string | undefined>;

test(".env.example explains every variable anything reads, and none that nothing reads", async () => {
  // Each of these makes others count.
  const network = {
    EIP155_84532_RPC_URL: "http://chain",
    HEDERA_TESTNET_MIRROR: "http://mirror",
    KMS_ACCESS_KEY_ID: "key",
    ARCHIVE_S3_ENDPOINT: "http://s3",
  };
  const choices = { SMTP_URL: "smtp://mail", OIDC_ISSUER: "http://issuer", FILES_S3_ENDPOINT: "http://s3" };
  const read = [
    ...namesReadBy(readFacilitatorConfig, network),
    ...namesReadBy(readMarketplaceConfig, choices),
    ...namesReadBy(readSettings),
    ...namesReadBy(evmWallets),
    ...matches(await file("infra/deploy/compose.yaml"), /\$\{([A-Z_]+)/g),
    ...matches(await file("infra/mock-models/main.ts"), /"(MODEL_[A-Z_]+)"/g),
  ];
  const explained = matches(await file(".env.example"), /^#([A-Z][A-Z0-9_]*)=/gm);
  expect(explained.toSorted()).toEqual([...new Set(read)].toSorted());
});

test("nothing in .env.example is set until somebody removes its #", async () => {
  expect((await file(".env.example")).split("\n").filter((line) => !/^(#.*)?$/.test(line))).toEqual([]);
});

test("each figure of .env.example is the default in production, on main networks", async () => {
  const figures = [...(await file(".env.example")).matchAll(/^#([A-Z][A-Z0-9_]*)=(\d+)$/gm)];
  const base = { NODE_ENV: "production" };
  const services = [
    [readFacilitatorConfig, { ...base, ...facilitator }],
    [readMarketplaceConfig, { ...base, ...marketplace }],
  ] as const;
  for (const [readConfig, env] of services) {
    const usual = asText(readConfig(env));
    for (const [, name = "", figure] of figures) {
      const onMain = name.replace("EIP155_84532", "EIP155_8453").replace("HEDERA_TESTNET", "HEDERA_MAINNET");
      expect(asText(readConfig({ ...env, [onMain]: figure })), `${name}=${figure}`).toBe(usual);
    }
  }
});

/** A configuration without its functions, which are never equal. */
const asText = (config: unknown) =>
  JSON.stringify(config, (_name, value) => (typeof value === "bigint" ? String(value) : value));

const key = `0x${"11".repeat(32)}`;
/** The least that the facilitator starts with, on a main network of either family. */
const facilitator = {
  FACILITATOR_DATABASE_URL: "postgres://database/facilitator",
  EIP155_8453_RPC_URL: "http://chain",
  EIP155_8453_SIGNERS: key,
  HEDERA_MAINNET_MIRROR: "http://mirror",
  HEDERA_MAINNET_NODES: "127.0.0.1:50211=0.0.3",
  HEDERA_MAINNET_FEE_PAYERS: `0.0.2:${key}`,
};
/** The least that the marketplace starts with where models and Hedera are called. */
const marketplace = {
  MARKETPLACE_DATABASE_URL: "postgres://database/marketplace",
  MARKETPLACE_PUBLIC_URL: "https://market.example.com",
  MARKETPLACE_SEALING_KEY: Buffer.alloc(32, 7).toString("base64"),
  SESSION_SECRET: "a session secret, long enough for it",
  SMTP_URL: "smtp://mail",
  MAIL_FROM: "market@example.com",
  FACILITATOR_URL: "http://facilitator",
  LLM_BASE_URL: "http://models",
  LLM_API_KEY: "key",
  HEDERA_MIRROR: "http://mirror",
  HEDERA_NODES: "127.0.0.1:50211=0.0.3",
};

const file = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), "utf8");

const matches = (text: string, pattern: RegExp) => Array.from(text.matchAll(pattern), ([, name]) => name);

/** What a reader asks its environment for, whether or not it is content with the answers. */
function namesReadBy(reader: (env: Env) => unknown, given: Env = {}): string[] {
  const asked = new Set<string>();
  const note: ProxyHandler<Env> = {
    get: (env, name) => {
      asked.add(String(name));
      return env[String(name)];
    },
  };
  try {
    reader(new Proxy(given, note));
  } catch {
    // It was told next to nothing; what counts is what it asked for.
  }
  return [...asked];
}
