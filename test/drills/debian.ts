import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A drill cannot be held here; the message says why. */
export class CannotDrillError extends Error {
  override readonly name = "CannotDrillError";
}

/**
 * Programs of Debian, unpacked into a directory of their own: nothing is installed, and nothing is left when it is removed. Of
 * the suite that runs here, what is installed is used; of another, everything comes along, its C library too.
 */
export async function unpack(packages: readonly string[], suite?: string): Promise<Unpacked> {
  await run("apt-get", ["--version"]).catch(() => {
    throw new CannotDrillError(`it takes ${packages.join(", ")} of Debian, and there is no apt-get here`);
  });
  const directory = await mkdtemp(join(tmpdir(), "debian-"));
  // What refuses to run as root runs as another user.
  await chmod(directory, 0o755);
  try {
    await download(directory, packages, suite);
    const root = join(directory, "root");
    const archives = join(directory, "archives");
    for (const name of await readdir(archives)) {
      if (name.endsWith(".deb")) await run("dpkg-deb", ["-x", join(archives, name), root]);
    }
    const libraries = await librariesIn(root);
    return {
      root,
      command: (path) => commandOf(root, libraries, path, suite),
      remove: () => rm(directory, { recursive: true, force: true }),
    };
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
}

export interface Unpacked {
  readonly root: string;
  /** How to start a program that Debian has at this path. */
  command(path: string): readonly [string, ...string[]];
  remove(): Promise<void>;
}

async function download(directory: string, packages: readonly string[], suite: string | undefined): Promise<void> {
  for (const part of ["lists/partial", "archives/partial", "etc", "root"]) {
    await mkdir(join(directory, part), { recursive: true });
  }
  const options = [
    `Dir::State::lists=${join(directory, "lists")}`,
    `Dir::Cache::archives=${join(directory, "archives")}`,
    `Dir::Cache::pkgcache=`,
    `Dir::Cache::srcpkgcache=`,
    "APT::Sandbox::User=root",
    "Debug::NoLocking=1",
    "Acquire::Languages=none",
  ];
  if (suite !== undefined) options.push(...(await onlyOf(suite, directory)));
  const apt = async (...args: string[]) => {
    await run("apt-get", [...options.flatMap((option) => ["-o", option]), "-qq", ...args], { maxBuffer: 1e8 }).catch(
      ({ stderr }: { stderr?: string }) => {
        throw new CannotDrillError(`Debian's packages cannot be had: ${String(stderr).trim().split("\n").at(-1)}`);
      },
    );
  };
  await apt("update");
  await apt("install", "--download-only", "--reinstall", "--no-install-recommends", "-y", ...packages);
}

/** The mirror of the suite that runs here, for another suite; nothing counts as installed. */
async function onlyOf(suite: string, directory: string): Promise<readonly string[]> {
  const list = join(directory, "etc", "sources.list");
  const status = join(directory, "etc", "status");
  const { uri, keyring } = await mirrorHere();
  await writeFile(list, `deb [${keyring ? `signed-by=${keyring}` : ""}] ${uri} ${suite} main\n`);
  await writeFile(status, "");
  return [`Dir::Etc::sourcelist=${list}`, "Dir::Etc::sourceparts=-", `Dir::State::status=${status}`];
}

async function mirrorHere(): Promise<{ readonly uri: string; readonly keyring: string | undefined }> {
  const folder = "/etc/apt/sources.list.d";
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(".sources"));
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
  const list = await readFile("/etc/apt/sources.list", "utf8").catch(() => "");
  const uri =
    texts.map((text) => /^URIs:\s*(\S+)/m.exec(text)?.[1]).find((found) => found?.includes("debian")) ??
    /^deb\s+(?:\[[^\]]*\]\s+)?(\S+)/m.exec(list)?.[1];
  if (uri === undefined) throw new CannotDrillError("apt names no mirror of Debian here");
  const keyring = texts.map((text) => /^Signed-By:\s*(\S+)/m.exec(text)?.[1]).find((found) => found !== undefined);
  return { uri, keyring };
}

async function librariesIn(root: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const folder of ["usr/lib", "lib"]) {
    const names = await readdir(join(root, folder)).catch(() => []);
    for (const name of names) if (name.endsWith("-linux-gnu")) found.push(join(root, folder, name));
  }
  return found;
}

/** With the libraries that came along: all of them, C's too, where they are another suite's. */
function commandOf(
  root: string,
  libraries: readonly string[],
  path: string,
  suite: string | undefined,
): readonly [string, ...string[]] {
  const program = join(root, path);
  if (suite === undefined) {
    const python = join(root, "usr/lib/python3/dist-packages");
    return ["env", `LD_LIBRARY_PATH=${libraries.join(":")}`, `PYTHONPATH=${python}`, program];
  }
  const loader = process.arch === "arm64" ? "ld-linux-aarch64.so.1" : "ld-linux-x86-64.so.2";
  const home = libraries.find((folder) => folder.includes("usr/lib")) ?? "";
  return [join(home, loader), "--library-path", libraries.join(":"), program];
}
