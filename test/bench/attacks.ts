import { attack, attacks, bystand } from "../support/attacks.ts";
import { imageEnv } from "../support/image-env.ts";
import { seedBench, startSetting } from "./marketplace/setting.ts";
import { isAsked } from "./only.ts";

/** Some attacks are over in a second: each comes again until there are enough answers for a 99th of a hundred. */
const attackedMs = 12_000;

/**
 * How long a bystander waits for /health and a call without a proof, both together, while nothing happens and under each
 * attack; wanted is a p99 below 100 ms. The machine is the attacker's too. The agent has no wallet, so that its price is a 503.
 */
export async function benchAttacks(): Promise<void> {
  const setting = await startSetting();
  const { url: databaseUrl, db } = await setting.database("attacks");
  const { agent } = await seedBench(db);
  const target = {
    url: await setting.service(databaseUrl, undefined, imageEnv()),
    freeAgent: agent.address,
    soldAgent: agent.address,
  };
  const report = async (name: string, during: Promise<unknown>) => {
    const { tookMs, failed } = await bystand(target, during, "200,503");
    const at = (share: number) => (tookMs[Math.floor((tookMs.length - 1) * share)] ?? 0).toFixed(0);
    const told = `p50 ${at(0.5)} ms  p99 ${at(0.99)} ms  failed ${failed} of ${tookMs.length}`;
    process.stdout.write(`${name.padEnd(50)} ${told}\n`);
  };
  process.stdout.write("\nA bystander while a marketplace is attacked\n");
  for (let round = 0; round < 2; round += 1) {
    await report("nothing", new Promise((resolve) => setTimeout(resolve, 3_000)));
  }
  for (const name of Object.keys(attacks).filter(isAsked))
    await report(
      name,
      again(() => attack(name, target)),
    );
  await setting.stop();
}

async function again(attacked: () => Promise<void>): Promise<void> {
  for (const begunAt = performance.now(); performance.now() - begunAt < attackedMs; ) await attacked();
}
