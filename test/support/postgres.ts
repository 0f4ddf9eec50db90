import { randomBytes } from "node:crypto";
import pg from "pg";
import { inject } from "vitest";

/** The URL of a fresh database with the service's schema, of this test file alone. */
export async function freshDatabase(service: "facilitator" | "marketplace"): Promise<string> {
  const name = `${service}_${randomBytes(6).toString("hex")}`;
  const url = (database: string) => `postgres://postgres@127.0.0.1:${inject("postgresPort")}/${database}`;
  const client = new pg.Client({ connectionString: url("postgres") });
  await client.connect();
  try {
    await client.query(`create database ${name} template ${service}_template strategy file_copy`);
  } finally {
    await client.end();
  }
  return url(name);
}
