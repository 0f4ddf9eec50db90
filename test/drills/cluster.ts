import { type ChildProcess, spawn } from "node:child_process";
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { unprivilegedUser } from "../../infra/dev/postgres-user.ts";
import { freePort } from "../../infra/free-port.ts";
import { type Unpacked, unpack } from "./debian.ts";
import { Link } from "./link.ts";
import { endOf, killTree } from "./processes.ts";

/** Seconds after which a leader that says nothing is replaced. */
const leaderSeconds = 20;

/** Two PostgreSQLs under Patroni, which agree by etcd on who is primary. The standby receives by a link that can be stopped. */
export async function startCluster(synchronous: boolean): Promise<Cluster> {
  const debian = await unpack(["patroni", "etcd-server", "postgresql-15", "python3-psycopg2"]);
  const directory = await mkdtemp(join(tmpdir(), "cluster-"));
  const user = await unprivilegedUser();
  await chmod(directory, 0o755);
  if (user) await chown(directory, user.uid, user.gid);
  const etcd = await startEtcd(debian, directory, user);
  const nodes: Node[] = [];
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.kill()));
    await endOf(etcd.child, "SIGKILL");
    await rm(directory, { recursive: true, force: true });
    await debian.remove();
  };
  try {
    for (const name of ["a", "b"]) {
      nodes.push(await startNode({ debian, directory, user, name, synchronous, etcdPort: etcd.port }));
      await nodes.at(-1)!.untilUp();
    }
    await untilReplicated(nodes[0]!, synchronous);
  } catch (error) {
    await stop();
    throw error;
  }
  return { nodes, stop };
}

export interface Cluster {
  readonly nodes: readonly Node[];
  stop(): Promise<void>;
}

type User = Awaited<ReturnType<typeof unprivilegedUser>>;

async function startEtcd(debian: Unpacked, directory: string, user: User) {
  const [port, peerPort] = [await freePort(), await freePort()];
  const url = (number: number) => `http://127.0.0.1:${number}`;
  const [program, ...args] = debian.command("usr/bin/etcd");
  const options = {
    "data-dir": join(directory, "etcd"),
    "listen-client-urls": url(port),
    "advertise-client-urls": url(port),
    "listen-peer-urls": url(peerPort),
    "initial-advertise-peer-urls": url(peerPort),
    "initial-cluster": `default=${url(peerPort)}`,
  };
  const given = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  const child = spawn(program, [...args, ...given], { cwd: directory, stdio: "ignore", ...identity(user) });
  return { child, port };
}

const identity = (user: User) => (user ? { uid: user.uid, gid: user.gid } : {});

interface NodeOptions {
  readonly debian: Unpacked;
  readonly directory: string;
  readonly user: User;
  readonly name: string;
  readonly synchronous: boolean;
  readonly etcdPort: number;
}

/** One PostgreSQL and the Patroni that keeps it. */
export interface Node {
  readonly port: number;
  /** Patroni's, which a balancer asks for `/primary`. */
  readonly restPort: number;
  /** The way on which the other one receives from it. */
  readonly link: Link;
  untilUp(): Promise<void>;
  /** Patroni and PostgreSQL at once, as a machine that is gone. */
  kill(): Promise<void>;
}

async function startNode(options: NodeOptions): Promise<Node> {
  const { debian, directory, user, name } = options;
  const [port, restPort] = [await freePort(), await freePort()];
  const link = await Link.to(port);
  const home = join(directory, name);
  await mkdir(home);
  if (user) await chown(home, user.uid, user.gid);
  const data = join(home, "data");
  const file = join(home, "patroni.yaml");
  await writeFile(file, JSON.stringify(settingsOf(options, { port, restPort, linkPort: link.port, data, home })));
  const [program, ...args] = debian.command("usr/bin/patroni");
  // Debian's, which knows of Debian's libraries.
  const interpreted = [...args.slice(0, -1), "/usr/bin/python3", args.at(-1) as string, file];
  const child: ChildProcess = spawn(program, interpreted, {
    cwd: home,
    stdio: ["ignore", "ignore", process.env.DRILL_LOG ? "inherit" : "ignore"],
    ...identity(user),
  });
  const answers = async () => {
    const client = new pg.Client({ connectionString: `postgres://postgres@127.0.0.1:${port}/postgres` });
    client.on("error", () => {});
    try {
      await client.connect();
      return true;
    } catch {
      return false;
    } finally {
      await client.end().catch(() => {});
    }
  };
  return {
    port,
    restPort,
    link,
    untilUp: async () => {
      while (!(await answers())) {
        if (child.exitCode !== null) throw new Error(`Patroni ${name} ended with ${child.exitCode}`);
        await pause(200);
      }
    },
    kill: async () => {
      await endOf(child, "SIGKILL");
      const pid = Number((await readFile(join(data, "postmaster.pid"), "utf8").catch(() => "")).split("\n")[0]);
      await killTree(pid);
      link.stop();
    },
  };
}

interface Places {
  readonly port: number;
  readonly restPort: number;
  readonly linkPort: number;
  readonly data: string;
  readonly home: string;
}

function settingsOf({ debian, name, synchronous, etcdPort }: NodeOptions, places: Places): object {
  const { port, restPort, linkPort, data, home } = places;
  return {
    scope: "drill",
    name,
    restapi: { listen: `127.0.0.1:${restPort}`, connect_address: `127.0.0.1:${restPort}` },
    etcd3: { hosts: `127.0.0.1:${etcdPort}` },
    bootstrap: {
      dcs: {
        ttl: leaderSeconds,
        loop_wait: 5,
        retry_timeout: 5,
        maximum_lag_on_failover: 1_000_000_000,
        synchronous_mode: synchronous,
        postgresql: { parameters: { max_connections: 300, wal_level: "replica", synchronous_commit: "on" } },
      },
      initdb: [{ encoding: "UTF8" }, { locale: "C" }],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${linkPort}`,
      bin_dir: join(debian.root, "usr/lib/postgresql/15/bin"),
      data_dir: data,
      pgpass: join(home, "pgpass"),
      pg_hba: ["local all all trust", "host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"],
      parameters: { unix_socket_directories: home },
      authentication: { superuser: { username: "postgres" }, replication: { username: "replicator" } },
    },
  };
}

/** Until the standby is there and, where it should be, waited for. */
async function untilReplicated({ port }: Node, synchronous: boolean): Promise<void> {
  for (;;) {
    const client = new pg.Client({ connectionString: `postgres://postgres@127.0.0.1:${port}/postgres` });
    client.on("error", () => {});
    await client.connect();
    const { rows } = await client.query("select sync_state from pg_stat_replication where state = 'streaming'");
    await client.end();
    if (rows[0] && (!synchronous || rows[0].sync_state === "sync")) return;
    await pause(500);
  }
}
