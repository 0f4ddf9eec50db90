import { EnvReader } from "../shared/env.ts";
import { migrate } from "../shared/migrate.ts";
import { migrations } from "./migrations/all.ts";

const env = new EnvReader(process.env);
const url = env.url("MARKETPLACE_DATABASE_URL", undefined, ["postgres:", "postgresql:"]);
env.finish("migration of the marketplace");
const applied = await migrate(url, migrations);
process.stdout.write(
  `marketplace: ${applied.length === 0 ? "the schema is up to date" : `applied ${applied.join(", ")}`}\n`,
);
