import { setTimeout } from "node:timers/promises";
import type { Log } from "../../shared/log.ts";
import { isDatabaseAway } from "../../shared/postgres.ts";
import type { Running } from "../../shared/process.ts";
import type { SettlementStore } from "./store.ts";

interface Needs {
  readonly log: Log;
  readonly store: Pick<SettlementStore, "retract">;
}

/**
 * Successes that may be stored as told to callers who were told no end, since the database was away until their deadline. Each is
 * taken back once the database answers, so that the same settlement, sent again, is told of it; by another copy a moment later. One
 * that is stopped meanwhile waits half a minute for the database, and one that is killed leaves it as it is.
 */
export class Retractions implements Running {
  readonly #needs: Needs;
  /** By payment, all of its own. */
  readonly #underWay = new Map<string, Promise<unknown>>();
  readonly #stopping = new AbortController();
  #count = 0;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** Begins to take back what `holder` may have been given. */
  begin(network: string, key: string, holder: string): void {
    const id = `${network} ${key}`;
    const stays = (err?: unknown) => {
      this.#needs.log.error({ err, paymentKey: key }, "a success that nobody was told of may stay told");
    };
    if (this.#count >= underWayMax) {
      stays();
      return;
    }
    this.#count += 1;
    const taken = Promise.all([this.#underWay.get(id), this.#take(network, key, holder).catch(stays)]).finally(() => {
      this.#count -= 1;
      if (this.#underWay.get(id) === taken) this.#underWay.delete(id);
    });
    this.#underWay.set(id, taken);
  }

  /** Waits for those of a payment that are under way, until the deadline; false where there is none. */
  async ended(network: string, key: string, deadline: Date): Promise<boolean> {
    const underWay = this.#underWay.get(`${network} ${key}`);
    if (!underWay) return false;
    const waitMs = Math.max(0, deadline.getTime() - Date.now());
    await Promise.race([underWay, setTimeout(waitMs, undefined, { ref: false })]);
    return true;
  }

  /** Waits for those that are under way, as long as a supervisor has patience with a service that stops. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    if (this.#count === 0) return;
    const done = new AbortController();
    // It keeps the process up: while the database refuses connections nothing else does.
    const late = setTimeout(stopPatienceMs, "late" as const, { signal: done.signal }).catch(() => undefined);
    const first = await Promise.race([Promise.all(this.#underWay.values()), late]);
    done.abort();
    if (first !== "late") return;
    this.#needs.log.error(
      { payments: this.#count },
      "successes that nobody was told of may stay told: the database is away, or their payments have not ended",
    );
  }

  async #take(network: string, key: string, holder: string): Promise<void> {
    const begunAt = Date.now();
    const { signal } = this.#stopping;
    const pauseMax = () => (signal.aborted ? 1_000 : pauseMaxMs(begunAt));
    for (let pauseMs = 100; Date.now() < begunAt + patienceMs; pauseMs = Math.min(pauseMs * 1.5, pauseMax())) {
      try {
        if (await this.#needs.store.retract(network, key, holder)) return;
      } catch (error) {
        if (!isDatabaseAway(error)) throw error;
      }
      const woken = signal.aborted ? undefined : signal;
      await setTimeout(pauseMs, undefined, { ref: false, ...(woken && { signal: woken }) }).catch(() => {});
    }
    throw new Error("the payment did not end, or the database did not answer, for a quarter of an hour");
  }
}

/** A database that comes back later is a failover by hand; what was stored then is told as settled before. */
const patienceMs = 15 * 60_000;
const pauseMaxMs = (begunAt: number) => (Date.now() < begunAt + 60_000 ? 1_000 : 10_000);
const underWayMax = 1_000;
const stopPatienceMs = 30_000;
