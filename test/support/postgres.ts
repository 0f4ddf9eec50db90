import { randomBytes } from "node:crypto";
import pg from "pg";
import { inject } from "vitest";
import { type Migration, migrate } from "../../shared/migrate.ts";

const urlOf = (database: string, port = inject("postgresPort")) => `postgres://postgres@127.0.0.1:${port}/${database}`;

/** The URL of a fresh database with the service's schema, of this test file alone. */
export async function freshDatabase(service: "facilitator" | "marketplace"): Promise<string> {
  const name = `${service}_${randomBytes(6).toString("hex")}`;
  const client = new pg.Client({ connectionString: urlOf("postgres") });
  await client.connect();
  try {
    await client.query(`create database ${name} template ${service}_template strategy file_copy`);
  } finally {
    await client.end();
  }
  return urlOf(name, inject("poolerPort"));
}

/** The URL of a fresh database on which these migrations have run. */
export async function databaseAt(migrations: readonly Migration[]): Promise<string> {
  const name = `at_${randomBytes(6).toString("hex")}`;
  const client = new pg.Client({ connectionString: urlOf("postgres") });
  await client.connect();
  try {
    await client.query(`create database ${name}`);
  } finally {
    await client.end();
  }
  await migrate(urlOf(name), migrations);
  return urlOf(name);
}
