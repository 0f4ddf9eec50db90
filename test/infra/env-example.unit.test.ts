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
