import { spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";

const folder = fileURLToPath(new URL("../../infra/deploy/", import.meta.url));

let home: string;
let backups: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "databases-"));
  backups = join(home, "backups");
  for (const name of ["bin", "files", "backups/base", "backups/wal"])
    await mkdir(join(home, name), { recursive: true });
  await standIns(working);
});

afterEach(() => rm(home, { recursive: true, force: true }));

const pgdataOf = `for one in "$@"; do case $one in --pgdata=*) to=\${one#--pgdata=};; esac; done`;
/** What the scripts call, as if there were a primary. A round of backup.sh's loop ends with its sleep. */
const working = {
  psql: "echo f",
  pg_isready: "exit 1",
  pg_basebackup: `${pgdataOf}
mkdir -p "$to" && echo "START WAL LOCATION: 0/2 (file 000000010000000000000002)" > "$to/backup_label" && touch "$to/backup_manifest"`,
  pg_verifybackup: "exit 0",
  sync: "exit 0",
  pg_archivecleanup: `echo "$@" >> "$BACKUPS/../cleaned"`,
  sleep: "exit 9",
  postgres: "echo started",
};

async function standIns(programs: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, does] of Object.entries(programs)) {
    await writeFile(join(home, "bin", name), `#!/bin/bash\n${does}\n`);
    await chmod(join(home, "bin", name), 0o755);
  }
}

function start(command: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const [program = "", ...args] = command;
  const child = spawn(program, args, {
    cwd: home,
    env: {
      PATH: `${join(home, "bin")}:${process.env.PATH}`,
      BACKUPS: backups,
      BACKUPS_KEEP: "1",
      BACKUP_HOURS: "24",
      FILES: join(home, "files"),
      DATABASE_NAME: "database-2",
      DATABASE_PRIMARY: "database-1",
      DATABASE_STANDBY: "database-2",
      DURABILITY: "synchronous",
      REPLICATION_PASSWORD: "r1",
      PGDATA: join(home, "cluster"),
      ...environment,
    },
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += chunk));
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  return { ended, said: () => said };
}

const script = (name: string, ...args: string[]) => ["bash", join(folder, "database", `${name}.sh`), ...args];

async function turnLoopOnce(): Promise<string> {
  const { ended, said } = start(script("backup"));
  expect(await ended).toBe(9);
  return said();
}

const kept = async () => (await readdir(join(backups, "base"))).filter((name) => name.startsWith("2")).toSorted();

async function put(path: string, hoursOld: number, text = ""): Promise<void> {
  await mkdir(join(path, ".."), { recursive: true });
  await writeFile(path, text);
  const at = Date.now() / 1_000 - hoursOld * 3_600;
  for (const aged of [path, join(path, ".."), join(path, "../..")]) await utimes(aged, at, at);
}

async function putBackup(name: string, hoursOld: number): Promise<void> {
  const database = join(backups, "base", name, "database");
  await put(join(database, "backup_label"), hoursOld, "START WAL LOCATION: 0/1 (file 000000010000000000000001)\n");
  await put(join(database, "backup_manifest"), hoursOld);
}

const old = "2026-01-01T00-00-00Z";

describe("a backup", () => {
  test.for([
    ["pg_basebackup", `${working.pg_basebackup}\nrm "$to/backup_manifest"; exit 1`],
    ["pg_verifybackup", "exit 1"],
    ["psql", "echo t"],
  ] as const)("that %s finds fault with is not kept, and pushes none out", async ([program, does]) => {
    await putBackup(old, 48);
    await standIns({ [program]: does });
    for (let round = 0; round < 2; round += 1) {
      expect(await turnLoopOnce()).toContain("no backup was made; trying again in a minute");
      expect(await kept()).toEqual([old]);
    }
    await expect(readFile(join(home, "cleaned"))).rejects.toThrow("ENOENT");
  });

  test("that is good pushes out what is older, and the log from before it", async () => {
    await putBackup(old, 48);
    expect(await turnLoopOnce()).toBe("");
    const [one, ...others] = await kept();
    expect(others).toEqual([]);
    expect(one).not.toBe(old);
    expect(await readFile(join(home, "cleaned"), "utf8")).toContain("000000010000000000000002");
    await turnLoopOnce();
    expect(await kept()).toEqual([one]);
  });

  test.for([
    ["BACKUPS_KEEP", "0"],
    ["BACKUPS_KEEP", "all"],
    ["BACKUP_HOURS", "0"],
    ["BACKUP_HOURS", "24h"],
  ] as const)("is neither made nor deleted where %s is %s, which is told", async ([name, value]) => {
    await putBackup(old, 48);
    const { ended, said } = start(script("backup"), { [name]: value });
    expect(await ended).toBe(1);
    expect(said()).toContain(`${name} must be a whole number from 1 on`);
    expect(await kept()).toEqual([old]);
  });

  test("without a manifest is none: it makes none superfluous and no sick container well, and is not restored", async () => {
    await putBackup(old, 48);
    await putBackup("2026-01-02T00-00-00Z", 24.5);
    await put(join(backups, "base", "2026-01-03T00-00-00Z", "files.tar"), 0);
    const { services } = parse(await readFile(join(folder, "compose.yaml"), "utf8"), { merge: true });
    const [, check] = services.backup.healthcheck.test as [string, string];
    const isHealthy = (hours: string) =>
      start(["sh", "-c", check.replaceAll("$$", "$").replaceAll("/backups/", `${backups}/`)], { BACKUP_HOURS: hours })
        .ended;
    expect(await isHealthy("13")).toBe(0);
    expect(await isHealthy("12")).toBe(1);
    const { ended, said } = start(script("restore"));
    expect(await ended).toBe(0);
    expect(said()).toContain("2026-01-02T00-00-00Z is in place");
    await turnLoopOnce();
    expect((await kept()).filter((name) => !name.startsWith("2026-01-03"))).toHaveLength(1);
  });

  test("is made at once of what was restored", async () => {
    await putBackup(old, 1);
    await turnLoopOnce();
    expect(await kept()).toEqual([old]);
    await start(script("restore")).ended;
    await turnLoopOnce();
    expect(await kept()).not.toEqual([old]);
  });
});

describe("a standby that starts", () => {
  const signal = () => join(home, "cluster", "standby.signal");
  const own = () => readdir(join(home, "cluster"));

  test("with the restored primary, which still recovers, waits for it and copies it anew", async () => {
    await put(signal(), 1);
    await putBackup(old, 2);
    await start(script("restore"), { PGDATA: join(home, "database-1") }).ended;
    await standIns({ psql: `[ -e "${home}/promoted" ] && echo f || echo t`, sleep: `exec /bin/sleep 0.05` });
    const { ended, said } = start(script("run"));
    await expect.poll(said).toContain("database-2: waiting for database-1");
    expect(said()).not.toContain("started");
    await writeFile(join(home, "promoted"), "");
    expect(await ended).toBe(0);
    expect(said()).toContain("started");
    expect(await own()).toContain("backup_manifest");
    await standIns({ psql: "echo t" });
    const again = start(script("run"));
    expect(await again.ended).toBe(0);
    expect(again.said()).toBe("started\n");
  });

  test("without a restore keeps what it has, whether or not its primary answers", async () => {
    await put(signal(), 1);
    await standIns({ psql: "exit 2" });
    const { ended, said } = start(script("run"));
    expect(await ended).toBe(0);
    expect(said()).toBe("started\n");
    expect(await own()).toEqual(["standby.signal"]);
  });
});
