import { mkdirSync, readFileSync, renameSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startEvmChain } from "../evm-chain/chain.ts";
import { startModelStandIn } from "../model-stand-in/server.ts";
import { startXStandIn } from "../x-stand-in/server.ts";
import { type Child, startChild } from "./child.ts";
import type { Parts } from "./parts.ts";
import { startPostgres } from "./postgres.ts";
import { seedMarketplace } from "./seed.ts";
import type { Settings } from "./settings.ts";
import type { StackFile } from "./stack-file.ts";
import { developmentSealingKey, developmentSessionSecret, evmWallets } from "./wallets.ts";

/**
 * Starts every part as soon as what it stands on is there, and seeds the marketplace. What was started is with `parts`
 * from the first moment, so that it can be stopped at any time.
 */
export async function startStack({ settings, parts, env, cameUp, note }: StackOptions): Promise<StackFile> {
  const { dataDirectory, ports } = settings;
  const logs = join(dataDirectory, "logs");
  mkdirSync(logs, { recursive: true });
  const wallets = evmWallets(env);

  const timed = async <T>(name: string, where: string, work: Promise<T>): Promise<T> => {
    const started = performance.now();
    const result = await work;
    cameUp(name, where, performance.now() - started);
    return result;
  };
  const program = async <T>(options: ProgramOptions<T>): Promise<T> => {
    const { name, file, logName, check } = options;
    const childEnv = { ...inherited(env), ...options.env };
    const child = startChild({ name, program: file, env: childEnv, logFile: join(logs, `${logName}.log`) });
    await parts.adopt({ name, kind: options.kind, pid: child.pid, stop: () => child.stop() });
    const answer = await child.readiness(() => check(child));
    parts.watch(child.died);
    return answer;
  };

  const databases = timed("PostgreSQL", `127.0.0.1:${ports.postgres.number}`, startDatabases());
  const hedera = timed("Hedera (local ledger)", `127.0.0.1:${ports.hederaNodes[0]?.number}`, startHedera());
  const evm = timed("EVM chain (anvil)", `http://127.0.0.1:${ports.evm.number}`, startEvm());
  const model = timed("Model stand-in", `http://127.0.0.1:${ports.model.number}`, startModel());
  const x = timed("X stand-in", `http://127.0.0.1:${ports.x.number}`, startX());
  const facilitatorUrl = `http://127.0.0.1:${ports.facilitator.number}`;
  const marketplaceUrl = `http://127.0.0.1:${ports.marketplace.number}`;
  const facilitator = timed("Facilitator", facilitatorUrl, startFacilitator());
  const marketplace = timed("Marketplace", marketplaceUrl, startMarketplace());
  const seeded = timed("Demo accounts and agents", "", seed());
  await Promise.all([facilitator, marketplace, seeded]);

  const ledger = await hedera;
  const chain = await evm;
  const { accountId, privateKey } = ledger.accounts.buyer;
  return {
    marketplace: marketplaceUrl,
    facilitator: facilitatorUrl,
    hedera: {
      network: ledger.network,
      nodes: ledger.nodes,
      mirror: ledger.mirror,
      usdc: ledger.usdc,
      feePayer: ledger.accounts.feePayer.accountId,
    },
    evm: {
      network: `eip155:${chain.chainId}`,
      rpc: chain.rpcUrl,
      usdc: chain.usdc,
      feePayer: wallets.feePayer.address,
    },
    demo: { ...(await seeded), buyer: { hedera: { accountId, privateKey }, evm: wallets.buyer } },
  };

  async function startDatabases() {
    const directory = join(dataDirectory, "postgres");
    const postgres = await startPostgres({ directory, port: ports.postgres.number, durable: true });
    await parts.adopt({ name: "PostgreSQL", kind: "ground", pid: postgres.pid, stop: () => postgres.stop() });
    const [facilitatorDatabase, marketplaceDatabase] = await Promise.all([
      postgres.createDatabase("facilitator"),
      postgres.createDatabase("marketplace"),
    ]);
    return { facilitatorDatabase, marketplaceDatabase };
  }

  function startHedera(): Promise<Ledger> {
    const stateFile = join(dataDirectory, "hedera.json");
    if (setAsideUnlessJson(stateFile)) note(`${stateFile} was damaged and is set aside; the local Hedera begins anew`);
    return program({
      name: "Hedera (local ledger)",
      kind: "ground",
      file: "infra/dev-ledger/main.ts",
      logName: "dev-ledger",
      env: {
        DEV_LEDGER_NODE_PORTS: ports.hederaNodes.map(({ number }) => number).join(","),
        DEV_LEDGER_MIRROR_PORT: String(ports.hederaMirror.number),
        DEV_LEDGER_ADMIN_PORT: String(ports.hederaAdmin.number),
        DEV_LEDGER_STATE_FILE: stateFile,
      },
      check: async (child) => {
        const ready = /^dev-ledger ready (\{.*\})$/m.exec(child.output())?.[1];
        return ready === undefined ? undefined : (JSON.parse(ready) as Ledger);
      },
    });
  }

  async function startEvm() {
    const stateFile = join(dataDirectory, "evm.json");
    const chain = await startEvmChain({ port: ports.evm.number, stateFile, blockTimeSeconds: 5 });
    if (chain.origin.startsWith("older")) note(`${stateFile} was damaged; the EVM chain goes on from an older copy`);
    await parts.adopt({ name: "EVM chain (anvil)", kind: "ground", pid: chain.pid, stop: () => chain.stop() });
    const [feePayer, buyer] = [wallets.feePayer.address, wallets.buyer.address];
    if ((await chain.balances(feePayer)).wei < ether) await chain.fund(feePayer, { wei: 10n * ether });
    if ((await chain.balances(buyer)).usdc < 10n * dollar) await chain.fund(buyer, { usdc: 1000n * dollar });
    return chain;
  }

  async function startModel() {
    const standIn = await startModelStandIn({ port: ports.model.number });
    await parts.adopt({ name: "Model stand-in", kind: "ground", stop: () => standIn.stop() });
    return standIn;
  }

  async function startX() {
    const standIn = await startXStandIn({ port: ports.x.number, token: xToken });
    await parts.adopt({ name: "X stand-in", kind: "ground", stop: () => standIn.stop() });
    return standIn;
  }

  async function startFacilitator(): Promise<void> {
    const [{ facilitatorDatabase }, ledger, chain] = await Promise.all([databases, hedera, evm]);
    const { accountId, privateKey } = ledger.accounts.feePayer;
    await program({
      name: "Facilitator",
      kind: "service",
      file: "facilitator/main.ts",
      logName: "facilitator",
      env: {
        FACILITATOR_DATABASE_URL: facilitatorDatabase,
        FACILITATOR_HOST: "127.0.0.1",
        FACILITATOR_PORT: String(ports.facilitator.number),
        FACILITATOR_DISCOVERY_LOCALHOST: "true",
        HEDERA_TESTNET_NODES: nodesOf(ledger),
        HEDERA_TESTNET_MIRROR: ledger.mirror,
        HEDERA_TESTNET_FEE_PAYERS: `${accountId}:${privateKey}`,
        [`EIP155_${chain.chainId}_RPC_URL`]: chain.rpcUrl,
        [`EIP155_${chain.chainId}_SIGNERS`]: wallets.feePayer.privateKey,
      },
      check: () => answersOk(`${facilitatorUrl}/health`),
    });
  }

  /** For the command line: `set -a; . .data/marketplace.env` makes it work on the running stack. */
  async function writeMarketplaceEnv(): Promise<void> {
    const lines = Object.entries(await marketplaceEnv()).map(([name, value]) => `${name}='${value}'\n`);
    await writeFile(join(dataDirectory, "marketplace.env"), lines.join(""), { mode: 0o600 });
  }

  async function startMarketplace(): Promise<void> {
    await writeMarketplaceEnv();
    await program({
      name: "Marketplace",
      kind: "service",
      file: "marketplace/main.ts",
      logName: "marketplace",
      env: await marketplaceEnv(),
      check: () => answersOk(`${marketplaceUrl}/health`),
    });
  }

  async function marketplaceEnv(): Promise<Record<string, string>> {
    const [{ marketplaceDatabase }, standIn, posts] = await Promise.all([databases, model, x]);
    const [ledger, chain] = await Promise.all([hedera, evm]);
    const { accountId, privateKey } = ledger.accounts.operator;
    const platform = [
      `${ledger.network}=${ledger.accounts.platform.accountId}`,
      `eip155:${chain.chainId}=${wallets.platform.address}`,
    ];
    return {
      MARKETPLACE_DATABASE_URL: marketplaceDatabase,
      NODE_ENV: "development",
      MARKETPLACE_HOST: "127.0.0.1",
      MARKETPLACE_PORT: String(ports.marketplace.number),
      MARKETPLACE_PUBLIC_URL: env.MARKETPLACE_PUBLIC_URL ?? marketplaceUrl,
      MARKETPLACE_SEALING_KEY: env.MARKETPLACE_SEALING_KEY ?? developmentSealingKey,
      SESSION_SECRET: env.SESSION_SECRET ?? developmentSessionSecret,
      FACILITATOR_URL: facilitatorUrl,
      PLATFORM_WALLETS: env.PLATFORM_WALLETS ?? platform.join(","),
      OUTBOUND_ALLOW_HOSTS: env.OUTBOUND_ALLOW_HOSTS ?? `127.0.0.1:${ports.model.number}`,
      // A model of one's own is as good as the stand-in.
      LLM_BASE_URL: env.LLM_BASE_URL ?? standIn.baseUrl,
      LLM_MODELS: env.LLM_MODELS ?? `${env.LLM_MODEL ?? "gpt-4o-mini"}=1:4000:40000`,
      IMAGES_MODELS: env.IMAGES_MODELS ?? `${env.IMAGES_MODEL ?? "gpt-image-1"}=4:4:4000`,
      FILES_DIR: env.FILES_DIR ?? join(dataDirectory, "files"),
      HEDERA_NETWORK: "testnet",
      HEDERA_MIRROR: ledger.mirror,
      HEDERA_NODES: nodesOf(ledger),
      HEDERA_OPERATOR_ID: accountId,
      HEDERA_OPERATOR_KEY: privateKey,
      X_API_BASE_URL: env.X_API_BASE_URL ?? posts.url,
      X_API_BEARER_TOKEN: env.X_API_BEARER_TOKEN ?? xToken,
      EVM_RPC_URLS: `eip155:${chain.chainId}=${chain.rpcUrl}`,
    };
  }

  async function seed() {
    const [ledger, chain] = await Promise.all([hedera, evm]);
    return seedMarketplace({
      dataDirectory,
      env: { ...inherited(env), ...(await marketplaceEnv()) },
      demoService: (await model).url,
      payoutWallets: {
        [ledger.network]: ledger.accounts.creator.accountId,
        [`eip155:${chain.chainId}`]: wallets.creator.address,
      },
    });
  }
}

