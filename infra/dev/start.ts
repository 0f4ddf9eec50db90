import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ConfigError } from "../../shared/env.ts";
import { adviceOnFolder, FolderError } from "./folder-advice.ts";
import { watchLaunchers } from "./launchers.ts";
import { Parts } from "./parts.ts";
import { PortsTakenError, requireFreePorts } from "./ports.ts";
import { loadEnvFile, readSettings, type Settings } from "./settings.ts";
import { removeStackFile, writeStackFile } from "./stack-file.ts";
import { AlreadyRunningError, lockStack, type StackLock } from "./stack-lock.ts";
import { thingsToTry } from "./things-to-try.ts";

const usage = `Starts the whole marketplace on this machine: PostgreSQL, a local Hedera, an EVM chain, a stand-in for a model
server, the facilitator and the marketplace, with a creator, agents and a buyer to try them.

  npm start               goes on where the last start stopped (state is in .data)
  npm start -- --fresh    begins anew
  npm start -- --help     this text

Ports: MARKETPLACE_PORT (4020), FACILITATOR_PORT (4022), MODEL_STAND_IN_PORT (4030), X_STAND_IN_PORT (4031), MCP_STAND_IN_PORT (4032),
POSTGRES_PORT (15432), EVM_CHAIN_PORT (8545), LOCAL_HEDERA_NODE_PORTS (50211,50213,50214), LOCAL_HEDERA_MIRROR_PORT (5551),
LOCAL_HEDERA_ADMIN_PORT (5552). State: STACK_DATA_DIR (.data). A model of your own: LLM_BASE_URL, LLM_API_KEY, LLM_MODEL.
A file .env is read. .env.example explains every variable.`;

/** Everything a start leaves in the data directory. */
const kept = [
  "postgres",
  "hedera.json",
  "evm.json",
  "evm.json.last-good",
  "demo-key.json",
  "demo-wallet.js",
  "seed.json",
  "files",
  "logs",
];

const say = (line: string) => void process.stdout.write(`${line}\n`);
process.stdout.on("error", () => {});

const began = performance.now();
const options = readArguments();
if (options.help) {
  say(usage);
  process.exit(0);
}
await main(options.fresh).catch((error: Error) => {
  const expected = [ConfigError, AlreadyRunningError, PortsTakenError, FolderError].some(
    (kind) => error instanceof kind,
  );
  process.stderr.write(`${expected ? error.message : error.stack}\n`);
  process.exit(1);
});

async function main(fresh: boolean): Promise<void> {
  loadEnvFile();
  const settings = readSettings(process.env);
  const lock = await lockFolder(settings, fresh).catch((error: Error) => {
    const advice = adviceOnFolder(error, settings.dataDirectory);
    throw advice === undefined ? error : new FolderError(`${error.message}\n${advice}`, { cause: error });
  });
  await run(settings, lock);
}

async function lockFolder({ dataDirectory, ports }: Settings, fresh: boolean): Promise<StackLock> {
  mkdirSync(dataDirectory, { recursive: true });
  const lock = await lockStack(dataDirectory);
  removeStackFile(dataDirectory);
  if (lock.leftovers.length > 0) say(`Stopped what a killed start had left behind: ${lock.leftovers.join(", ")}`);
  try {
    if (fresh) for (const name of kept) rmSync(join(dataDirectory, name), { recursive: true, force: true });
    await requireFreePorts(Object.values(ports).flat());
  } catch (error) {
    lock.release();
    throw error;
  }
  return lock;
}

async function run(settings: Settings, lock: StackLock): Promise<void> {
  const { dataDirectory } = settings;
  const parts = new Parts(lock, (error) => void stop(1, error.message));
  let starting: Promise<unknown> = Promise.resolve();
  let stopping = false;
  const stop = async (exitCode: number, why: string) => {
    if (stopping) return;
    stopping = true;
    say(`\n${why}`);
    removeStackFile(dataDirectory);
    await Promise.all([parts.stop(), Promise.race([starting, new Promise((resolve) => setTimeout(resolve, 4000))])]);
    lock.release();
    say("Everything is stopped.");
    process.exit(exitCode);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => void stop(0, "Stopping."));
  process.on("uncaughtException", (error) => void stop(1, `Something unexpected happened: ${error.stack}`));
  await watchLaunchers((launcher) => void stop(1, `${launcher}, which ran this, is gone. Stopping.`));

  say(`Starting the marketplace and what it needs; state is in ${dataDirectory}`);
  const { startStack } = await import("./stack.ts");
  const cameUp = (name: string, where: string, ms: number) =>
    say(`  ${name.padEnd(26)}${where.padEnd(26)}${seconds(ms)}`);
  const note = (message: string) => say(`  ${message}`);
  const stack = startStack({ settings, parts, env: process.env, cameUp, note });
  starting = stack.catch(() => {});
  try {
    const running = await stack;
    if (stopping) return;
    writeStackFile(dataDirectory, running);
    say(`Ready in ${seconds(performance.now() - began)}.\n\n${thingsToTry(running)}\n\nCtrl-C stops everything.`);
  } catch (error) {
    const advice = adviceOnFolder(error as Error, dataDirectory);
    await stop(1, `Could not start: ${(error as Error).message}${advice ? `\n${advice}` : ""}`);
  }
}

function readArguments(): { fresh: boolean; help: boolean } {
  try {
    const { values } = parseArgs({ options: { fresh: { type: "boolean" }, help: { type: "boolean", short: "h" } } });
    return { fresh: values.fresh ?? false, help: values.help ?? false };
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage}\n`);
    process.exit(1);
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
