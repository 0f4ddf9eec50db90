import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { migrations as facilitatorMigrations } from "../../facilitator/migrations/all.ts";
import { startPostgres } from "../../infra/dev/postgres.ts";
import { migrations as marketplaceMigrations } from "../../marketplace/migrations/all.ts";
import { migrate } from "../../shared/postgres.ts";

/** One throw-away PostgreSQL for the whole run, with a migrated template database per service. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), "postgres-"));
  const postgres = await startPostgres({ directory: join(directory, "cluster"), durable: false, connectionsMax: 500 });
  await migrate(await postgres.createDatabase("facilitator_template"), facilitatorMigrations);
  await migrate(await postgres.createDatabase("marketplace_template"), marketplaceMigrations);
  project.provide("postgresPort", postgres.port);
  return async () => {
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  };
}

declare module "vitest" {
  export interface ProvidedContext {
    postgresPort: number;
  }
}
