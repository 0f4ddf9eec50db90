import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";

/** Ends a process that is still there, and waits for it. */
export async function endOf(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill(signal);
  await gone;
}

/** A process and all that it started (a postmaster and its backends), none of which gets to say or write another word. */
export async function killTree(pid: number): Promise<void> {
  if (!pid) return;
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => "");
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // gone already
  }
  for (const child of children.trim().split(/\s+/)) await killTree(Number(child));
}
