import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { freePort } from "../../../infra/free-port.ts";
import { measure, poster } from "../load.ts";
import { evmPayment, hederaPayment, type MadePayment } from "./payments.ts";
import { startWorld, type World } from "./world.ts";

const rounds = 10;
const inFlight = 16;

/** Verifies and settles payments of both networks in ten rounds and prints the memory held after each. */
export async function soakMemory(verifications: number, settlements: number): Promise<void> {
  const world = await startWorld({ blocksEverySecond: false });
  const daemon = await startDaemon(world);
  process.stdout.write(
    `\nFacilitator, memory over ${verifications} verifications and ${settlements} settlements, half of each on either network\n` +
      "round  verified  settled  heap MB  RSS MB  external MB  seconds\n",
  );
  try {
    const held: number[] = [];
    const print = async (round: number, verified: number, settled: number, seconds: number) => {
      const { heapUsed, rss, external } = await daemon.memory();
      held.push(heapUsed);
      const cells = [
        round,
        verified,
        settled,
        megabytes(heapUsed),
        megabytes(rss),
        megabytes(external),
        seconds.toFixed(0),
      ];
      process.stdout.write(`${cells.map((cell, at) => String(cell).padStart(columns[at] ?? 0)).join("  ")}\n`);
    };
    await print(0, 0, 0, 0);
    let [verified, settled] = [0, 0];
    for (let round = 1; round <= rounds; round += 1) {
      const startedAt = performance.now();
      verified += await run(world, daemon.url, "/verify", verifications / rounds);
      settled += await run(world, daemon.url, "/settle", settlements / rounds);
      await print(round, verified, settled, (performance.now() - startedAt) / 1_000);
    }
    const [second = 0, last = 0] = [held[2], held.at(-1)];
    process.stdout.write(`heap after round ${rounds} ÷ after round 2: ${(last / second).toFixed(2)}\n`);
    if (verified !== verifications || settled !== settlements) process.stdout.write("not all of them succeeded\n");
  } finally {
    await daemon.stop();
    await world.stop();
  }
}

/** How many succeeded. Payments are made a thousand at a time, since they run out. */
async function run(world: World, url: string, path: "/verify" | "/settle", count: number): Promise<number> {
  const { post, close } = poster(url, inFlight);
  const good = (reply: Record<string, unknown>) => reply.isValid === true || reply.success === true;
  let succeeded = 0;
  for (let left = count; left > 0; left -= 1_000) {
    const payments: MadePayment[] = [];
    for (let made = 0; made < Math.min(left, 1_000); made += 1) {
      const buyer = world.buyers[made % world.buyers.length] as (typeof world.buyers)[0];
      payments.push(await (made % 2 === 0 ? evmPayment(buyer, world.terms) : hederaPayment(world.ledger)));
    }
    const figures = await measure(
      payments.map(
        ({ body }) =>
          () =>
            post(path, body, good),
      ),
      inFlight,
    );
    succeeded += figures.succeeded;
  }
  await close();
  return succeeded;
}

async function startDaemon({ variables }: World) {
  const port = await freePort();
  const file = fileURLToPath(new URL("daemon.ts", import.meta.url));
  const child = spawn(process.execPath, ["--expose-gc", "--import", "tsx", file], {
    env: { PATH: process.env.PATH, NODE_ENV: "production", ...variables, FACILITATOR_PORT: String(port) },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const url = `http://127.0.0.1:${port}`;
  while (!(await fetch(`${url}/readyz`).catch(() => undefined))?.ok) {
    if (child.exitCode !== null) throw new Error("the daemon did not start");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    url,
    memory: async (): Promise<NodeJS.MemoryUsage> => {
      // What the answers left to do in the background is done by then.
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      const answer = once(child, "message");
      child.send("memory");
      const [usage] = await answer;
      return usage as NodeJS.MemoryUsage;
    },
    stop: async () => {
      const gone = once(child, "exit");
      child.kill("SIGTERM");
      await gone;
    },
  };
}

const columns = [5, 8, 7, 7, 6, 11, 7];
const megabytes = (bytes: number): string => (bytes / 1_048_576).toFixed(1);
