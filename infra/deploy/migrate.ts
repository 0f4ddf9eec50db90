import { spawn } from "node:child_process";
import { once } from "node:events";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";

/** Brings the database of each service that has one configured to its newest schema. Works from source and from dist. */
const databases = { facilitator: "FACILITATOR_DATABASE_URL", marketplace: "MARKETPLACE_DATABASE_URL" };

const configured = Object.entries(databases).filter(([, variable]) => process.env[variable]);
if (configured.length === 0) {
  process.stderr.write(`nothing to migrate: set ${Object.values(databases).join(" or ")}\n`);
  process.exitCode = 1;
}
for (const [service] of configured) {
  const program = fileURLToPath(new URL(`../../${service}/migrate${extname(import.meta.url)}`, import.meta.url));
  const [code] = await once(spawn(process.execPath, [...process.execArgv, program], { stdio: "inherit" }), "exit");
  if (code !== 0) process.exit(1);
}
