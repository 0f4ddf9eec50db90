import { setTimeout } from "node:timers/promises";
import type { Log } from "../../shared/log.ts";
import { isDatabaseAway } from "../../shared/postgres.ts";
import type { SettlementStore } from "./store.ts";

interface Needs {
  readonly log: Log;
  readonly store: Pick<SettlementStore, "retract">;
}

/**
 * Successes that may be stored as told to callers who were told that the outcome is pending, since the database was away until their
 * deadline. Each is taken back once the database answers, so that the same settlement, sent again, is told of it.
 */
export class Retractions {
  readonly #needs: Needs;
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** Begins to take back what `holder` may have been given. */
  begin(network: string, key: string, holder: string): void {
    const id = `${network} ${key}`;
    if (this.#underWay.has(id) || this.#underWay.size >= underWayMax) return;
    const taken = this.#take(network, key, holder)
      .catch((err) => this.#needs.log.error({ err, paymentKey: key }, "a success that nobody was told of stays told"))
      .finally(() => this.#underWay.delete(id));
    this.#underWay.set(id, taken);
  }

  /** Waits for one that is under way; false where there is none. */
  async ended(network: string, key: string): Promise<boolean> {
    const underWay = this.#underWay.get(`${network} ${key}`);
    await underWay;
    return underWay !== undefined;
  }

  async #take(network: string, key: string, holder: string): Promise<void> {
    const until = Date.now() + patienceMs;
    for (let pauseMs = 100; Date.now() < until; pauseMs = Math.min(pauseMs * 1.5, pauseMaxMs)) {
      try {
        if (await this.#needs.store.retract(network, key, holder)) return;
      } catch (error) {
        if (!isDatabaseAway(error)) throw error;
      }
      await setTimeout(pauseMs, undefined, { ref: false });
    }
  }
}

/** A database that comes back later is a failover by hand; what was stored then is told as settled before. */
const patienceMs = 15 * 60_000;
const pauseMaxMs = 1_000;
const underWayMax = 1_000;
