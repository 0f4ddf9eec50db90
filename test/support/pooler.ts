import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { unprivilegedUser } from "../../infra/dev/postgres-user.ts";
import { freePort } from "../../infra/free-port.ts";
import { elapse } from "./elapse.ts";

/**
 * PgBouncer in transaction mode before a PostgreSQL on this machine. What a service asks for when it connects a pooler does not
 * pass on: it is set for the role, as an operator sets it (docs/operating.md).
 */
export async function startPooler(command: readonly string[], postgresPort: number): Promise<Pooler> {
  const directory = await mkdtemp(join(tmpdir(), "pooler-"));
  const port = await freePort();
  const user = await unprivilegedUser();
  const file = join(directory, "pgbouncer.ini");
  await writeFile(file, settings(port, postgresPort, await knowsStatements(command)));
  await chmod(directory, 0o755);
  if (user) await chown(directory, user.uid, user.gid);
  const [program, ...args] = command as [string, ...string[]];
  const child = spawn(program, [...args, "-q", file], {
    stdio: ["ignore", "inherit", "inherit"],
    ...(user && { uid: user.uid, gid: user.gid }),
  });
  await untilAnswers(port, child);
  return {
    port,
    stop: async () => {
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export interface Pooler {
  readonly port: number;
  stop(): Promise<void>;
}

/** Since 1.21 it prepares statements on whichever connection a transaction gets. */
async function knowsStatements(command: readonly string[]): Promise<boolean> {
  const [, minor = "0"] = /PgBouncer 1\.(\d+)/.exec(await versionOfPooler(command)) ?? [];
  return Number(minor) >= 21;
}

export async function versionOfPooler([program, ...args]: readonly string[]): Promise<string> {
  const child = spawn(program as string, [...args, "--version"], { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.on("data", (chunk) => {
    said += chunk;
  });
  await once(child, "close");
  return said.split("\n")[0] ?? "";
}

function settings(port: number, postgresPort: number, prepares: boolean): string {
  return [
    "[databases]",
    `* = host=127.0.0.1 port=${postgresPort} user=postgres`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = any",
    "pool_mode = transaction",
    "default_pool_size = 20",
    "max_client_conn = 5000",
    "server_idle_timeout = 5",
    "ignore_startup_parameters = lock_timeout,idle_in_transaction_session_timeout",
    ...(prepares ? ["max_prepared_statements = 200"] : []),
    "log_connections = 0",
    "log_disconnections = 0",
    "",
  ].join("\n");
}

async function untilAnswers(port: number, child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended with ${child.exitCode}`);
    const client = new pg.Client({ connectionString: `postgres://postgres@127.0.0.1:${port}/postgres` });
    client.on("error", () => {});
    const answers = await client.connect().then(
      () => true,
      () => false,
    );
    await client.end().catch(() => {});
    if (answers) return;
    await elapse(50, "until it is asked again");
  }
}
