import { randomInt } from "node:crypto";
import { seedChance } from "../bench/soak/chance.ts";
import { CannotDrillError } from "./debian.ts";
import { numberOf, UnknownChoiceError, unknownOptions } from "./report.ts";

interface Drill {
  readonly load: () => Promise<{ drill(seed: number): Promise<boolean> }>;
  /** What the command line may say, as the help shows it. With a seed, the seed decides what is left to chance. */
  readonly options: readonly string[];
}

const seeded = "seed=N";
const drills: Readonly<Record<string, Drill>> = {
  deploy: { load: () => import("./deploy.ts"), options: [seeded] },
  failover: { load: () => import("./failover.ts"), options: ["mode=synchronous|asynchronous", seeded] },
  faults: { load: () => import("./faults.ts"), options: ["fault=clock|disk", seeded] },
  image: { load: () => import("./image.ts"), options: [] },
  pooler: { load: () => import("./pooler.ts"), options: ["suite=stable|trixie", "tests=PATH,…", seeded] },
  restore: { load: () => import("./restore.ts"), options: [seeded] },
  rolling: { load: () => import("./rolling.ts"), options: ["from=COMMIT", "restarts=N", "calls=N", seeded] },
  soak: { load: () => import("./soak.ts"), options: ["minutes=N", seeded] },
};

const help = `${Object.entries(drills)
  .map(([name, { options }]) => `npm run drill ${[name, ...options.map((option) => `[--${option}]`)].join(" ")}`)
  .join("\n")}
--seed=N: when, what and in which order, as another run had it that told its seed; clocks and processes still differ.
`;

const name = process.argv[2] ?? "";
const chosen = Object.hasOwn(drills, name) ? drills[name] : undefined;
if (!chosen) {
  process.stderr.write(help);
  process.exit(2);
}
try {
  const unknown = unknownOptions(chosen.options);
  if (unknown.length > 0) throw new UnknownChoiceError(`${name} knows nothing of ${unknown.join(", ")}\n${help}`);
  const seed = numberOf("seed", randomInt(2 ** 32));
  seedChance(seed);
  if (chosen.options.includes(seeded)) process.stdout.write(`${name}: --seed=${seed}\n`);
  const { drill } = await chosen.load();
  const held = await drill(seed);
  process.stdout.write(`${name}: ${held ? "as promised" : "NOT as promised"}\n`);
  process.exit(held ? 0 : 1);
} catch (error) {
  if (error instanceof UnknownChoiceError) {
    process.stderr.write(`${error.message}\n`);
    process.exit(2);
  }
  if (!(error instanceof CannotDrillError)) throw error;
  process.stdout.write(`${name}: skipped: ${error.message}\n`);
  process.exit(0);
}
