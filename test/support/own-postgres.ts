import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "../../infra/dev/postgres.ts";
import { elapse } from "./elapse.ts";
import { until } from "./marketplace.ts";

/** A PostgreSQL of a test's own, which can stop or crash, and comes back at the same port with what it had written. */
export async function startOwnPostgres({ durable }: { durable: boolean }): Promise<OwnPostgres> {
  const directory = await mkdtemp(join(tmpdir(), "own-postgres-"));
  const options = { directory: join(directory, "cluster"), durable };
  let running = await startPostgres(options);
  const startAgain = async () => {
    running = await startPostgres({ ...options, port: running.port });
  };
  return {
    createDatabase: (name) => running.createDatabase(name),
    urlOf: (database) => running.urlOf(database),
    restart: async (awayMs = 0) => {
      await running.stop();
      await elapse(awayMs, "how long it is away");
      await startAgain();
    },
    crash: async () => {
      const { pid } = running;
      process.kill(pid, "SIGQUIT");
      await until(() => !isAlive(pid));
      await startAgain();
    },
    stop: async () => {
      await running.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export interface OwnPostgres {
  /** Its URL. */
  createDatabase(name: string): Promise<string>;
  urlOf(database: string): string;
  /** Stops it in order, and starts it `awayMs` later. */
  restart(awayMs?: number): Promise<void>;
  /** Ends it at once: what it had not written to its log is gone. */
  crash(): Promise<void>;
  stop(): Promise<void>;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
