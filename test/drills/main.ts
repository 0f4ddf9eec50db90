import { CannotDrillError } from "./debian.ts";
import { UnknownChoiceError } from "./report.ts";

const drills: Readonly<Record<string, () => Promise<{ drill(): Promise<boolean> }>>> = {
  deploy: () => import("./deploy.ts"),
  failover: () => import("./failover.ts"),
  faults: () => import("./faults.ts"),
  image: () => import("./image.ts"),
  pooler: () => import("./pooler.ts"),
  restore: () => import("./restore.ts"),
  rolling: () => import("./rolling.ts"),
  soak: () => import("./soak.ts"),
};

const name = process.argv[2] ?? "";
const load = Object.hasOwn(drills, name) ? drills[name] : undefined;
if (!load) {
  process.stderr.write(`npm run drill ${Object.keys(drills).join("|")}\n`);
  process.exit(2);
}
try {
  const { drill } = await load();
  const held = await drill();
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
