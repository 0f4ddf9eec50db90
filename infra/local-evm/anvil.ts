import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, readFile, rename, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { freePort } from "../free-port.ts";
import { howItEnded } from "../how-it-ended.ts";

/** Starts anvil on 127.0.0.1 in a process group of its own. Throws with anvil's own words when it does not come up. */
export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  const origin = options.stateFile ? await makeReadable(options.stateFile) : "nothing";
  const port = options.port || (await freePort());
  if (options.port) await requireFree(port);
  // Nothing of it may hang on a pipe of ours: writing to one whose reader was killed stops its block production.
  const anvil = spawn(binary(), flagsOf({ ...options, port }), { stdio: ["ignore", "ignore", "pipe"], detached: true });
  const killOnExit = () => anvil.kill();
  process.once("exit", killOnExit);
  anvil.once("exit", () => process.off("exit", killOnExit));
  const rpcUrl = `http://127.0.0.1:${port}`;
  const pid = anvil.pid as number;
  const stop = () => stopAnvil(anvil);
  await options.launched?.({ pid, stop });
  await answering(rpcUrl, anvil);
  return {
    rpcUrl,
    origin,
    pid,
    died: howItEnded(anvil).then((how) => new Error(`EVM chain (anvil) ${how}`)),
    stop,
  };
}

async function stopAnvil(anvil: ChildProcess): Promise<void> {
  if (anvil.exitCode !== null || anvil.signalCode !== null) return;
  const gone = once(anvil, "exit");
  // SIGINT lets it write the state file first.
  anvil.kill("SIGINT");
  await gone;
}

export interface AnvilOptions {
  readonly chainId: number;
  /** Any free port when none is given. */
  readonly port?: number;
  /** The chain goes on where the file says it stopped; written every 10 s and at stop. The clock is the machine's. */
  readonly stateFile?: string;
  /** Goes on from the newest block of the chain there, which must stay up and stay as it is. Not with a state file. */
  readonly forkUrl?: string;
  /** A block at least this often, so that the newest block's time never lags behind further. Default: only when needed. */
  readonly blockTimeSeconds?: number;
  /** Transactions are mined on arrival (default), or wait for the next block as on a public chain. */
  readonly instant?: boolean;
  /** Told of the chain's process before it answers, so that it can be stopped at any time. */
  readonly launched?: (anvil: Pick<Anvil, "pid" | "stop">) => Promise<void>;
}

export interface Anvil {
  readonly rpcUrl: string;
  readonly pid: number;
  /** Settles with an explanation when it ends, however it ended. */
  readonly died: Promise<Error>;
  readonly origin: "nothing" | "state file" | "older copy of the state file";
  stop(): Promise<void>;
}

/** npm's launcher would be one more process between us and the chain. */
function binary(): string {
  const arch = process.arch === "x64" ? "amd64" : process.arch;
  const platform = process.platform === "win32" ? "win32" : process.platform;
  const require = createRequire(createRequire(import.meta.url).resolve("@foundry-rs/anvil/package.json"));
  const name = `@foundry-rs/anvil-${platform}-${arch}`;
  const extension = platform === "win32" ? ".exe" : "";
  return join(dirname(require.resolve(`${name}/package.json`)), "bin", `anvil${extension}`);
}

function flagsOf(options: AnvilOptions): string[] {
  const { chainId, port = 0, stateFile, forkUrl, blockTimeSeconds, instant = true } = options;
  const flags = ["--quiet", "--host=127.0.0.1", `--port=${port}`, `--chain-id=${chainId}`, "--accounts=0"];
  // Otherwise anvil keeps the whole state of every older block, on disk and for good when it is killed: gigabytes in an hour.
  flags.push(`--prune-history=${statesKept}`);
  if (stateFile) flags.push(`--state=${stateFile}`, "--state-interval=10");
  if (forkUrl) flags.push(`--fork-url=${forkUrl}`, "--no-storage-caching", "--no-rate-limit");
  if (blockTimeSeconds) flags.push(`--block-time=${blockTimeSeconds}`, ...(instant ? ["--mixed-mining"] : []));
  return flags;
}

/** A program that answered on a port that is taken could be mistaken for our chain. */
async function requireFree(port: number): Promise<void> {
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  server.close();
  await once(server, "close");
}

async function answering(rpcUrl: string, anvil: ChildProcess): Promise<void> {
  let complaint = "";
  anvil.stderr?.on("data", (chunk) => {
    complaint += chunk;
  });
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_chainId", params: [] });
  const headers = { "content-type": "application/json" };
  for (let waitedMs = 0; waitedMs < 60_000 && anvil.exitCode === null && !anvil.signalCode; waitedMs += 20) {
    const answer = await fetch(rpcUrl, { method: "POST", headers, body }).catch(() => undefined);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  anvil.kill("SIGKILL");
  throw new Error(`anvil did not start: ${complaint.trim().slice(-1000) || "no answer within a minute"}`);
}

/**
 * Anvil writes its state in place, so a kill can leave half a file: then the copy taken at the last good start is
 * used. Long stretches of empty blocks are left out, else every hour of idling would be carried along for ever.
 */
async function makeReadable(stateFile: string): Promise<Anvil["origin"]> {
  const copy = `${stateFile}.last-good`;
  const state = await readState(stateFile);
  if (state) {
    const oldest = state.blocks.reduce((newest, block) => Math.max(newest, numberOf(block)), 0) - blocksKept;
    state.blocks = state.blocks.filter((block) => block.transactions.length > 0 || numberOf(block) > oldest);
    await writeFile(`${copy}.new`, JSON.stringify(state));
    await rename(`${copy}.new`, copy);
  }
  const usable = state ?? (await readState(copy));
  if (!usable) return "nothing";
  await copyFile(copy, stateFile);
  return state ? "state file" : "older copy of the state file";
}

async function readState(file: string): Promise<State | undefined> {
  try {
    const state = JSON.parse(await readFile(file, "utf8")) as State;
    return Array.isArray(state.blocks) ? state : undefined;
  } catch {
    return undefined;
  }
}

const blocksKept = 256;
/** Blocks at whose state a question can still be asked. */
const statesKept = 256;

/** They are in no order in the file. */
const numberOf = ({ header }: Block): number => Number(header.number);

interface State {
  blocks: Block[];
}

interface Block {
  readonly header: { readonly number: string };
  readonly transactions: readonly unknown[];
}
