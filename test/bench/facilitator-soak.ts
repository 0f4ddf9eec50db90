import { randomInt } from "node:crypto";
import { seedChance } from "./soak/chance.ts";
import { chaos } from "./soak/chaos.ts";
import { soakMemory } from "./soak/memory.ts";

/**
 * The facilitator over a long time: does it hold on to memory, and does every payment end as its chain says when networks
 * misbehave and daemons are killed? `--verifications=`, `--settlements=`, `--minutes=`; 0 leaves a part out. `--seed=`: the faults of a
 * run that told its seed.
 */
export async function benchFacilitatorSoak(): Promise<void> {
  const [verifications, settlements, minutes] = [
    numberOf("verifications", 100_000),
    numberOf("settlements", 20_000),
    numberOf("minutes", 10),
  ];
  const seed = numberOf("seed", randomInt(2 ** 32));
  seedChance(seed);
  process.stdout.write(`--seed=${seed}\n`);
  if (verifications + settlements > 0) await soakMemory(verifications, settlements);
  if (minutes > 0) await chaos(minutes);
}

function numberOf(flag: string, fallback: number): number {
  const given = process.argv.find((word) => word.startsWith(`--${flag}=`))?.slice(flag.length + 3);
  if (given === undefined) return fallback;
  const number = Number(given);
  if (!Number.isFinite(number) || number < 0) throw new Error(`--${flag} must be a number, 0 or more`);
  return number;
}
