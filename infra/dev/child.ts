import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { howItEnded } from "../how-it-ended.ts";
import { projectDirectory } from "./settings.ts";

/**
 * Runs a TypeScript program of this repository as a process group of its own (so that Ctrl-C reaches it only through
 * us, and everything it started can be ended with it), its output in `logFile`.
 */
export function startChild(options: { name: string; program: string; env: NodeJS.ProcessEnv; logFile: string }): Child {
  const { name, program, env, logFile } = options;
  const log = openSync(logFile, "w");
  const child = spawn(process.execPath, ["--enable-source-maps", "--import", import.meta.resolve("tsx"), program], {
    cwd: projectDirectory,
    env,
    detached: true,
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  const output = () => (existsSync(logFile) ? readFileSync(logFile, "utf8") : "");
  const died = howItEnded(child).then((how) => new Error(`${name} ${how}\n${tailOf(output(), logFile)}`));
  const ended = () => child.exitCode !== null || child.signalCode !== null;
  return {
    name,
    pid: child.pid as number,
    died,
    readiness: async (check) => {
      const answer = await poll(check, ended);
      if (answer !== undefined) return answer;
      throw ended()
        ? await died
        : new Error(`${name} did not come up within ${readinessMs / 1000} s\n${tailOf(output(), logFile)}`);
    },
    output,
    stop: () => stop(child),
  };
}

export interface Child {
  readonly name: string;
  readonly pid: number;
  /** Settles with an explanation when the process ends, however it ended. */
  readonly died: Promise<Error>;
  /** Waits until `check` answers something; rejects when the process dies before that, or after `readinessMs`. */
  readiness<T>(check: () => Promise<T | undefined>): Promise<T>;
  /** What it wrote so far. */
  output(): string;
  /** Asks it to stop and waits until it has. */
  stop(): Promise<void>;
}

/** Seconds on a quiet machine; a busy one is not given up on. */
const readinessMs = 120_000;

async function poll<T>(check: () => Promise<T | undefined>, ended: () => boolean): Promise<T | undefined> {
  for (const deadline = Date.now() + readinessMs; Date.now() < deadline && !ended(); ) {
    const answer = await check().catch(() => undefined);
    if (answer !== undefined) return answer;
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
  return undefined;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || !child.pid) return;
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  await gone;
}

/** Ends at once what is left of a process group. */
export function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // gone already
  }
}

function tailOf(output: string, logFile: string): string {
  const lines = output.trimEnd().split("\n").slice(-20);
  return [...lines.map((line) => `    ${line.slice(0, 500)}`), `    (all of it: ${logFile})`].join("\n");
}
