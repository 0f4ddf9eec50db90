import { execFile } from "node:child_process";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

/**
 * Makes this process the one that runs the stack of `dataDirectory`. Throws AlreadyRunningError when another does; stops
 * what one that was killed left behind and answers its names in `leftovers`.
 */
export async function lockStack(dataDirectory: string): Promise<StackLock> {
  const file = join(dataDirectory, "processes.json");
  const former = readFormer(file);
  if (former && (await alive([former.main])).length > 0) throw new AlreadyRunningError(former.main);
  const leftovers = former ? await alive(former.parts) : [];
  await stopAll(leftovers);

  const held = { main: await identify("npm start", process.pid), parts: [] as ProcessRecord[] };
  const write = () => {
    writeFileSync(`${file}.new`, JSON.stringify(held));
    renameSync(`${file}.new`, file);
  };
  write();
  return {
    leftovers: leftovers.map(({ name, pid }) => `${name} (${pid})`),
    note: (name, pid) => {
      held.parts.push({ name, pid, started: Date.now() });
      write();
    },
    release: () => {
      // Two starts at the same moment: the one that gives up must not remove the other's lock.
      if (readFormer(file)?.main.pid === process.pid) rmSync(file, { force: true });
    },
  };
}

export interface StackLock {
  readonly leftovers: readonly string[];
  /** Remembers a process that was started just now, so that a later start can stop it should this one be killed. */
  note(name: string, pid: number): void;
  release(): void;
}

export class AlreadyRunningError extends Error {
  override readonly name = "AlreadyRunningError";

  constructor({ pid, started }: ProcessRecord) {
    const since = new Date(started).toISOString();
    super(`the stack runs already: process ${pid}, since ${since}. Stop it with Ctrl-C there, or: kill ${pid}`);
  }
}

/** A process id alone is not enough: the system gives it to another process some day. */
interface ProcessRecord {
  readonly name: string;
  readonly pid: number;
  /** Milliseconds since 1970. */
  readonly started: number;
}

interface Processes {
  readonly main: ProcessRecord;
  readonly parts: readonly ProcessRecord[];
}

function readFormer(file: string): Processes | undefined {
  try {
    const { main, parts } = JSON.parse(readFileSync(file, "utf8")) as Processes;
    return { main, parts: parts.filter(({ pid }) => Number.isInteger(pid) && pid > 1) };
  } catch {
    return undefined;
  }
}

async function identify(name: string, pid: number): Promise<ProcessRecord> {
  return { name, pid, started: (await startTimes([pid])).get(pid) ?? 0 };
}

async function alive(records: readonly ProcessRecord[]): Promise<readonly ProcessRecord[]> {
  const started = await startTimes(records.map(({ pid }) => pid));
  return records.filter((record) => Math.abs((started.get(record.pid) ?? 0) - record.started) <= startToleranceMs);
}

/** ps reckons start times from the time since boot, and is off by a second now and then. */
const startToleranceMs = 5_000;

async function startTimes(pids: readonly number[]): Promise<Map<number, number>> {
  const env = { ...process.env, LC_ALL: "C", TZ: "UTC" };
  // ps fails when none of the processes exists.
  const listed = promisify(execFile)("ps", ["-o", "pid=,stat=,lstart=", "-p", pids.join(",")], { env });
  const { stdout } = await listed.catch(() => ({ stdout: "" }));
  const rows = stdout.split("\n").flatMap((line) => {
    const [, pid, state, started] = /^\s*(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line) ?? [];
    return pid && started && !state?.startsWith("Z") ? [[Number(pid), Date.parse(`${started} UTC`)] as const] : [];
  });
  return new Map(rows);
}

/** SIGINT first: it has the database and the chains write down what they know. */
async function stopAll(records: readonly ProcessRecord[]): Promise<void> {
  for (const { pid } of records) kill(pid, "SIGINT");
  let left = records;
  for (let waited = 0; waited < 3000 && left.length > 0; waited += 100) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    left = await alive(left);
  }
  // Each part leads a process group of its own.
  for (const { pid } of left) kill(-pid, "SIGKILL");
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // gone already
  }
}
