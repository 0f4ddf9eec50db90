import { execFile } from "node:child_process";
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { unprivilegedUser } from "../../infra/dev/postgres-user.ts";
import { freePort } from "../../infra/free-port.ts";
import { between } from "../bench/soak/chance.ts";
import { startWorld } from "../bench/soak/world.ts";
import { Service } from "../support/service.ts";
import { type Unpacked, unpack } from "./debian.ts";
import { keysOnChain, Payers, queryOnce, settledIn } from "./payers.ts";
import { tableOf } from "./report.ts";

/**
 * A PostgreSQL whose log pgBackRest archives: a backup is taken while payments are settled, its disk is lost, and it is restored from
 * the backup and the archive. What had been archived is there again; what was settled after that is found on its chain.
 */
export async function drill(): Promise<boolean> {
  const stops: Array<() => Promise<unknown>> = [];
  try {
    const debian = await unpack(["postgresql-15", "pgbackrest"]);
    stops.push(() => debian.remove());
    const database = await startDatabase(debian);
    stops.push(() => database.stop());
    const world = await startWorld({ blocksEverySecond: false });
    stops.push(() => world.stop());
    await queryOnce(database.urlOf("postgres"), "create database facilitator");
    const url = database.urlOf("facilitator");
    const daemon = await Service.start("facilitator", { ...world.variables, FACILITATOR_DATABASE_URL: url });
    stops.push(() => daemon.kill());
    const payers = new Payers(world, [daemon]);
    payers.start();
    await pause(between(3_000, 6_000));
    const backedUpMs = await timed(() => database.backUp());
    await pause(between(3_000, 6_000));
    // What is told while the log is archived may be in it or not.
    const archived = new Set(payers.told.map(({ key }) => key));
    await archiveLog(url);
    await pause(between(2_000, 4_000));
    await payers.stop();
    const told = payers.told;
    const restoredMs = await timed(() => database.loseAndRestore());
    const known = new Set(await settledIn(url));
    const missing = told.filter(({ key }) => !known.has(key));
    const lostOfArchive = missing.filter(({ key }) => archived.has(key));
    const foundAgain = await payers.findAgain(missing);
    const onChain = await keysOnChain(world);
    const counts = [told.length, archived.size, lostOfArchive.length, missing.length, foundAgain, onChain.size];
    const seconds = [backedUpMs, restoredMs].map((ms) => (ms / 1_000).toFixed(1));
    const header = [
      "told success",
      "archived",
      "of these lost",
      "lost",
      "found again",
      "on chain",
      "s backup",
      "s restore",
    ];
    process.stdout.write(`\n${tableOf(header, [[...counts.map(String), ...seconds]])}`);
    return lostOfArchive.length === 0 && foundAgain === missing.length && onChain.size === told.length;
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
}

/** Waits until what was committed before is in the archive. */
async function archiveLog(url: string): Promise<void> {
  const { rows } = await queryOnce(url, "select pg_walfile_name(pg_switch_wal()) as file");
  const isArchived = `select coalesce(left(last_archived_wal, 24) >= '${rows[0].file}', false) as so from pg_stat_archiver`;
  while (!(await queryOnce(url, isArchived)).rows[0].so) await pause(100);
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

async function startDatabase(debian: Unpacked) {
  const directory = await mkdtemp(join(tmpdir(), "restore-"));
  const user = await unprivilegedUser();
  const data = join(directory, "data");
  const port = await freePort();
  const settings = join(directory, "pgbackrest.conf");
  for (const folder of ["", "repository", "log", "spool", "lock"]) {
    await mkdir(join(directory, folder), { recursive: true });
    await chmod(join(directory, folder), 0o755);
    if (user) await chown(join(directory, folder), user.uid, user.gid);
  }
  await writeFile(settings, pgBackRestSettings(directory, data, port));
  const identity = user ? { uid: user.uid, gid: user.gid } : {};
  const run = async (path: string, ...given: string[]) => {
    const [program, ...args] = debian.command(path);
    await promisify(execFile)(program, [...args, ...given], { cwd: directory, ...identity, maxBuffer: 1e8 });
  };
  const bin = "usr/lib/postgresql/15/bin";
  const backRest = (...given: string[]) =>
    run("usr/bin/pgbackrest", `--config=${settings}`, "--stanza=drill", ...given);
  const archive = [
    ...debian.command("usr/bin/pgbackrest"),
    `--config=${settings}`,
    "--stanza=drill",
    "archive-push",
    "%p",
  ];
  const options = [
    `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${directory} -c max_connections=100`,
    `-c archive_mode=on -c wal_level=replica -c "archive_command=${archive.join(" ")}"`,
  ].join(" ");
  const start = () =>
    run(`${bin}/pg_ctl`, "-D", data, "-w", "-t", "120", "-l", join(directory, "postgres.log"), "-o", options, "start");
  await run(`${bin}/initdb`, "-D", data, "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C");
  await start();
  await backRest("stanza-create");
  const urlOf = (name: string) => `postgres://postgres@127.0.0.1:${port}/${name}`;
  return {
    urlOf,
    backUp: () => backRest("--type=full", "backup"),
    loseAndRestore: async () => {
      await run(`${bin}/pg_ctl`, "-D", data, "-m", "immediate", "stop");
      await rm(data, { recursive: true, force: true });
      await mkdir(data, { mode: 0o700 });
      if (user) await chown(data, user.uid, user.gid);
      await backRest("restore");
      await start();
      while ((await queryOnce(urlOf("postgres"), "select pg_is_in_recovery() as busy")).rows[0].busy) await pause(200);
    },
    stop: async () => {
      await run(`${bin}/pg_ctl`, "-D", data, "-m", "immediate", "stop").catch(() => {});
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function pgBackRestSettings(directory: string, data: string, port: number): string {
  return [
    "[global]",
    `repo1-path=${join(directory, "repository")}`,
    "repo1-retention-full=2",
    `log-path=${join(directory, "log")}`,
    `spool-path=${join(directory, "spool")}`,
    `lock-path=${join(directory, "lock")}`,
    "start-fast=y",
    "compress-type=gz",
    "[drill]",
    `pg1-path=${data}`,
    `pg1-port=${port}`,
    `pg1-socket-path=${directory}`,
    "pg1-user=postgres",
    "",
  ].join("\n");
}
