import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import { migrations as facilitatorMigrations } from "../../facilitator/migrations/all.ts";
import { startPostgres } from "../../infra/dev/postgres.ts";
import { projectDirectory } from "../../infra/dev/settings.ts";
import { migrations as marketplaceMigrations } from "../../marketplace/migrations/all.ts";
import { migrate } from "../../shared/migrate.ts";

/**
 * One throw-away PostgreSQL for the whole run, with a migrated template database per service, and what `npm run build`
 * makes, which is what runs wherever a test starts a process of its own.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const built = build();
  const directory = await mkdtemp(join(tmpdir(), "postgres-"));
  const postgres = await startPostgres({ directory: join(directory, "cluster"), durable: false, connectionsMax: 500 });
  await migrate(await postgres.createDatabase("facilitator_template"), facilitatorMigrations);
  await migrate(await postgres.createDatabase("marketplace_template"), marketplaceMigrations);
  project.provide("postgresPort", postgres.port);
  await built;
  return async () => {
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  };
}

/** Two seconds where nothing changed. A mistake of types is told, and `npm run check` fails for it; the tests run. */
async function build(): Promise<void> {
  const run = (...args: string[]) => promisify(execFile)(process.execPath, args, { cwd: projectDirectory });
  await run("node_modules/typescript/bin/tsc", "-b").catch(({ stdout }) => console.warn(stdout));
  for (const service of ["marketplace", "facilitator"]) await run("--import", "tsx", `${service}/web/build.ts`);
}

declare module "vitest" {
  export interface ProvidedContext {
    postgresPort: number;
  }
}
