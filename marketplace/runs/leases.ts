import type { Queryable } from "../../shared/postgres.ts";
import type { Events } from "../events.ts";
import type { RunId } from "../ids.ts";

/**
 * The runs this copy of the service is running. As long as it lives it extends their leases; when it dies they lapse,
 * and any other copy, or this one after its restart, gives the credits back.
 */
export class Leases {
  readonly #running = new Set<RunId>();
  readonly #db: Queryable;
  readonly #leaseMs: number;
  readonly #events: Events;

  constructor(options: { db: Queryable; leaseMs: number; events: Events }) {
    this.#db = options.db;
    this.#leaseMs = options.leaseMs;
    this.#events = options.events;
  }

  keep(id: RunId): void {
    this.#running.add(id);
  }

  end(id: RunId): void {
    this.#running.delete(id);
  }

  /** To be called several times in a lease (jobs.ts). A run whose row is locked keeps none of the others from being extended. */
  async extend(): Promise<void> {
    if (this.#running.size === 0) return;
    await this.#db
      .query(
        `update runs set lease_until = now() + $2::integer * interval '1 ms'
         where id in (select id from runs where id = any($1) and state = 'running' for no key update skip locked)`,
        [[...this.#running], this.#leaseMs],
      )
      .catch((error) => this.#events.leasesNotExtended({ error }));
  }
}
