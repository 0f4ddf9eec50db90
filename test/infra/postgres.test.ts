import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startPostgres } from "../../infra/dev/postgres.ts";

test("a PostgreSQL that ends by itself says so", async ({ onTestFinished }) => {
  const directory = await mkdtemp(join(tmpdir(), "postgres-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const postgres = await startPostgres({ directory, durable: false });
  process.kill(postgres.pid, "SIGINT");
  expect((await postgres.died).message).toMatch(/^PostgreSQL ended with exit code 0\n/);
});
