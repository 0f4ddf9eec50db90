import { execFile } from "node:child_process";
import { chmod, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { startPostgres } from "../../infra/dev/postgres.ts";
import { between } from "../bench/soak/chance.ts";
import { startWorld } from "../bench/soak/world.ts";
import { Service } from "../support/service.ts";
import { CannotDrillError } from "./debian.ts";
import type { Seen } from "./faults.ts";
import { keysOnChain, Payers, queryOnce, settledIn } from "./payers.ts";

const run = promisify(execFile);

/** The primary's disk fills up while payments are settled: it stops, gets room again, and is started as a supervisor would. */
export async function hold(): Promise<Seen> {
  const stops: Array<() => Promise<unknown>> = [];
  try {
    const disk = await smallDisk();
    stops.push(disk.remove);
    const directory = join(disk.path, "postgres");
    let postgres = await startPostgres({ directory, durable: true });
    stops.push(() => postgres.stop());
    const databaseUrl = await postgres.createDatabase("facilitator");
    const world = await startWorld({ blocksEverySecond: false });
    stops.push(() => world.stop());
    const daemons: Service[] = [];
    for (let copy = 0; copy < 2; copy += 1) {
      daemons.push(await Service.start("facilitator", { ...world.variables, FACILITATOR_DATABASE_URL: databaseUrl }));
      stops.push(() => daemons[copy]!.kill());
    }
    const payers = new Payers(world, daemons);
    payers.start();
    await pause(between(3_000, 6_000));
    await disk.fill();
    const filledAt = performance.now();
    await untilFull(postgres.urlOf("postgres"));
    await pause(between(5_000, 9_000));
    const toldWhileFull = payers.toldAtMs.filter((at) => at > performance.now() - 4_000).length;
    const answers = await Promise.all(daemons.map(({ url }) => fetch(`${url}/readyz`).then(({ status }) => status)));
    await disk.empty();
    const roomAt = performance.now();
    await postgres.stop();
    postgres = await startPostgres({ directory, durable: true, port: postgres.port });
    while (!payers.toldAtMs.some((at) => at > roomAt)) {
      if (performance.now() - roomAt > 120_000) throw new Error("nothing is settled two minutes after there was room");
      await pause(100);
    }
    await pause(3_000);
    await payers.stop();
    const known = new Set(await settledIn(databaseUrl));
    const onChain = await keysOnChain(world);
    const told = payers.told.length;
    const missing = payers.told.filter(({ key }) => !known.has(key)).length;
    const exits = daemons.filter(({ isUp }) => !isUp).length;
    const problems = [
      ...(missing > 0 ? [`${missing} told payments are missing`] : []),
      ...(onChain.size === told && known.size === told
        ? []
        : [`told ${told}, on chain ${onChain.size}, recorded ${known.size}`]),
      ...(exits > 0 ? [`${exits} copies exited`] : []),
      ...(answers.every((status) => status === 503) ? [] : [`/readyz while full: ${answers}`]),
    ];
    const full = `${((roomAt - filledAt) / 1_000).toFixed(0)} s`;
    return {
      found: { full, told, "told while full": toldWhileFull, missing, "on chain": onChain.size, exits },
      problems,
    };
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
}

/** A file system of its own, in memory. */
async function smallDisk() {
  const path = await mkdtemp(join(tmpdir(), "disk-"));
  try {
    await run("mount", ["-t", "tmpfs", "-o", "size=500m", "tmpfs", path]);
  } catch (error) {
    await rm(path, { recursive: true });
    throw new CannotDrillError(`a small disk cannot be mounted here: ${(error as Error).message.trim()}`);
  }
  await chmod(path, 0o755);
  const ballast = join(path, "ballast");
  return {
    path,
    fill: async () => {
      const file = await open(ballast, "w");
      const zeros = Buffer.alloc(1 << 20);
      try {
        for (;;) await file.write(zeros);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
      } finally {
        await file.close();
      }
    },
    empty: () => rm(ballast),
    remove: async () => {
      await run("umount", [path]);
      await rm(path, { recursive: true });
    },
  };
}

/** It writes into the files of the log that it has already, until it needs another one. */
async function untilFull(url: string): Promise<void> {
  for (;;) {
    const went = await queryOnce(url, "select pg_switch_wal()").then(
      () => true,
      () => false,
    );
    if (!went) return;
    await pause(20);
  }
}
