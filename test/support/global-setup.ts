import { execFile } from "node:child_process";
import { randomInt } from "node:crypto";
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

import { startPooler } from "./pooler.ts";

/**
 * One throw-away PostgreSQL for the whole run, with a migrated template database per service, and what `npm run build`
 * makes, which is what runs wherever a test starts a process of its own.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const built = build();
  const seed = process.env.SEED ?? String(randomInt(2 ** 32));
  project.provide("seed", seed);
  console.log(`What is tested in part is chosen by SEED=${seed}; FUZZ=all tests the whole.`);
  const directory = await mkdtemp(join(tmpdir(), "postgres-"));
  const postgres = await startPostgres({ directory: join(directory, "cluster"), durable: false, connectionsMax: 500 });
  await migrate(await postgres.createDatabase("facilitator_template"), facilitatorMigrations);
  await migrate(await postgres.createDatabase("marketplace_template"), marketplaceMigrations);
  const pooler = await poolerBefore(postgres.port);
  project.provide("postgresPort", postgres.port);
  project.provide("poolerPort", pooler?.port ?? postgres.port);
  await built;
  return async () => {
    await pooler?.stop();
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  };
}

/** In `npm run drill pooler` services and tests reach their databases by way of a pooler, started by this command. */
async function poolerBefore(postgresPort: number) {
  const command = process.env.TEST_POOLER;
  return command === undefined ? undefined : startPooler(JSON.parse(command), postgresPort);
}

/** Two seconds where nothing changed. A mistake of types is told, and `npm run check` fails for it; the tests run. */
async function build(): Promise<void> {
  const run = (...args: string[]) => promisify(execFile)(process.execPath, args, { cwd: projectDirectory });
  await run("node_modules/typescript/bin/tsc", "-b").catch(({ stdout }) => console.warn(stdout));
  const client = promisify(execFile)("npm", ["run", "build", "-w", "client"], { cwd: projectDirectory }).catch(
    ({ stdout }) => console.warn(stdout),
  );
  const pages = ["marketplace", "facilitator"].map((service) => run("--import", "tsx", `${service}/web/build.ts`));
  await Promise.all([client, ...pages]);
}

declare module "vitest" {
  export interface ProvidedContext {
    postgresPort: number;
    /** Where databases are used; the same where there is no pooler. */
    poolerPort: number;
    /** Chooses what is tested where not the whole is (sample.ts). */
    seed: string;
  }
}
