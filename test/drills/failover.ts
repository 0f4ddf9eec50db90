import { setTimeout as pause } from "node:timers/promises";
import { between } from "../bench/soak/chance.ts";
import { startWorld, type World } from "../bench/soak/world.ts";
import { Service } from "../support/service.ts";
import { startBalancer } from "./balancer.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { unpack } from "./debian.ts";
import { keysOnChain, Payers, queryOnce, settledIn } from "./payers.ts";
import { choiceOf, tableOf } from "./report.ts";

const modes = ["synchronous", "asynchronous"] as const;

/**
 * Payments are settled while the database's primary is killed with the last moments not yet at its standby, once where a commit
 * waits for the standby and once where it does not. `--mode=synchronous|asynchronous` for one of them.
 */
export async function drill(): Promise<boolean> {
  const wanted = choiceOf("mode", modes);
  const rows: string[][] = [];
  let held = true;
  for (const mode of modes) {
    if (wanted !== undefined && wanted !== mode) continue;
    const { told, missing, foundAgain, onChain, recorded, exits, withoutWritesMs, lostForMs } = await failOver(mode);
    const isExact = exits === 0 && onChain === told && recorded === onChain;
    const isWhole = mode === "asynchronous" || (missing === 0 && foundAgain === 0);
    held &&= isExact && isWhole;
    const counts = [told, missing, foundAgain, onChain, recorded, exits].map(String);
    const times = [withoutWritesMs, lostForMs].map((ms) => (ms === undefined ? "-" : (ms / 1_000).toFixed(1)));
    rows.push([mode, ...counts, ...times]);
  }
  const header = [
    "replication",
    "told success",
    "missing",
    "found again",
    "on chain",
    "recorded",
    "exits",
    "s without writes",
    "s until found",
  ];
  process.stdout.write(`\n${tableOf(header, rows)}`);
  return held;
}

interface Result {
  readonly told: number;
  /** Told, and not on the new primary some seconds later. */
  readonly missing: number;
  /** Those that the facilitators found on the chain by themselves. */
  readonly foundAgain: number;
  readonly onChain: number;
  /** After that, as settled. */
  readonly recorded: number;
  readonly exits: number;
  readonly withoutWritesMs: number;
  /** From the first success that was told by the new primary until the last of `foundAgain`. */
  readonly lostForMs: number | undefined;
}

async function failOver(mode: (typeof modes)[number]): Promise<Result> {
  const stops: Array<() => Promise<unknown>> = [];
  try {
    const haproxy = await unpack(["haproxy"]);
    stops.push(() => haproxy.remove());
    const cluster = await startCluster(mode === "synchronous");
    stops.push(() => cluster.stop());
    const servers = cluster.nodes.map(({ port, restPort }) => `127.0.0.1:${port} port ${restPort}`);
    const toPrimary = await startBalancer(haproxy, {
      primary: { check: "OPTIONS /primary", everyMs: 1_000, servers, cutsOff: true },
    });
    stops.push(() => toPrimary.stop());
    const world = await startWorld({ blocksEverySecond: false });
    stops.push(() => world.stop());
    const urlOf = (name: string) => `postgres://postgres@${new URL(toPrimary.urlOf("primary")).host}/${name}`;
    await untilWritable(urlOf("postgres"));
    await queryOnce(urlOf("postgres"), "create database facilitator");
    const FACILITATOR_DATABASE_URL = urlOf("facilitator");
    const variables = { ...world.variables, FACILITATOR_DATABASE_URL, DURABILITY: mode };
    const daemons = [];
    for (let copy = 0; copy < 2; copy += 1) {
      const daemon = await Service.start("facilitator", variables);
      stops.push(() => daemon.kill());
      daemons.push(daemon);
    }
    return await settleThrough({ cluster, world, daemons, databaseUrl: FACILITATOR_DATABASE_URL });
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
}

interface Setting {
  readonly cluster: Cluster;
  readonly world: World;
  readonly daemons: readonly Service[];
  readonly databaseUrl: string;
}

async function settleThrough({ cluster, world, daemons, databaseUrl }: Setting): Promise<Result> {
  const payers = new Payers(world, daemons);
  payers.start();
  // Where the search for lost settlements begins is on record: what is older is not looked for.
  const begun = async () =>
    (await queryOnce(databaseUrl, "select from searched_settlements where network like 'eip155:%'")).rowCount !== 0;
  while (!(await begun())) await pause(500);
  await pause(between(4_000, 10_000));
  const [primary] = cluster.nodes;
  primary!.link.freeze();
  const lagMs = between(2_000, 4_000);
  await pause(lagMs);
  const killedAt = performance.now();
  await primary!.kill();
  while (!payers.toldAtMs.some((at) => at > killedAt + 1_000)) {
    if (performance.now() - killedAt > 120_000)
      throw new Error("nothing is settled two minutes after the primary was killed");
    await pause(100);
  }
  const writtenAgainAt = new Date();
  await pause(6_000);
  await payers.stop();
  const told = payers.told;
  // The longest time in which no payer was told anything, from when the receiver was stopped.
  const times = payers.toldAtMs.filter((at) => at > killedAt - lagMs - 500);
  const withoutWritesMs = Math.max(...times.map((at, index) => (index === 0 ? 0 : at - times[index - 1]!)));
  const known = new Set(await settledIn(databaseUrl));
  const missing = told.filter(({ key }) => !known.has(key));
  const onChain = await keysOnChain(world);
  const recordedNow = async () => (await settledIn(databaseUrl)).filter((key) => onChain.has(key)).length;
  const giveUpAt = performance.now() + 120_000;
  while ((await recordedNow()) < onChain.size && performance.now() < giveUpAt) await pause(500);
  const recorded = await recordedNow();
  const { foundAgain, lastAt } = await searched(databaseUrl);
  // A payer who posts one of them again is told so.
  if ((await payers.findAgain(missing)) < missing.length) throw new Error("a payment that was told is not told again");
  const exits = daemons.filter(({ isUp }) => !isUp).length;
  return {
    told: told.length,
    missing: missing.length,
    foundAgain,
    onChain: onChain.size,
    recorded,
    exits,
    withoutWritesMs,
    lostForMs: lastAt && lastAt.getTime() - writtenAgainAt.getTime(),
  };
}

/** What the facilitators found on the chain, and when the last of it. */
async function searched(databaseUrl: string): Promise<{ foundAgain: number; lastAt: Date | undefined }> {
  const { rows } = await queryOnce(
    databaseUrl,
    "select sum(found_again)::int as payments, max(last_found_at) as last_at from searched_settlements",
  );
  return { foundAgain: rows[0].payments, lastAt: rows[0].last_at ?? undefined };
}

async function untilWritable(url: string): Promise<void> {
  for (;;) {
    const isStandby = await queryOnce(url, "select pg_is_in_recovery() as standby").then(
      ({ rows }) => rows[0].standby as boolean,
      () => true,
    );
    if (!isStandby) return;
    await pause(200);
  }
}
