import { z } from "zod";
import { covering } from "./covering.ts";
import type { EnvReader } from "./env.ts";
import type { Log } from "./log.ts";
import type { Database } from "./postgres.ts";

const declarable = ["single", "synchronous", "asynchronous"] as const;

/** What the operator says becomes of commits when the database's machine is lost. */
export type DeclaredDurability = (typeof declarable)[number];

export function readDurability(env: EnvReader): DeclaredDurability {
  return env.choice("DURABILITY", declarable, "single");
}

const seenDurabilities = ["no_standby", "synchronous_standby", "asynchronous_standby", "not_on_disk"] as const;

/** What the database shows of it. A service that replicates its storage by itself shows none. */
type SeenDurability = (typeof seenDurabilities)[number];

export interface Durability {
  readonly declared: DeclaredDurability;
  /** Null until the database has been asked. */
  readonly seen: SeenDurability | null;
  /** In words. */
  readonly risk: string;
}

export const durabilityShape = covering<Durability>()(
  z
    .object({
      declared: z.enum(declarable),
      seen: z.enum(seenDurabilities).nullable().describe("What the database shows of it; null until it was asked."),
      risk: z.string(),
    })
    .describe("What becomes of commits when the database's machine is lost.")
    .meta({ id: "Durability" }),
);

/** What a commit that was answered can still suffer: as declared, and as the database shows, which is asked from time to time. */
export class DurabilityWatch {
  readonly #declared: DeclaredDurability;
  readonly #db: Database;
  readonly #log: Log;
  #seen: SeenDurability | null = null;

  constructor(declared: DeclaredDurability, { db, log }: { readonly db: Database; readonly log: Log }) {
    this.#declared = declared;
    this.#db = db;
    this.#log = log;
  }

  get now(): Durability {
    return { declared: this.#declared, seen: this.#seen, risk: riskOf(this.#declared, this.#seen) };
  }

  /** Whether answered commits survive the loss of the database's machine, as far as can be seen. */
  get isSafe(): boolean {
    return this.#declared === "synchronous" && this.#seen === "synchronous_standby";
  }

  /** Asks the database, and says so in the log when what it shows has changed. */
  async look(): Promise<void> {
    const { rows } = await this.#db.query(`
      select current_setting('fsync') as fsync, current_setting('synchronous_commit') as waits,
             current_setting('synchronous_standby_names') as names, (select count(*)::int from pg_stat_replication) as standbys`);
    const before = this.#seen;
    this.#seen = seenIn(rows[0] as Settings);
    if (this.#seen === before) return;
    this.#log[this.isSafe ? "info" : "warn"]({ durability: this.now }, "what a failover of the database can lose");
  }
}

interface Settings {
  readonly fsync: string;
  readonly waits: string;
  readonly names: string;
  readonly standbys: number;
}

function seenIn({ fsync, waits, names, standbys }: Settings): SeenDurability {
  if (fsync === "off" || waits === "off") return "not_on_disk";
  if (names.trim() !== "" && waits !== "local") return "synchronous_standby";
  return standbys > 0 ? "asynchronous_standby" : "no_standby";
}

function riskOf(declared: DeclaredDurability, seen: SeenDurability | null): string {
  if (seen === "not_on_disk")
    return `The database answers before it has written: a crash loses the last moments. ${found}`;
  if (declared === "single") {
    const standby =
      seen === "no_standby" || seen === null ? "" : " It has a standby: say by DURABILITY what that promises.";
    return `One database: what is newer than its backup is lost with its disk. ${found}${standby}`;
  }
  if (declared === "asynchronous") return `A failover loses the last moments. ${found}`;
  if (seen === "synchronous_standby") return "A failover loses nothing that was answered.";
  if (seen === null) return `The database has not been asked yet: a failover may lose the last moments. ${found}`;
  return `It names no synchronous standby: unless its storage is replicated by itself, a failover loses the last moments. ${found}`;
}

const found = "Payments of that time are found again on their chains; runs and credits of that time are gone together.";

export const durabilityExample: Durability = {
  declared: "synchronous",
  seen: "synchronous_standby",
  risk: riskOf("synchronous", "synchronous_standby"),
};
