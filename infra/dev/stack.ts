import { mkdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startBackingServices } from "./backing-services.ts";
import { writeDemoWallet } from "./demo-wallet.ts";
import type { Parts } from "./parts.ts";
import { inherited, programRunner, type RunProgram } from "./program.ts";
import { type SeededMarketplace, seedMarketplace } from "./seed.ts";
import { type EnvOptions, facilitatorEnv, marketplaceEnv, serviceUrls } from "./service-env.ts";
import type { Settings } from "./settings.ts";
import type { StackFile } from "./stack-file.ts";
import { evmWallets } from "./wallets.ts";

/**
 * Starts every part as soon as the parts it needs are there, and seeds the marketplace. Each started part is in `parts`
 * from the first moment, so that it can be stopped at any time.
 */
export async function startStack({ settings, parts, env, cameUp, note }: StackOptions): Promise<StackFile> {
  const logs = join(settings.dataDirectory, "logs");
  mkdirSync(logs, { recursive: true });
  const timed = async <T>(name: string, where: string, work: Promise<T>): Promise<T> => {
    const started = performance.now();
    const result = await work;
    cameUp(name, where, performance.now() - started);
    return result;
  };
  const program = programRunner(parts, env, logs);
  const wallets = evmWallets(env);
  const backing = startBackingServices({ settings, parts, wallets, program, timed, note });
  const options: EnvOptions = { settings, wallets, backing, env };
  const urls = serviceUrls(settings);
  const seeded = timed("Demo accounts and agents", "", seed(options));
  await Promise.all([
    timed("Facilitator", urls.facilitator, startFacilitator(program, options)),
    timed("Marketplace", urls.marketplace, startMarketplace(program, options)),
    seeded,
  ]);
  return describeStack(options, await seeded);
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

async function startFacilitator(program: RunProgram, options: EnvOptions): Promise<void> {
  await program({
    name: "Facilitator",
    kind: "service",
    file: "facilitator/main.ts",
    logName: "facilitator",
    env: await facilitatorEnv(options),
    check: () => answersOk(`${serviceUrls(options.settings).facilitator}/health`),
  });
}

async function startMarketplace(program: RunProgram, options: EnvOptions): Promise<void> {
  const { settings } = options;
  const env = await marketplaceEnv(options);
  // For the command line: `set -a; . .data/marketplace.env` makes it work on the running stack.
  const lines = Object.entries(env).map(([name, value]) => `${name}='${value}'\n`);
  await writeFile(join(settings.dataDirectory, "marketplace.env"), lines.join(""), { mode: 0o600 });
  await program({
    name: "Marketplace",
    kind: "service",
    file: "marketplace/main.ts",
    logName: "marketplace",
    env: { ...env, ...(await demoWallet(options)) },
    check: () => answersOk(`${serviceUrls(settings).marketplace}/health`),
  });
}

async function demoWallet({ settings, wallets, backing, env }: EnvOptions): Promise<Record<string, string>> {
  const [hedera, chain] = await Promise.all([backing.hedera, backing.evm]);
  const file = join(settings.dataDirectory, "demo-wallet.js");
  return writeDemoWallet(file, env.MARKETPLACE_PUBLIC_URL ?? serviceUrls(settings).marketplace, {
    evm: { network: `eip155:${chain.chainId}`, ...wallets.buyer },
    hedera: { network: hedera.network, ...hedera.accounts.buyer },
  });
}

async function seed(options: EnvOptions): Promise<SeededMarketplace> {
  const { settings, wallets, backing, env } = options;
  const [hedera, chain] = await Promise.all([backing.hedera, backing.evm]);
  return seedMarketplace({
    dataDirectory: settings.dataDirectory,
    env: { ...inherited(env), ...(await marketplaceEnv(options)) },
    demoService: (await backing.models).url,
    demoTools: (await backing.mcp).mcpUrl,
    payoutWallets: {
      [hedera.network]: hedera.accounts.creator.accountId,
      [`eip155:${chain.chainId}`]: wallets.creator.address,
    },
  });
}

async function describeStack(options: EnvOptions, seeded: SeededMarketplace): Promise<StackFile> {
  const { settings, wallets, backing } = options;
  const [hedera, chain] = await Promise.all([backing.hedera, backing.evm]);
  const { accountId, privateKey } = hedera.accounts.buyer;
  return {
    ...serviceUrls(settings),
    hedera: {
      network: hedera.network,
      nodes: hedera.nodes,
      mirror: hedera.mirror,
      usdc: hedera.usdc,
      feePayer: hedera.accounts.feePayer.accountId,
    },
    evm: {
      network: `eip155:${chain.chainId}`,
      rpc: chain.rpcUrl,
      usdc: chain.usdc,
      feePayer: wallets.feePayer.address,
    },
    demo: { ...seeded, buyer: { hedera: { accountId, privateKey }, evm: wallets.buyer } },
  };
}

async function answersOk(url: string): Promise<true | undefined> {
  const response = await fetch(url);
  await response.body?.cancel();
  return response.ok ? true : undefined;
}
