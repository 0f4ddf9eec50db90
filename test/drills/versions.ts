import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { projectDirectory } from "../../infra/dev/settings.ts";
import { CannotDrill } from "./debian.ts";

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

/** Another commit of this repository, compiled beside it with the packages that are installed here. */
export async function versionOf(commit: string): Promise<Version> {
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
    throw new CannotDrill(`the history here has no ${commit}`);
  }
  await symlink(join(projectDirectory, "node_modules"), join(directory, "node_modules"));
  return directory;
}
