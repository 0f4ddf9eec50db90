import { spawn } from "node:child_process";
import { once } from "node:events";
import { freePort } from "../../infra/free-port.ts";
import { compiled } from "../support/compiled.ts";

/**
 * Runs a program of this repository, compiled, on a free port, given in the variable `portVariable`, until it answers
 * `path`.
 */
export async function startChild(
  file: string,
  portVariable: string,
  variables: Record<string, string>,
  path = file.endsWith("facilitator/main.ts") ? "/readyz" : "/supported",
): Promise<{ url: string; stop(): Promise<void> }> {
  const port = await freePort();
  const child = spawn(process.execPath, [compiled(new URL(file, import.meta.url))], {
    env: { PATH: process.env.PATH, NODE_ENV: "production", DRAIN_MS: "0", ...variables, [portVariable]: String(port) },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const url = `http://127.0.0.1:${port}`;
  while (!(await fetch(`${url}${path}`).catch(() => undefined))?.ok) {
    if (child.exitCode !== null) throw new Error(`${file} did not start`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    url,
    stop: async () => {
      const gone = once(child, "exit");
      child.kill("SIGTERM");
      await gone;
    },
  };
}
