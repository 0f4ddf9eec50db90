import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

/** Ends a process that is still there, and waits for it. */
export async function endOf(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill(signal);
  await gone;
}
