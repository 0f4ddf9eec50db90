import { execFile } from "node:child_process";
import { promisify } from "node:util";

/**
 * Calls `gone` when one of the programs that merely launched this one (npm, its shell, tsx) disappears. Killed without
 * ceremony they would leave the stack running with no process to stop it. Answers how to stop watching.
 */
export async function watchLaunchers(gone: (launcher: string) => void): Promise<() => void> {
  const launchers = await launchersOf(process.pid);
  const timer = setInterval(() => {
    const missing = launchers.find(({ pid }) => !exists(pid));
    if (!missing) return;
    clearInterval(timer);
    gone(`${missing.command} (${missing.pid})`);
  }, 500);
  timer.unref();
  return () => clearInterval(timer);
}

interface Launcher {
  readonly pid: number;
  readonly command: string;
}

/** Upwards from the process, as long as they are npm, tsx or a shell running them. */
async function launchersOf(pid: number): Promise<readonly Launcher[]> {
  const columns = await ps(["-o", "ppid=", "-p", String(pid)]);
  const parent = Number(columns.trim());
  if (!(parent > 1)) return [];
  const command = (await ps(["-o", "args=", "-p", String(parent)])).trim();
  if (!/^npm\b|\btsx\b.*\bstart\.ts\b/.test(command)) return [];
  return [{ pid: parent, command: command.slice(0, 60) }, ...(await launchersOf(parent))];
}

const ps = (args: readonly string[]) =>
  promisify(execFile)("ps", args).then(
    ({ stdout }) => stdout,
    () => "",
  );

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
