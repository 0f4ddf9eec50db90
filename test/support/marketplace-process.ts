import { type ChildProcess, spawn } from "node:child_process";
import { compiled } from "./compiled.ts";
import { until } from "./marketplace.ts";

export const marketplaceMain = compiled(new URL("../../marketplace/main.ts", import.meta.url));

/** The marketplace in a process of its own, which can be killed. */
export async function startProcess(
  environment: Record<string, string>,
): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const child = spawn(process.execPath, [marketplaceMain], {
    env: { PATH: process.env.PATH, DRAIN_MS: "0", ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout!.on("data", (chunk) => {
    output += chunk;
  });
  await until(() => output.includes("marketplace is listening"));
  const line = output.split("\n").find((text) => text.includes("marketplace is listening"))!;
  return { child, url: JSON.parse(line).url };
}
