import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { projectDirectory } from "../../infra/dev/settings.ts";
import { CannotDrillError } from "./debian.ts";

const run = promisify(execFile);

/** A version of the project that has been compiled. */
export interface Version {
  readonly name: string;
  mainOf(service: "facilitator" | "marketplace"): string;
  remove(): Promise<void>;
}

export const versionHere: Version = {
  name: "this version",
  mainOf: (service) => join(projectDirectory, "dist", service, "main.js"),
  remove: async () => {},
};

/** A package that a commit needs and that is not installed here in the same major version: it cannot be run here then. */
export async function packageMissingFor(commit: string): Promise<string | undefined> {
  const { stdout } = await run("git", ["-C", projectDirectory, "show", `${commit}:package.json`]);
  const { dependencies } = JSON.parse(stdout) as { dependencies: Record<string, string> };
  const majorOf = (version: string) => version.replace(/^.*@/, "").split(".")[0];
  for (const [name, version] of Object.entries(dependencies)) {
    const file = join(projectDirectory, "node_modules", name, "package.json");
    const installed = await readFile(file, "utf8").catch(() => '{"version":""}');
    if (majorOf((JSON.parse(installed) as { version: string }).version) !== majorOf(version))
      return `${name} ${version}`;
  }
  return undefined;
}

/** Another commit of this repository, compiled beside it with the packages that are installed here. */
export async function versionOf(commit: string): Promise<Version> {
  const missing = await packageMissingFor(commit);
  if (missing) throw new CannotDrillError(`${commit} needs ${missing}, which is not installed here`);
  const directory = await sourcesOf(commit);
  const compile = (...args: string[]) => run(process.execPath, args, { cwd: directory });
  // What a commit has at fault in its types is not ours to mend.
  await compile("node_modules/typescript/bin/tsc", "-b").catch(() => {});
  for (const service of ["marketplace", "facilitator"]) await compile("--import", "tsx", `${service}/web/build.ts`);
  return {
    name: commit,
    mainOf: (service) => join(directory, "dist", service, "main.js"),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

/** A commit's files in a directory of their own. */
export async function sourcesOf(commit: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "version-"));
  const git = `git -C '${projectDirectory}' archive '${commit}' | tar -x -C '${directory}'`;
  try {
    await run("bash", ["-o", "pipefail", "-c", git]);
  } catch {
    await rm(directory, { recursive: true, force: true });
    throw new CannotDrillError(`the history here has no ${commit}`);
  }
  await symlink(join(projectDirectory, "node_modules"), join(directory, "node_modules"));
  return directory;
}
