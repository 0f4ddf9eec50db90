import { type ChildProcess, execFile, spawn } from "node:child_process";
import { chmod, chown, copyFile, mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import { unprivilegedUser } from "../../infra/dev/postgres-user.ts";
import { freePort } from "../../infra/free-port.ts";
import { unpack } from "./debian.ts";
import { endOf, killTree } from "./processes.ts";

const scripts = fileURLToPath(new URL("../../infra/deploy/database", import.meta.url));
const passwords = {
  FACILITATOR_DATABASE_PASSWORD: "f1",
  MARKETPLACE_DATABASE_PASSWORD: "m1",
  REPLICATION_PASSWORD: "r1",
};

/** The two PostgreSQLs of compose.yaml by their scripts, on two addresses of this machine in place of two containers. */
export async function prepareDatabases(): Promise<Databases> {
  const debian = await unpack(["postgresql-15", "postgresql-client-15"]);
  const directory = await mkdtemp(join(tmpdir(), "deploy-"));
  const user = await unprivilegedUser();
  await chmod(directory, 0o755);
  for (const folder of ["backups", "files", "1", "2", "deploy"]) {
    await mkdir(join(directory, folder));
    if (user) await chown(join(directory, folder), user.uid, user.gid);
  }
  for (const name of await readdir(scripts)) await copyFile(join(scripts, name), join(directory, "deploy", name));
  const bin = "usr/lib/postgresql/15/bin";
  const [, libraries = ""] = debian.command(bin);
  const port = await freePort();
  const common = {
    ...passwords,
    PATH: `${join(debian.root, bin)}:${process.env.PATH}`,
    LD_LIBRARY_PATH: libraries.replace(/^LD_LIBRARY_PATH=/, ""),
    PGPORT: String(port),
    BACKUPS: join(directory, "backups"),
    BACKUPS_KEEP: "1",
    FILES: join(directory, "files"),
  };
  const identity = user ? { uid: user.uid, gid: user.gid } : {};
  const databases = ["127.0.1.1", "127.0.1.2"].map((address, at) => {
    const home = join(directory, String(at + 1));
    return new DeployedDatabase(address, { home, port, script: join(directory, "deploy", "run.sh"), common, identity });
  });
  const script = async (name: string, roles: Roles, ...args: string[]) => {
    const [one] = databases;
    const env = { ...common, ...variablesOf(roles), DATABASE_NAME: one!.address, PGDATA: one!.data };
    const { stdout } = await promisify(execFile)("bash", [join(directory, "deploy", `${name}.sh`), ...args], {
      cwd: directory,
      env,
      ...identity,
    });
    return stdout;
  };
  return {
    one: databases[0]!,
    two: databases[1]!,
    files: join(directory, "files"),
    backUp: (roles) => script("backup", roles, "once"),
    restoreOne: (roles, until) => script("restore", roles, ...(until ? [until.toISOString()] : [])),
    backups: async () => (await readdir(join(directory, "backups", "base"))).filter((name) => name.startsWith("2")),
    stop: async () => {
      await Promise.all(databases.map((database) => database.kill()));
      await rm(directory, { recursive: true, force: true });
      await debian.remove();
    },
  };
}

export interface Databases {
  readonly one: DeployedDatabase;
  readonly two: DeployedDatabase;
  /** Where stored files are. */
  readonly files: string;
  backUp(roles: Roles): Promise<string>;
  /** Of the first, which must be stopped; to the end, or to a moment. */
  restoreOne(roles: Roles, until?: Date): Promise<string>;
  backups(): Promise<string[]>;
  stop(): Promise<void>;
}

/** What .env says of both. */
export interface Roles {
  readonly primary: DeployedDatabase;
  readonly standby: DeployedDatabase;
  readonly durability: "synchronous" | "single";
}

const variablesOf = ({ primary, standby, durability }: Roles) => ({
  DATABASE_PRIMARY: primary.address,
  DATABASE_STANDBY: standby.address,
  DURABILITY: durability,
});

interface Place {
  readonly home: string;
  readonly port: number;
  readonly script: string;
  readonly common: Record<string, string>;
  readonly identity: { uid?: number; gid?: number };
}

export class DeployedDatabase {
  readonly address: string;
  readonly data: string;
  readonly #place: Place;
  #child: ChildProcess | undefined;
  /** What it has said. */
  said = "";

  constructor(address: string, place: Place) {
    this.address = address;
    this.data = join(place.home, "cluster");
    this.#place = place;
  }

  urlOf(service: "facilitator" | "marketplace"): string {
    const password = passwords[`${service.toUpperCase() as "FACILITATOR" | "MARKETPLACE"}_DATABASE_PASSWORD`];
    return `postgres://${service}:${password}@${this.address}:${this.#place.port}/${service}`;
  }

  start(roles: Roles): void {
    const { script, common, home, identity } = this.#place;
    const env = { ...common, ...variablesOf(roles), DATABASE_NAME: this.address, PGDATA: this.data };
    const child = spawn("bash", [script], { cwd: home, env, stdio: ["ignore", "ignore", "pipe"], ...identity });
    child.stderr.on("data", (chunk) => {
      this.said += chunk;
      if (process.env.DRILL_LOG) process.stderr.write(chunk);
    });
    this.#child = child;
  }

  /** Answers the exit code of a start that is refused. */
  async untilRefused(): Promise<number> {
    while (this.#child?.exitCode === null) await pause(100);
    return this.#child?.exitCode ?? -1;
  }

  /** Over its socket, as its superuser. */
  async ask(statement: string): Promise<Record<string, unknown>[]> {
    const { home, port } = this.#place;
    const client = new pg.Client({ host: home, port, user: "postgres", database: "postgres" });
    client.on("error", () => {});
    await client.connect();
    try {
      return (await client.query(statement)).rows;
    } finally {
      await client.end().catch(() => {});
    }
  }

  /** Until the query answers true. */
  async until(statement: string): Promise<void> {
    const giveUpAt = performance.now() + 120_000;
    for (;;) {
      const rows = await this.ask(`select (${statement}) as holds`).catch(() => []);
      if (rows[0]?.holds === true) return;
      if (performance.now() > giveUpAt)
        throw new Error(`${this.address}: never ${statement}\n${this.said.slice(-2_000)}`);
      await pause(200);
    }
  }

  async stop(): Promise<void> {
    await endOf(this.#child, "SIGINT");
  }

  /** As a machine that is gone. */
  async kill(): Promise<void> {
    const pid = Number((await readFile(join(this.data, "postmaster.pid"), "utf8").catch(() => "")).split("\n")[0]);
    if (this.#child?.exitCode === null && this.#child.signalCode === null) await killTree(pid);
    await endOf(this.#child, "SIGKILL");
  }
}
