import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import { type EnvReader, Secret } from "./env.ts";
import { ApiError } from "./errors.ts";
import type { Log } from "./log.ts";
import { type Family, Gauge } from "./metrics.ts";
import { connect, type Database, isDatabaseAway, type PoolOptions } from "./postgres.ts";
import type { Disposer } from "./process.ts";
import { checkedReplica, ReadTimeoutError, type State, stateOf } from "./replica.ts";

/** How old what is read may be. */
const behindMaxMs = 2_000;
export const lookEveryMs = 500;
const answerWithinMs = 1_000;
/** The server ends a statement before its client gives it up. */
const statementMaxMs = 1_800;
/** How long a replica is read that cannot be compared, because the primary does not answer. */
const aloneMaxMs = 5 * 60_000;

/**
 * Reads data that may be a moment old (listings, public pages, the public record) from a replica of the database, and from the
 * primary while the replica is away, too far behind, or another database's. Never used for a read that decides about money, keys
 * or limits, or that shows an account what it has just done.
 */
export class Reads {
  readonly #primary: Database;
  /** The primary by other connections, which reads that are slow do not take. */
  readonly #watched: Database;
  readonly #replica: Database | undefined;
  readonly #checked: Database | undefined;
  readonly #log: Log;
  /** What the primary was like, the newest last. */
  #written: ReadonlyArray<State & { readonly at: number }> = [];
  /** Everything committed until then is known to be in the replica; of one that is read alone, when it was last looked at. */
  #freshAt = 0;
  #isAlone = false;
  #wasFresh: boolean | undefined;

  constructor(primary: Database, replica: Database | undefined, log: Log, watched = primary) {
    this.#primary = primary;
    this.#watched = watched;
    this.#replica = replica;
    this.#checked = replica && checkedReplica(replica, statementMaxMs, (state) => this.#check(state));
    this.#log = log;
  }

  /** The primary, for reads that must have all that was committed until now: by the connections that reads may take. */
  get primary(): Database {
    return this.#primary;
  }

  /**
   * Does work that only reads. The primary is asked when the replica fails or does not find something; not when the replica took too
   * long, since that would take the primary's time, too: 503 then.
   */
  async run<T>(work: (db: Database) => Promise<T>): Promise<T> {
    if (!this.#checked || !this.#isFresh()) return work(this.#primary);
    try {
      return await work(this.#checked);
    } catch (error) {
      const isUnknown = error instanceof ApiError && error.code === "not_found";
      const cause = error instanceof ApiError ? error.cause : error;
      if (cause instanceof ReadTimeoutError) throw tooLong(cause);
      if (error instanceof ApiError && !isUnknown && !(error.code === "unavailable" && cause)) throw error;
      if (isDatabaseAway(cause) && !isPoolFull(cause)) this.#freshAt = 0;
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
    const [primary, replica] = await Promise.allSettled([stateInTime(this.#watched), stateInTime(this.#replica)]);
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
    this.#isAlone = false;
    this.#written = [...this.#written.filter((one) => at - one.at <= behindMaxMs), { at, ...primary }];
    requireCopy(replica, primary);
    const replayed = this.#written.findLast(({ position }) => position <= replica.position);
    if (replayed) this.#freshAt = Math.max(this.#freshAt, replayed.at);
  }

  #goOnAlone(at: number, replica: State, cause: unknown): void {
    const last = this.#written.at(-1);
    if (!last || at - last.at > aloneMaxMs || last.position > replica.position || !replica.isStandby) throw cause;
    requireCopy(replica, last);
    this.#isAlone = true;
    this.#freshAt = at;
  }

  /** Checks the server that is about to be read, which need not be the one that was looked at. */
  #check(replica: State): void {
    const now = Date.now();
    const required = this.#written.find(({ at }) => now - at <= behindMaxMs) ?? this.#written.at(-1);
    if (!required || replica.position < required.position) throw new Error("this replica is too far behind");
    requireCopy(replica, required);
  }

  get now(): ReadsNow {
    const behind = this.#replica && this.#freshAt > 0 && !this.#isAlone ? Date.now() - this.#freshAt : null;
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

function requireCopy(replica: State, primary: State): void {
  if (replica.database !== primary.database) throw new Error("the replica is of another database");
  if (!replica.isStandby && replica.startedAt !== primary.startedAt) throw new Error("the replica is none any more");
}

function tooLong(cause: Error): ApiError {
  return new ApiError("unavailable", "This takes too long to read right now; try again shortly.", {
    cause,
    headers: { "retry-after": "5" },
  });
}

/** Its readers are slow, and it may keep up all the same. */
function isPoolFull(error: unknown): boolean {
  return (error as Error).message.startsWith("timeout exceeded when trying to connect");
}

async function stateInTime(db: Database): Promise<State> {
  const asked = stateOf(db);
  const late = new AbortController();
  const silence = pause(answerWithinMs, undefined, { signal: late.signal }).then(() => {
    throw new Error(`no answer within ${answerWithinMs} ms`);
  });
  try {
    return await Promise.race([asked, silence]);
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

/** With a pool of its own for the replica, where there is one. `watched`: the primary's other pool. */
export function openReads(
  primary: Database,
  watched: Database,
  { url, log, ...pool }: PoolOptions & { readonly url: Secret | undefined; readonly log: Log },
  disposer: Disposer,
): Reads {
  if (url === undefined) return new Reads(primary, undefined, log);
  const replica = connect(url.reveal(), { ...pool, givesUpAfterMs: behindMaxMs });
  disposer.add(() => replica.end());
  return new Reads(primary, replica, log, watched);
}

/** How reads stand, as `/health` shows it. */
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
      .describe(
        "Milliseconds that the replica is behind at most; null without one, and while it or the primary does not answer.",
      ),
  })
  .describe("Where listings, public pages and the public record are read.")
  .meta({ id: "Reads" });
