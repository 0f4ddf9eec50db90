import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { until } from "./marketplace.ts";

export const marketplaceMain = fileURLToPath(new URL("../../marketplace/main.ts", import.meta.url));

/** The marketplace in a process of its own, which can be killed. */
export async function startProcess(
  environment: Record<string, string>,
): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const child = spawn(process.execPath, ["--import", "tsx", marketplaceMain], {
    env: { PATH: process.env.PATH, ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout!.on("data", (chunk) => {
    output += chunk;
  });
  await until(() => output.includes("marketplace is listening"), 20_000);
  const line = output.split("\n").find((text) => text.includes("marketplace is listening"))!;
  return { child, url: JSON.parse(line).url };
}
