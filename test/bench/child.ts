import { spawn } from "node:child_process";
import { once } from "node:events";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../../infra/dev/postgres.ts";
import { projectDirectory } from "../../infra/dev/settings.ts";

/**
 * The program as `npm run build` compiles it, which is what is deployed; `npm run bench` builds first. Run from source, each
 * function that is made within another costs a call that names it.
 */
export function compiled(source: URL): string {
  const file = relative(projectDirectory, fileURLToPath(source));
  return join(projectDirectory, "dist", file.replace(/\.ts$/, ".js"));
}

/**
 * Runs a program of this repository, compiled, on a free port, given in the variable `portVariable`, until it answers
 * `path`.
 */
export async function startChild(
  file: string,
  portVariable: string,
  variables: Record<string, string>,
  path = "/supported",
): Promise<{ url: string; stop(): Promise<void> }> {
  const port = await freePort();
  const child = spawn(process.execPath, [compiled(new URL(file, import.meta.url))], {
    env: { PATH: process.env.PATH, NODE_ENV: "production", ...variables, [portVariable]: String(port) },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const url = `http://127.0.0.1:${port}`;
  while (!(await fetch(`${url}${path}`).catch(() => undefined))) {
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
