import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";

/** Ends a process that is still there, and waits for it. */
export async function endOf(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill(signal);
  await gone;
}

/** A process and all that it started (a postmaster and its backends), none of which gets to say or write another word. */
export async function killTree(pid: number): Promise<void> {
  for (const one of await stoppedTree(pid)) signal(one, "SIGKILL");
}

/** All are found before one is killed: with a parent some children end, and what those started is nobody's child then. */
async function stoppedTree(pid: number): Promise<readonly number[]> {
  if (!pid) return [];
  signal(pid, "SIGSTOP");
  const below = await Promise.all((await childrenOf(pid)).map(stoppedTree));
  return [pid, ...below.flat()];
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // gone already
  }
}

/** Of all its threads: what is written in Go starts processes from any of them. */
async function childrenOf(pid: number): Promise<readonly number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const started = threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, "utf8").catch(() => ""));
  return (await Promise.all(started)).flatMap((pids) => pids.split(/\s+/).map(Number));
}
