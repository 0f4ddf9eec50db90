import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import { type EnvReader, Secret } from "./env.ts";
import { ApiError } from "./errors.ts";
import type { Log } from "./log.ts";
import { type Family, Gauge } from "./metrics.ts";
import { connect, type Database, type PoolOptions } from "./postgres.ts";
import type { Disposer } from "./process.ts";

/** How old what is read may be. */
const behindMaxMs = 2_000;
export const lookEveryMs = 500;
const answerWithinMs = 1_000;

/**
 * Reads what may be a moment old (listings, public pages, the public record) from a replica of the database, and from the primary
 * while the replica is away, too far behind, or another database's. Nothing is read so that decides about money, keys or limits,
 * or that shows an account what it has just done.
 */
export class Reads {
  readonly #primary: Database;
  readonly #replica: Database | undefined;
  readonly #log: Log;
  /** How far the primary's log had got, the newest last. */
  #written: ReadonlyArray<{ readonly at: number; readonly position: bigint }> = [];
  #database: string | undefined;
  /** Everything committed until then is known to be in the replica. */
  #freshAt = 0;
  #wasFresh: boolean | undefined;

  constructor(primary: Database, replica: Database | undefined, log: Log) {
    this.#primary = primary;
    this.#replica = replica;
    this.#log = log;
  }

  /** Does work that only reads. What the replica fails at or does not know is asked of the primary. */
  async run<T>(work: (db: Database) => Promise<T>): Promise<T> {
    if (!this.#replica || !this.#isFresh()) return work(this.#primary);
    try {
      return await work(this.#replica);
    } catch (error) {
      if (error instanceof ApiError && error.code !== "not_found" && error.code !== "unavailable") throw error;
      if (!(error instanceof ApiError && error.code === "not_found")) this.#freshAt = 0;
      return work(this.#primary);
    }
  }

  /**
   * Compares how far both are, by this process' clock alone, so it holds whatever the machines' clocks say. While the primary is
   * away, the replica that has all that is known of it is read: what is a moment old is better than nothing.
   */
  async look(): Promise<void> {
    if (!this.#replica) return;
    const at = Date.now();
    const [primary, replica] = await Promise.allSettled([stateOf(this.#primary), stateOf(this.#replica)]);
    try {
      if (replica.status === "rejected") throw replica.reason;
      if (primary.status === "fulfilled") this.#compare(at, primary.value, replica.value);
      else this.#goOnAlone(at, replica.value, primary.reason);
      this.#say(undefined);
    } catch (error) {
      this.#freshAt = 0;
      this.#say(error);
    }
  }

  #compare(at: number, primary: State, replica: State): void {
    this.#database = primary.database;
    this.#written = [...this.#written.filter((one) => at - one.at <= behindMaxMs), { at, position: primary.position }];
    if (replica.database !== primary.database) throw new Error("the replica is of another database");
    if (!replica.isStandby && replica.startedAt !== primary.startedAt) throw new Error("the replica is none any more");
    const replayed = this.#written.findLast(({ position }) => position <= replica.position);
    if (replayed) this.#freshAt = Math.max(this.#freshAt, replayed.at);
  }

  #goOnAlone(at: number, { database, isStandby, position }: State, cause: unknown): void {
    const last = this.#written.at(-1);
    if (!last || last.position > position || database !== this.#database || !isStandby) throw cause;
    this.#freshAt = at;
  }

  get now(): ReadsNow {
    const behind = this.#replica && this.#freshAt > 0 ? Date.now() - this.#freshAt : null;
    return { from: this.#isFresh() ? "replica" : "primary", behind };
  }

  get families(): readonly Family[] {
    if (!this.#replica) return [];
    const { from, behind } = this.now;
    const help = "Seconds that the replica may be behind the primary.";
    return [
      new Gauge("database_replica_used", "1 while the replica is read from.", [[{}, from === "replica" ? 1 : 0]]),
      new Gauge("database_replica_behind_seconds", help, behind === null ? [] : [[{}, behind / 1_000]]),
    ];
  }

  #isFresh(): boolean {
    return Date.now() - this.#freshAt <= behindMaxMs;
  }

  #say(error: unknown): void {
    const isFresh = this.#isFresh();
    if (isFresh === this.#wasFresh) return;
    this.#wasFresh = isFresh;
    if (isFresh) this.#log.info("the replica is read from");
    else this.#log.warn({ err: error }, "the replica is away or too far behind: the primary is read from");
  }
}

interface State {
  readonly database: string;
  readonly startedAt: string;
  readonly isStandby: boolean;
  readonly position: bigint;
}

async function stateOf(db: Database): Promise<State> {
  const asked = db.query<State>({
    name: "position in the log",
    text: `
      select (select system_identifier from pg_control_system()) || ' ' || current_database() as database,
             pg_postmaster_start_time()::text as "startedAt", pg_is_in_recovery() as "isStandby",
             pg_wal_lsn_diff(case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end, '0/0')
               as position`,
  });
  const late = new AbortController();
  const silence = pause(answerWithinMs, undefined, { signal: late.signal }).then(() => {
    throw new Error(`no answer within ${answerWithinMs} ms`);
  });
  try {
    const { rows } = await Promise.race([asked, silence]);
    return rows[0]!;
  } finally {
    late.abort();
    silence.catch(() => {});
    asked.catch(() => {});
  }
}

/** The URL of a replica, which a password may stand in. */
export function readReplicaUrl(env: EnvReader, name: string): Secret | undefined {
  const url = env.optional(name);
  if (url === undefined) return undefined;
  if (!/^postgres(ql)?:\/\//.test(url)) env.problem(`${name} is not a postgres:// URL`, undefined);
  return new Secret(url);
}

/** With a pool of its own for the replica, where there is one. */
export function openReads(
  primary: Database,
  { url, log, ...pool }: PoolOptions & { readonly url: Secret | undefined; readonly log: Log },
  disposer: Disposer,
): Reads {
  if (url === undefined) return new Reads(primary, undefined, log);
  const replica = connect(url.reveal(), { ...pool, givesUpAfterMs: behindMaxMs });
  disposer.add(() => replica.end());
  return new Reads(primary, replica, log);
}

/** As `/health` tells it. */
export interface ReadsNow {
  readonly from: "primary" | "replica";
  readonly behind: number | null;
}

export const readsShape = z
  .object({
    from: z.enum(["primary", "replica"]),
    behind: z
      .int()
      .nullable()
      .describe("Milliseconds that the replica is behind at most; null without one, and while it does not answer."),
  })
  .describe("Where listings, public pages and the public record are read.")
  .meta({ id: "Reads" });