interface StackOptions {
  readonly settings: Settings;
  readonly parts: Parts;
  readonly env: NodeJS.ProcessEnv;
  /** Called as each part comes up. */
  cameUp(name: string, where: string, ms: number): void;
  /** Called with what a person should know besides. */
  note(message: string): void;
}

interface ProgramOptions<T> {
  readonly name: string;
  readonly kind: "service" | "ground";
  readonly file: string;
  readonly logName: string;
  readonly env: Record<string, string>;
  check(child: Child): Promise<T | undefined>;
}

/** What the dev ledger says on its ready line. */
interface Ledger {
  readonly network: string;
  readonly nodes: Readonly<Record<string, string>>;
  readonly mirror: string;
  readonly usdc: string;
  readonly accounts: Readonly<
    Record<"feePayer" | "creator" | "buyer" | "platform" | "operator", { accountId: string; privateKey: string }>
  >;
}

const xToken = "stand-in";
const ether = 10n ** 18n;
const dollar = 1_000_000n;

const nodesOf = ({ nodes }: Ledger) =>
  Object.entries(nodes)
    .map(([address, node]) => `${address}=${node}`)
    .join(",");

/** No network but the local ones: keys for a public ledger that happen to be in the environment stay unused. */
function inherited(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(HEDERA_|EIP155_)/.test(name)));
}

function setAsideUnlessJson(file: string): boolean {
  try {
    JSON.parse(readFileSync(file, "utf8"));
    return false;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    renameSync(file, `${file}.damaged`);
    return true;
  }
}

async function answersOk(url: string): Promise<true | undefined> {
  const response = await fetch(url);
  await response.body?.cancel();
  return response.ok ? true : undefined;
}
