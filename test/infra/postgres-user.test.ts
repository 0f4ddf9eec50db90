import { execFile } from "node:child_process";
import { chmod, copyFile, cp, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterEach, expect, test } from "vitest";

const project = fileURLToPath(new URL("../..", import.meta.url));
const isRoot = process.getuid?.() === 0;
let home: string;
afterEach(async () => {
  for (const directory of [home, `${home}-scratch`]) await rm(directory, { recursive: true, force: true });
});

/** What starts PostgreSQL, with the packages that it loads, in a folder of the given mode. */
async function projectIn(mode: number): Promise<string> {
  home = await mkdtemp(join(tmpdir(), "home-"));
  for (const file of [
    "infra/dev/postgres.ts",
    "infra/dev/postgres-user.ts",
    "infra/free-port.ts",
    "infra/how-it-ended.ts",
  ]) {
    await mkdir(dirname(join(home, file)), { recursive: true });
    await copyFile(join(project, file), join(home, file));
  }
  const packages = (await readdir(join(project, "node_modules"))).filter((name) =>
    /^(pg|postgres|embedded|@embedded|split2$|xtend$|async-exit-hook$)/.test(name),
  );
  for (const name of packages) {
    const [from, to] = [join(project, "node_modules", name), join(home, "node_modules", name)];
    await cp(from, to, { recursive: true, verbatimSymlinks: true });
  }
  await writeFile(join(home, "package.json"), '{"type":"module"}');
  await writeFile(
    join(home, "try.ts"),
    `import pg from "pg";
    import { startPostgres } from "./infra/dev/postgres.ts";
    const postgres = await startPostgres({ directory: process.argv[2], durable: false });
    const client = new pg.Client({ connectionString: await postgres.createDatabase("some") });
    await client.connect();
    console.log((await client.query("select 'answered' as said")).rows[0].said);
    await client.end();
    await postgres.stop();`,
  );
  await chmod(home, mode);
  return home;
}

/** With a scratch folder of its own, so that nothing is there yet. */
const start = async (home: string, directory: string) => {
  const scratch = join(dirname(home), `${basename(home)}-scratch`);
  await mkdir(scratch, { recursive: true, mode: 0o755 });
  const loader = pathToFileURL(join(project, "node_modules/tsx/dist/loader.mjs")).href;
  const options = { cwd: home, env: { ...process.env, TMPDIR: scratch } };
  return promisify(execFile)(process.execPath, ["--import", loader, join(home, "try.ts"), directory], options);
};

test.runIf(isRoot)(
  "PostgreSQL starts for root in a folder that only root may enter, its cluster there or not",
  async () => {
    const home = await projectIn(0o700);
    expect((await start(home, join(home, "cluster"))).stdout.trim()).toBe("answered");
    expect((await start(home, join(home, "cluster"))).stdout.trim()).toBe("answered");
    expect((await start(home, "relative")).stdout.trim()).toBe("answered");
  },
);

test("PostgreSQL starts in a folder that everybody may enter", async () => {
  const home = await projectIn(0o755);
  expect((await start(home, join(home, "cluster"))).stdout.trim()).toBe("answered");
});
