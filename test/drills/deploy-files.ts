import { execFile } from "node:child_process";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { projectDirectory } from "../../infra/dev/settings.ts";
import { CannotDrillError, type Unpacked, unpack } from "./debian.ts";

/** What those programs that read the files of infra/deploy say of them, a row each. */
export async function readDeployFiles(stable: Unpacked): Promise<Array<readonly [file: string, verdict: string]>> {
  const file = (name: string) => join(projectDirectory, "infra/deploy", name);
  const haproxy = await saysOf(stable.command("usr/sbin/haproxy"), ["-c", "-f", file("haproxy.cfg")]);
  const rules = await saysOf(stable.command("usr/bin/promtool"), ["check", "rules", file("prometheus/rules.yaml")]);
  return [
    ["compose.yaml, by docker compose", await composeSays()],
    // Names of containers are unknown here.
    ["haproxy.cfg, by haproxy -c", haproxy.includes("Configuration file is valid") ? "taken" : haproxy],
    ["prometheus/rules.yaml, by promtool", /SUCCESS: \d+ rules/.test(rules) ? "taken" : rules],
  ];
}

/** With no more than the passwords that it asks for. Debian's stable has none that reads today's files. */
async function composeSays(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "compose-"));
  try {
    const testing = await unpack(["docker-compose"], "trixie");
    try {
      await cp(join(projectDirectory, "infra/deploy"), join(directory, "infra/deploy"), { recursive: true });
      const passwords = ["FACILITATOR_DATABASE", "MARKETPLACE_DATABASE", "REPLICATION"].map(
        (name) => `${name}_PASSWORD=x\n`,
      );
      await writeFile(join(directory, ".env"), passwords.join(""));
      for (const service of ["facilitator", "marketplace"]) await writeFile(join(directory, `.env.${service}`), "");
      const program = testing.command("usr/libexec/docker/cli-plugins/docker-compose");
      const files = ["-f", join(directory, "infra/deploy/compose.yaml"), "--env-file", join(directory, ".env")];
      const said = await saysOf(program, [...files, "--profile", "restore", "config", "--quiet"]);
      return said.trim() === "" ? "taken" : said;
    } finally {
      await testing.remove();
    }
  } catch (error) {
    if (error instanceof CannotDrillError) return `not tried: ${error.message}`;
    throw error;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function saysOf([program, ...first]: readonly [string, ...string[]], args: readonly string[]): Promise<string> {
  return promisify(execFile)(program, [...first, ...args]).then(
    ({ stdout, stderr }) => `${stdout}${stderr}`,
    (error) => `${error.message}`,
  );
}
