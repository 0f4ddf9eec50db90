import type { Log } from "../shared/log.ts";

/**
 * Work that continues after its caller has left, or that no caller waits for: a stop waits for it. Failures of background
 * work are logged, since no caller gets them.
 */
export class BackgroundWork {
  readonly #work = new Set<Promise<unknown>>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Keeps the service from stopping before the work is done; the work's own result goes to its caller. */
  track<T>(work: Promise<T>): Promise<T> {
    this.#work.add(work);
    const forget = () => this.#work.delete(work);
    work.then(forget, forget);
    return work;
  }

  detach(work: Promise<unknown>): void {
    this.track(work.catch((err) => this.#log.warn({ err }, "background work failed")));
  }

  async idle(): Promise<void> {
    while (this.#work.size > 0) await Promise.allSettled(this.#work);
  }
}
