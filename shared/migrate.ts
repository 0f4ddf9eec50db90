import { setTimeout as pause } from "node:timers/promises";
import type { Knex } from "knex";
import pg from "pg";
import { ConfigError } from "./env.ts";

/**
 * One step of a schema, which runs once, in the order of the list. The version before it is at work meanwhile and afterwards,
 * so a step takes nothing away that that version uses, and holds a lock only for as long as it takes to change the catalog.
 */
export type Migration = InTransaction | Online;

interface InTransaction {
  readonly name: string;
  /** Run in one transaction. */
  readonly sql: string;
}

interface Online {
  readonly name: string;
  /**
   * Each run in no transaction: indexes that are made while their table is written (`create index concurrently`). They may have
   * been interrupted before, so the first drops what was half done (`drop index concurrently if exists`).
   */
  readonly online: readonly string[];
  /**
   * Takes away what the version before uses: left out of a `migrate` that runs a step before it, and run by the next, by which time
   * the copies of that version are gone. No service waits for it.
   */
  readonly late?: true;
}

/** Brings a database to the newest schema. Another copy that wants to meanwhile waits, and finds it done. */
export async function migrate(url: string, migrations: readonly Migration[]): Promise<string[]> {
  if ((await missingMigrations(url, migrations)).length === 0) return [];
  // Most starts have nothing to migrate.
  const { default: knex } = await import("knex");
  const guard = await clientOf(url);
  const db = knex({ client: "pg", connection: url, pool: { min: 0, max: 2 } });
  try {
    // Held by a transaction, which a pooler leaves on its connection, and which has nothing to do until the end.
    await guard.query("begin");
    await guard.query("set local idle_in_transaction_session_timeout = 0");
    await guard.query("set local lock_timeout = 0");
    await guard.query("select pg_advisory_xact_lock(hashtext('schema migration'))");
    const missing = await missingMigrations(url, migrations);
    return missing.length === migrations.length
      ? await runTogether(db, migrations)
      : await runEach(db, withoutTooEarly(migrations, missing), missing);
  } finally {
    await db.destroy();
    await guard.end();
  }
}

/** The migrations that a database has not run. Those that another version ran and this one does not know are ignored. */
export async function missingMigrations(url: string, migrations: readonly Migration[]): Promise<string[]> {
  const client = await clientOf(url);
  try {
    const names = migrations.map(({ name }) => name);
    const { rows } = await client.query("select to_regclass('knex_migrations') is not null as begun");
    if (!rows[0].begun) return names;
    const { rows: run } = await client.query<{ name: string }>("select name from knex_migrations");
    const known = new Set(run.map(({ name }) => name));
    return names.filter((name) => !known.has(name));
  } finally {
    await client.end();
  }
}

/** Migrates where it is told to, and otherwise throws, saying what to do, unless it has been done. */
export async function prepareSchema(service: "facilitator" | "marketplace", schema: Schema): Promise<void> {
  const { url, migrations, migrates } = schema;
  if (migrates) return void (await migrate(url, migrations));
  const needed = migrations.filter((migration) => !isLate(migration));
  const missing = await missingMigrations(url, needed);
  if (missing.length === 0) return;
  throw new ConfigError(service, [
    `its database has not run ${missing.length} of its migrations, ${missing[0]} first: run \`npm run migrate\` before it ` +
      `starts (node dist/infra/deploy/migrate.js), or set ${service.toUpperCase()}_MIGRATE=on where one copy runs alone`,
  ]);
}

interface Schema {
  readonly url: string;
  readonly migrations: readonly Migration[];
  readonly migrates: boolean;
}

/** On a database that is empty, whose locks keep no query waiting. */
async function runTogether(db: Knex, migrations: readonly Migration[]): Promise<string[]> {
  const together = migrations.map((migration) => ({ name: migration.name, sql: sqlOf(migration) }));
  const [, applied] = (await db.migrate.latest(configOf(together))) as [number, string[]];
  return applied;
}

function isLate(migration: Migration): boolean {
  return "late" in migration && migration.late === true;
}

/** Without the late steps whose version comes only now. */
function withoutTooEarly(migrations: readonly Migration[], missing: readonly string[]): readonly Migration[] {
  const firstNew = migrations.findIndex((one) => !isLate(one) && missing.includes(one.name));
  return migrations.filter((one, at) => !isLate(one) || firstNew === -1 || at < firstNew);
}

/** Each step commits before the next begins: what one locks is free again. */
async function runEach(db: Knex, migrations: readonly Migration[], missing: readonly string[]): Promise<string[]> {
  const names = migrations.map(({ name }) => name).filter((name) => missing.includes(name));
  for (const _ of names) await untilUnblocked(() => db.migrate.up(configOf(migrations)), db, migrations);
  return names;
}

/**
 * A statement that waits for a lock makes every statement after it wait as well. So a step waits a moment only, gives up, and is begun
 * again, until what it waited for has ended.
 */
async function untilUnblocked(run: () => Promise<unknown>, db: Knex, migrations: readonly Migration[]): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      // The lock around all of this dies with its holder; knex's own row would outlive a migration that was killed.
      await db.migrate.forceFreeMigrationsLock(configOf(migrations));
      await run();
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== lockNotAvailable || attempt === attemptsMax) throw error;
      await pause(attempt * 200);
    }
  }
}

const lockNotAvailable = "55P03";
const lockTimeoutMs = 2_000;
const attemptsMax = 30;

function configOf(migrations: readonly Migration[]): Knex.MigratorConfig {
  return { migrationSource: asSource(migrations), disableMigrationsListValidation: true };
}

function asSource(migrations: readonly Migration[]): Knex.MigrationSource<Migration> {
  return {
    getMigrations: async () => [...migrations],
    getMigrationName: (migration) => migration.name,
    getMigration: async (migration) => ({
      config: { transaction: !("online" in migration) },
      up: (db) => ("online" in migration ? runOnline(db, migration) : runInTransaction(db, migration)),
      down: () => Promise.reject(new Error("schemas only move forward")),
    }),
  };
}

async function runInTransaction(db: Knex, { sql }: InTransaction): Promise<void> {
  await db.raw(`set local lock_timeout = ${lockTimeoutMs}`);
  await db.raw(sql);
}

async function runOnline(db: Knex, { online }: Online): Promise<void> {
  for (const statement of online) await db.raw(statement);
}

/** All of it in a transaction, in which nothing can be done concurrently. */
function sqlOf(migration: Migration): string {
  return "online" in migration ? migration.online.join(";\n").replaceAll(/\bconcurrently\b/gi, "") : migration.sql;
}

async function clientOf(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  // The next statement fails when the connection has ended.
  client.on("error", () => {});
  await client.connect();
  return client;
}
