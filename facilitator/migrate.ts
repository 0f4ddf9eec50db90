import { EnvReader } from "../shared/env.ts";
import { migrate } from "../shared/migrate.ts";
import { migrations } from "./migrations/all.ts";

const env = new EnvReader(process.env);
const url = env.url("FACILITATOR_DATABASE_URL", undefined, ["postgres:", "postgresql:"]);
env.finish("migration of the facilitator");
const applied = await migrate(url, migrations);
process.stdout.write(
  `facilitator: ${applied.length === 0 ? "the schema is up to date" : `applied ${applied.join(", ")}`}\n`,
);
