import { attack, attacks, bystand } from "../support/attacks.ts";
import { imageEnv } from "../support/image-env.ts";
import { seedBench, startSetting } from "./marketplace/setting.ts";

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
    let over = false;
    const ended = during.finally(() => {
      over = true;
    });
    const { tookMs, failed } = await bystand(target, () => over, "200,503");
    await ended;
    const at = (share: number) => (tookMs[Math.floor((tookMs.length - 1) * share)] ?? 0).toFixed(0);
    process.stdout.write(`${name.padEnd(50)} p50 ${at(0.5)} ms  p99 ${at(0.99)} ms  failed ${failed}\n`);
  };
  process.stdout.write("\nA bystander while a marketplace is attacked\n");
  for (let round = 0; round < 2; round += 1) {
    await report("nothing", new Promise((resolve) => setTimeout(resolve, 3_000)));
  }
  for (const name of Object.keys(attacks)) await report(name, attack(name, target));
  await setting.stop();
}
