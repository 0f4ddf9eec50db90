import { readFileSync } from "node:fs";
import { join } from "node:path";
import { projectDirectory } from "../../infra/dev/settings.ts";

/** What the image sets for Node. */
export function imageEnv(): Record<string, string> {
  const lines = readFileSync(join(projectDirectory, "infra/deploy/Dockerfile"), "utf8").matchAll(/^ENV (.*)$/gm);
  const all = [...lines].flatMap(([, assignments = ""]) => assignments.split(" ").map((one) => one.split(/=(.*)/)));
  const names = ["NODE_ENV", "NODE_OPTIONS"];
  const env = Object.fromEntries(all.filter(([name]) => names.includes(name as string)));
  for (const name of names) if (!env[name]) throw new Error(`the Dockerfile sets no ${name}`);
  return env;
}
