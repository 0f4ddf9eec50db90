import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { projectDirectory } from "../../infra/dev/settings.ts";
import { freePort } from "../../infra/free-port.ts";
import { between, shuffled } from "../bench/soak/chance.ts";
import { startWorld, type World } from "../bench/soak/world.ts";
import { Service } from "../support/service.ts";
import { seedAgents, startAgentBackends } from "./agents.ts";
import { checkEveryMs, runHaproxy } from "./balancer.ts";
import { Callers } from "./callers.ts";
import { type Unpacked, unpack } from "./debian.ts";
import { readDeployFiles } from "./deploy-files.ts";
import { type Databases, type DeployedDatabase, prepareDatabases, type Roles } from "./deployed-databases.ts";
import { Payers, settledIn } from "./payers.ts";
import { tableOf } from "./report.ts";
import { verdict } from "./rolling.ts";

/**
 * What infra/deploy has for one host, by its own files: each is read by the program that it is for; both databases, two copies of each
 * service and the balancer run, copies are replaced under load; a backup is taken, the primary is killed and the standby takes its
 * place; and the backup is restored, to its end and to a moment.
 */
export async function drill(): Promise<boolean> {
  const stops: Array<() => Promise<unknown>> = [];
  const rows: Array<readonly [string, string, boolean]> = [];
  const note = (what: string, found: string, holds: boolean) => {
    rows.push([what, found, holds]);
    process.stdout.write(`${what}: ${found}\n`);
  };
  try {
    const debian = await unpack(["haproxy", "prometheus"]);
    stops.push(() => debian.remove());
    for (const [file, said] of await readDeployFiles(debian))
      note(file, said, said === "taken" || said.startsWith("not tried"));
    const databases = await prepareDatabases();
    stops.push(() => databases.stop());
    const world = await startWorld({ blocksEverySecond: false });
    stops.push(() => world.stop());
    const setting = { debian, databases, world, stops, note };
    await replaceCopies(setting);
    const told = await failOver(setting);
    await restore(setting, told);
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
  process.stdout.write(
    `\n${tableOf(
      ["what", "found", ""],
      rows.map(([what, found, holds]) => [what, found, holds ? "" : "WRONG"]),
    )}`,
  );
  return rows.every(([, , holds]) => holds);
}

interface Setting {
  readonly debian: Unpacked;
  readonly databases: Databases;
  readonly world: World;
  readonly stops: Array<() => Promise<unknown>>;
  note(what: string, found: string, holds: boolean): void;
}

const rolesOf = ({ one, two }: Databases): Roles => ({ primary: one, standby: two, durability: "synchronous" });

const variablesFor = (world: World, { primary, standby, durability }: Roles): Record<string, string> => ({
  ...world.variables,
  FACILITATOR_DATABASE_URL: primary.urlOf("facilitator"),
  FACILITATOR_DATABASE_READ_URL: standby.urlOf("facilitator"),
  FACILITATOR_MIGRATE: "off",
  DURABILITY: durability,
  TRUST_PROXY_HOPS: "1",
  DRAIN_MS: "5000",
});

const isFollowed = "exists (select from pg_stat_replication where state = 'streaming' and sync_state = 'sync')";

/** Both databases from nothing, the schema, copies behind the balancer, and each copy replaced while calls come. A backup meanwhile. */
async function replaceCopies({ debian, databases, world, stops, note }: Setting): Promise<void> {
  const roles = rolesOf(databases);
  databases.one.start(roles);
  databases.two.start(roles);
  await databases.one.until(isFollowed);
  const urls = {
    FACILITATOR_DATABASE_URL: databases.one.urlOf("facilitator"),
    MARKETPLACE_DATABASE_URL: databases.one.urlOf("marketplace"),
  };
  const migrate = join(projectDirectory, "dist/infra/deploy/migrate.js");
  await promisify(execFile)(process.execPath, [migrate], {
    env: { PATH: process.env.PATH, LOG_LEVEL: "error", ...urls },
  });
  const backends = await startAgentBackends();
  stops.push(() => backends.stop());
  const ports = { facilitator: await freePort(), marketplace: await freePort() };
  const behind = (name: keyof typeof ports) => `http://127.0.0.1:${ports[name]}`;
  const market = {
    ...backends.variables(world, urls.MARKETPLACE_DATABASE_URL, behind("facilitator")),
    MARKETPLACE_MIGRATE: "off",
    MARKETPLACE_DATABASE_READ_URL: databases.two.urlOf("marketplace"),
    FILES_DIR: databases.files,
    DURABILITY: "synchronous",
    TRUST_PROXY: "1",
    DRAIN_MS: "5000",
  };
  const copies: Record<string, Service> = {};
  for (const copy of ["facilitator-1", "facilitator-2"])
    copies[copy] = await Service.start("facilitator", variablesFor(world, roles));
  const settings = await readFile(join(projectDirectory, "infra/deploy/haproxy.cfg"), "utf8");
  for (const copy of ["marketplace-1", "marketplace-2"]) copies[copy] = await Service.start("marketplace", market);
  for (const copy of Object.values(copies)) stops.push(() => copy.kill());
  const balancer = await runHaproxy(debian, withAddresses(settings, ports, copies), ports);
  stops.push(() => balancer.stop());
  const seeded = await seedAgents(market, backends.slowUrl);
  await pause(checkEveryMs);
  const callers = new Callers(world, {
    facilitator: behind("facilitator"),
    marketplace: behind("marketplace"),
    seeded,
  });
  callers.start(1);
  await pause(3_000);
  await databases.backUp(roles);
  for (const copy of shuffled(Object.values(copies))) {
    await copy.stop();
    await copy.start();
    await pause(checkEveryMs + between(500, 1_500));
  }
  await callers.stop();
  const { text, failed, problems } = await verdict(callers, world, seeded.wallet);
  process.stdout.write(`\n${text}`);
  for (const problem of problems) process.stdout.write(`${problem}\n`);
  note(
    "4 copies replaced behind the balancer",
    `${failed} of ${callers.calls} calls failed`,
    failed + problems.length === 0,
  );
  const asked = ["/metrics", "/metrics/", "/METRICS"].map((path) => fetch(behind("facilitator") + path));
  const hidden = (await Promise.all(asked)).map(({ status }) => status);
  note(
    "/metrics at the balancer",
    hidden.join(", "),
    hidden.every((status) => status === 404),
  );
  const health = (await (await fetch(`${behind("facilitator")}/health`)).json()) as { durability: { seen: string } };
  note(
    "durability that the facilitator sees",
    health.durability.seen,
    health.durability.seen === "synchronous_standby",
  );
  for (const copy of Object.values(copies)) await copy.stop();
}

/** The file as it is, but for the addresses and ports that containers would have. */
function withAddresses(
  settings: string,
  ports: Record<string, number>,
  copies: Readonly<Record<string, Service>>,
): string {
  const placed = Object.entries(copies).reduce(
    (text, [name, { url }]) => text.replace(new RegExp(`${name}:\\d+`), new URL(url).host),
    settings,
  );
  return placed
    .replace("bind :4022", `bind 127.0.0.1:${ports.facilitator}`)
    .replace("bind :4020", `bind 127.0.0.1:${ports.marketplace}`);
}

/** The primary is killed while payments are settled, and the standby is named the primary; the former one comes back as its standby. */
async function failOver({ databases, world, stops, note }: Setting): Promise<readonly string[]> {
  const { one, two } = databases;
  const before = rolesOf(databases);
  const daemon = await Service.start("facilitator", variablesFor(world, before));
  stops.push(() => daemon.kill());
  const daemons = [daemon];
  const payers = new Payers(world, daemons);
  payers.start();
  await pause(between(2_000, 5_000));
  const killedAt = performance.now();
  await one.kill();
  await two.stop();
  const after: Roles = { primary: two, standby: one, durability: "single" };
  two.start(after);
  await two.until("not pg_is_in_recovery()");
  const toldBefore = payers.toldAtMs.filter((at) => at < killedAt).length;
  const known = new Set(await settledIn(two.urlOf("facilitator")));
  const missing = payers.told.slice(0, toldBefore).filter(({ key }) => !known.has(key)).length;
  note(
    "primary killed, standby named the primary",
    `${missing} of ${toldBefore} told missing, in ${seconds(killedAt)}`,
    missing === 0,
  );
  one.start(before);
  const refused = (await one.untilRefused()) === 1 && one.said.includes("is the primary");
  note("the former primary, still named so", refused ? "refused to start" : "started", refused);
  one.start({ ...after, durability: "synchronous" });
  await two.stop();
  two.start({ ...after, durability: "synchronous" });
  await two.until(isFollowed);
  const aside = one.said.includes("cluster.former");
  note("the former primary as the standby", aside ? "follows, its data set aside" : "kept its data", aside);
  await daemon.kill();
  const again = await Service.start("facilitator", variablesFor(world, { ...after, durability: "synchronous" }));
  stops.push(() => again.kill());
  daemons.splice(0, 1, again);
  await payers.stop();
  await again.stop();
  return payers.told.map(({ key }) => key);
}

const seconds = (since: number) => `${((performance.now() - since) / 1_000).toFixed(1)} s`;

/** Both databases are lost; the backup and the archived log bring back what was told, or what was told until a moment. */
async function restore({ databases, world, stops, note }: Setting, told: readonly string[]): Promise<void> {
  const { one, two } = databases;
  const reversed: Roles = { primary: two, standby: one, durability: "synchronous" };
  const roles = rolesOf(databases);
  const stored = join(databases.files, "stored");
  await writeFile(stored, "kept");
  await databases.backUp(reversed);
  const kept = await databases.backups();
  note("backups kept of 2, where BACKUPS_KEEP is 1", String(kept.length), kept.length === 1);
  const until = await momentBetween(two);
  const daemon = await Service.start("facilitator", variablesFor(world, reversed));
  stops.push(() => daemon.kill());
  const later = new Payers(world, [daemon]);
  later.start();
  while (later.told.length < 20) await pause(100);
  await later.stop();
  await daemon.stop();
  const [ended] = await two.ask("select pg_walfile_name(pg_switch_wal()) as file");
  await two.until(`(select last_archived_wal >= '${ended!.file}' from pg_stat_archiver)`);
  await Promise.all([one.kill(), two.kill()]);
  const all = [...told, ...later.told.map(({ key }) => key)];
  const bringBack = async (moment?: Date) => {
    const startedAt = performance.now();
    await databases.restoreOne(roles, moment);
    // As `up` does; what the standby has is of another time.
    one.start(roles);
    two.start(roles);
    await one.until("not pg_is_in_recovery()");
    const took = seconds(startedAt);
    await one.until(isFollowed);
    const known = new Set(await settledIn(one.urlOf("facilitator")));
    return { known, took, missing: all.filter((key) => !known.has(key)).length };
  };
  const whole = await bringBack();
  note("restored to the end", `${whole.missing} of ${all.length} told missing, in ${whole.took}`, whole.missing === 0);
  await Promise.all([one.stop(), two.stop()]);
  const past = await bringBack(until);
  const isExact = past.missing === later.told.length;
  note(
    "restored to a moment before the last payments",
    `${past.missing} of ${later.told.length} of these gone, in ${past.took}`,
    isExact,
  );
  note("the standby after each", "follows", true);
}

/** One that no commit shares, by the database's clock. */
async function momentBetween(database: DeployedDatabase): Promise<Date> {
  await pause(1_500);
  const [row] = await database.ask("select now() as now");
  await pause(1_500);
  return row!.now as Date;
}
