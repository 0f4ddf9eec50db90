import { readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { type EvmChain, startEvmChain } from "../local-evm/chain.ts";
import { type MockMcp, startMockMcp } from "../mock-mcp/server.ts";
import { type MockModels, startMockModels } from "../mock-models/server.ts";
import { type MockX, startMockX } from "../mock-x/server.ts";
import type { Parts } from "./parts.ts";
import { startPostgres } from "./postgres.ts";
import type { RunProgram } from "./program.ts";
import type { Settings } from "./settings.ts";
import type { EvmWallets } from "./wallets.ts";

/** The backing services of facilitator and marketplace; each is there as soon as it is up. */
export interface BackingServices {
  readonly databases: Promise<Databases>;
  readonly hedera: Promise<LocalHedera>;
  readonly evm: Promise<EvmChain>;
  readonly models: Promise<MockModels>;
  readonly x: Promise<MockX>;
  readonly mcp: Promise<MockMcp>;
}

export interface Databases {
  readonly facilitatorDatabase: string;
  readonly marketplaceDatabase: string;
}

/** What the local Hedera says on its ready line. */
export interface LocalHedera {
  readonly network: string;
  readonly nodes: Readonly<Record<string, string>>;
  readonly mirror: string;
  readonly usdc: string;
  readonly accounts: Readonly<
    Record<"feePayer" | "creator" | "buyer" | "platform" | "operator", { accountId: string; privateKey: string }>
  >;
}

/** Starts PostgreSQL, the two chains and the mocks, all at once. */
export function startBackingServices(options: BackingOptions): BackingServices {
  const { ports } = options.settings;
  const { timed } = options;
  return {
    databases: timed("PostgreSQL", `127.0.0.1:${ports.postgres.number}`, startDatabases(options)),
    hedera: timed("Hedera (local)", `127.0.0.1:${ports.hederaNodes[0]?.number}`, startHedera(options)),
    evm: timed("EVM chain (anvil)", `http://127.0.0.1:${ports.evm.number}`, startEvm(options)),
    models: timed("Mock models", `http://127.0.0.1:${ports.model.number}`, startModels(options)),
    x: timed("Mock X", `http://127.0.0.1:${ports.x.number}`, startX(options)),
    mcp: timed("MCP tools (local)", `http://127.0.0.1:${ports.mcp.number}/mcp`, startMcp(options)),
  };
}

interface BackingOptions {
  readonly settings: Settings;
  readonly parts: Parts;
  readonly wallets: EvmWallets;
  readonly program: RunProgram;
  /** Tells when the part is up. */
  timed<T>(name: string, where: string, work: Promise<T>): Promise<T>;
  note(message: string): void;
}

async function startDatabases({ settings, parts }: BackingOptions): Promise<Databases> {
  const { dataDirectory, ports } = settings;
  const directory = join(dataDirectory, "postgres");
  const launched = adopterOf(parts, "PostgreSQL");
  const postgres = await startPostgres({ directory, port: ports.postgres.number, durable: true, launched });
  parts.watch(postgres.died);
  const [facilitatorDatabase, marketplaceDatabase] = await Promise.all([
    postgres.createDatabase("facilitator"),
    postgres.createDatabase("marketplace"),
  ]);
  return { facilitatorDatabase, marketplaceDatabase };
}

/** Takes charge of a process from its first moment: one that is not known yet would be left behind by a start that is killed. */
function adopterOf(parts: Parts, name: string) {
  return (process: { readonly pid: number; stop(): Promise<void> }) =>
    parts.adopt({ name, kind: "backing", pid: process.pid, stop: () => process.stop() });
}

function startHedera({ settings, program, note }: BackingOptions): Promise<LocalHedera> {
  const { dataDirectory, ports } = settings;
  const stateFile = join(dataDirectory, "hedera.json");
  if (setAsideUnlessJson(stateFile)) note(`${stateFile} was damaged and is set aside; the local Hedera begins anew`);
  return program({
    name: "Hedera (local)",
    kind: "backing",
    file: "infra/local-hedera/main.ts",
    logName: "local-hedera",
    env: {
      LOCAL_HEDERA_NODE_PORTS: ports.hederaNodes.map(({ number }) => number).join(","),
      LOCAL_HEDERA_MIRROR_PORT: String(ports.hederaMirror.number),
      LOCAL_HEDERA_ADMIN_PORT: String(ports.hederaAdmin.number),
      LOCAL_HEDERA_STATE_FILE: stateFile,
    },
    check: async (child) => {
      const ready = /^local-hedera ready (\{.*\})$/m.exec(child.output())?.[1];
      return ready === undefined ? undefined : (JSON.parse(ready) as LocalHedera);
    },
  });
}

async function startEvm({ settings, parts, wallets, note }: BackingOptions): Promise<EvmChain> {
  const { dataDirectory, ports } = settings;
  const stateFile = join(dataDirectory, "evm.json");
  const launched = adopterOf(parts, "EVM chain (anvil)");
  const chain = await startEvmChain({ port: ports.evm.number, stateFile, blockTimeSeconds: 5, launched });
  if (chain.origin.startsWith("older")) note(`${stateFile} was damaged; the EVM chain goes on from an older copy`);
  parts.watch(chain.died);
  const [feePayer, buyer] = [wallets.feePayer.address, wallets.buyer.address];
  if ((await chain.balances(feePayer)).wei < ether) await chain.fund(feePayer, { wei: 10n * ether });
  if ((await chain.balances(buyer)).usdc < 10n * dollar) await chain.fund(buyer, { usdc: 1000n * dollar });
  return chain;
}

async function startModels({ settings, parts }: BackingOptions): Promise<MockModels> {
  const models = await startMockModels({ port: settings.ports.model.number });
  await parts.adopt({ name: "Mock models", kind: "backing", stop: () => models.stop() });
  return models;
}

async function startX({ settings, parts }: BackingOptions): Promise<MockX> {
  const x = await startMockX({ port: settings.ports.x.number, token: xToken });
  await parts.adopt({ name: "Mock X", kind: "backing", stop: () => x.stop() });
  return x;
}

async function startMcp({ settings, parts }: BackingOptions): Promise<MockMcp> {
  const mcp = await startMockMcp({ port: settings.ports.mcp.number });
  await parts.adopt({ name: "MCP tools (local)", kind: "backing", stop: () => mcp.stop() });
  return mcp;
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

/** What the mock of X takes as its bearer token. */
export const xToken = "mock-x";
const ether = 10n ** 18n;
const dollar = 1_000_000n;
