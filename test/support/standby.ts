import { execFile } from "node:child_process";
import { appendFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { type LocalPostgres, startPostgres } from "../../infra/dev/postgres.ts";
import { type Migration, migrate } from "../../shared/migrate.ts";

/** A PostgreSQL with these databases, and a standby that is streamed its log. */
export async function startPair(databases: Readonly<Record<string, readonly Migration[]>>): Promise<Pair> {
  const directory = await mkdtemp(join(tmpdir(), "pair-"));
  const at = (name: string) => join(directory, name);
  const start = (name: string, port?: number) =>
    startPostgres({ directory: at(name), durable: true, ...(port !== undefined && { port }) });
  const first = await start("primary");
  await tell(first, "alter system set fsync = off");
  await tell(first, "select pg_reload_conf()");
  for (const [name, migrations] of Object.entries(databases)) {
    await migrate(await first.createDatabase(name), migrations);
  }
  // What is copied must not change meanwhile.
  await first.stop();
  await promisify(execFile)("cp", ["-a", at("primary"), at("standby")]);
  const primary = await start("primary", first.port);
  await writeFile(join(at("standby"), "standby.signal"), "");
  await appendFile(
    join(at("standby"), "postgresql.auto.conf"),
    `primary_conninfo = 'host=127.0.0.1 port=${primary.port} user=postgres'\n`,
  );
  let standby = await start("standby");
  return {
    primary,
    standbyUrlOf: (database) => standby.urlOf(database),
    tellStandby: (statement) => tell(standby, statement),
    stopStandby: () => standby.stop(),
    startStandby: async () => {
      standby = await start("standby", standby.port);
    },
    stop: async () => {
      await standby.stop();
      await primary.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function tell(server: LocalPostgres, statement: string) {
  const client = new pg.Client({ connectionString: server.urlOf("postgres") });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

export interface Pair {
  readonly primary: LocalPostgres;
  standbyUrlOf(database: string): string;
  // biome-ignore lint/suspicious/noExplicitAny: rows of any statement
  tellStandby(statement: string): Promise<any[]>;
  stopStandby(): Promise<void>;
  startStandby(): Promise<void>;
  stop(): Promise<void>;
}
