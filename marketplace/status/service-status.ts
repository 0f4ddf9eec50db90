import type { JobRecord, JobState } from "../../shared/job-record.ts";
import type { Database } from "../../shared/postgres.ts";
import { cachedHealth } from "../health.ts";
import type { FacilitatorClient } from "../payments/facilitator/client.ts";
import type { FacilitatorHealth } from "../payments/facilitator/health.ts";

/**
 * How both services are, as this one sees them. However often it is asked, the database and the facilitator are asked once in some
 * seconds, and what does not answer in time is said not to: the answer never takes long.
 */
export class ServiceStatus {
  readonly #parts: Parts;
  readonly #databaseHealth: () => Promise<{ readonly database: boolean }>;
  #read: { readonly at: number; readonly status: Promise<Status> } | undefined;
  #seen: Status | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#databaseHealth = cachedHealth(parts.db);
  }

  read(): Promise<Status> {
    if (!this.#read || Date.now() - this.#read.at > freshMs) this.#read = { at: Date.now(), status: this.#ask() };
    return this.#read.status;
  }

  /**
   * The last status seen, without waiting for the database or the facilitator; undefined before the first. An old one is read
   * anew meanwhile.
   */
  seen(): Status | undefined {
    void this.read().catch(() => {});
    return this.#seen;
  }

  async #ask(): Promise<Status> {
    const { facilitator, jobRecord } = this.#parts;
    const [{ database }, health] = await Promise.all([this.#databaseHealth(), facilitator.health()]);
    const jobs = jobRecord.read();
    const networks = networksOf(health);
    const settles = networks.length > 0 && networks.every(({ settling }) => settling);
    const isWell = health?.status === "ok" && settles && jobs.every(({ state }) => state === "ok");
    this.#seen = {
      status: !database ? "down" : isWell ? "ok" : "degraded",
      database,
      facilitator: health !== undefined,
      networks,
      jobs,
      time: new Date(),
    };
    return this.#seen;
  }
}

interface Parts {
  readonly db: Database;
  readonly facilitator: Pick<FacilitatorClient, "health">;
  readonly jobRecord: JobRecord;
}

export interface Status {
  /** `down`: the database does not answer, without which nothing works. `degraded`: something less than all of it works. */
  readonly status: "ok" | "degraded" | "down";
  readonly database: boolean;
  /** Whether the facilitator answered. */
  readonly facilitator: boolean;
  readonly networks: readonly NetworkStatus[];
  readonly jobs: readonly JobState[];
  readonly time: Date;
}

export interface NetworkStatus {
  readonly network: string;
  readonly settling: boolean;
  readonly feePayers: readonly FeePayerStatus[];
}

export interface FeePayerStatus {
  readonly address: string;
  readonly state: "ok" | "low" | "empty" | "not_read";
  /** In whole units of the network's own token; null while the chain cannot be read. */
  readonly balance: number | null;
  readonly unit: string;
}

/** By network, in the facilitator's order. */
function networksOf(health: FacilitatorHealth | undefined): NetworkStatus[] {
  const networks = new Map<string, { network: string; settling: boolean; feePayers: FeePayerStatus[] }>();
  for (const { network, settling, feePayer, balance, unit, lowBalance, empty } of health?.chains ?? []) {
    const known = networks.get(network) ?? { network, settling, feePayers: [] };
    const state = balance === null ? "not_read" : empty ? "empty" : lowBalance ? "low" : "ok";
    known.feePayers.push({ address: feePayer, state, balance, unit });
    networks.set(network, known);
  }
  return [...networks.values()];
}

const freshMs = 5_000;
