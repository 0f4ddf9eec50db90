import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { demoAgents } from "./demo-agents.ts";
import { projectDirectory } from "./settings.ts";
import type { StackFile } from "./stack-file.ts";

/**
 * Gives the marketplace a creator (ada) with wallets and agents, and a buyer (grace) with credits and a key, through
 * the marketplace's own command line. Seeding again changes nothing.
 */
export async function seedMarketplace(options: SeedOptions): Promise<SeededMarketplace> {
  const { dataDirectory, demoService, demoTools, payoutWallets, env } = options;
  const remembered = readDemoKey(dataDirectory);
  const keyName = remembered?.name ?? `demo-${randomBytes(3).toString("hex")}`;
  const agents = Object.entries(demoAgents({ demoService, demoTools })).map(([slug, agent]) => ({ slug, ...agent }));
  const wallets = Object.entries(payoutWallets).map(([network, address]) => ({ network, address, checked: true }));
  // Over MCP the buyer's key sees ada's agents as tools.
  const tools = { scope: "chosen_agents", agents: agents.map(({ slug }) => `ada/${slug}`) };
  const seed = {
    accounts: [
      // Her agents' models cost credits where a call is free or paid straight to her wallet.
      { handle: "ada", email: "ada@example.com", credits: 1000, wallets, agents },
      {
        handle: "grace",
        email: "grace@example.com",
        credits: 1000,
        keys: [{ name: keyName, rate_limit_per_minute: 600, ...tools }],
      },
    ],
  };
  const file = join(dataDirectory, "seed.json");
  writeFileSync(file, JSON.stringify(seed));
  const [ada, grace] = (await runSeed(file, env)).accounts;

  // A key is told only when it is made.
  const apiKey = grace?.keys[0]?.token ?? remembered?.token;
  if (!ada || !apiKey) throw new Error("the marketplace told no key of the demo's buyer");
  writeDemoKey(dataDirectory, { name: keyName, token: apiKey });
  return { apiKey, creator: ada.handle, agents: ada.agents.map(({ agent }) => agent) };
}

export type SeededMarketplace = Pick<StackFile["demo"], "apiKey" | "creator" | "agents">;

interface SeedOptions {
  readonly dataDirectory: string;
  readonly demoService: string;
  /** Address of an MCP server. */
  readonly demoTools: string;
  /** Address by network. */
  readonly payoutWallets: Readonly<Record<string, string>>;
  readonly env: NodeJS.ProcessEnv;
}

interface Seeded {
  readonly accounts: ReadonlyArray<{
    readonly handle: string;
    readonly agents: ReadonlyArray<{ readonly agent: string }>;
    readonly keys: ReadonlyArray<{ readonly token?: string }>;
  }>;
}

async function runSeed(file: string, env: NodeJS.ProcessEnv): Promise<Seeded> {
  const args = ["--import", import.meta.resolve("tsx"), "marketplace/cli.ts", "seed", "--file", file, "--json"];
  try {
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: projectDirectory, env });
    return JSON.parse(stdout) as Seeded;
  } catch (error) {
    throw new Error(`the marketplace could not be seeded: ${(error as { stderr?: string }).stderr || error}`);
  }
}

interface DemoKey {
  readonly name: string;
  readonly token: string;
}

const demoKeyFile = (dataDirectory: string) => join(dataDirectory, "demo-key.json");

function readDemoKey(dataDirectory: string): DemoKey | undefined {
  try {
    return JSON.parse(readFileSync(demoKeyFile(dataDirectory), "utf8")) as DemoKey;
  } catch {
    return undefined;
  }
}

function writeDemoKey(dataDirectory: string, key: DemoKey): void {
  const file = demoKeyFile(dataDirectory);
  writeFileSync(`${file}.new`, JSON.stringify(key), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
