import { setTimeout as sleep } from "node:timers/promises";
import { connect, type Database } from "../../../shared/postgres.ts";
import { between } from "../../bench/soak/chance.ts";

/** Ends database connections of both services at random moments: idle, in a statement, between two of a transaction. */
export class Cutter {
  cuts = 0;
  readonly #db: Database;
  readonly #stopping = new AbortController();
  #working: Promise<void> = Promise.resolve();

  constructor(databaseUrl: string) {
    this.#db = connect(databaseUrl, { poolMax: 1, applicationName: "cutter" });
  }

  start(): void {
    this.#working = this.#work(this.#stopping.signal);
  }

  async stop(): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    this.#stopping.abort();
    await this.#working;
    await this.#db.end();
  }

  async #work(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(between(300, 2_500), undefined, { signal }).catch(() => {});
      const { rows } = await this.#db.query(
        `select pg_terminate_backend(pid) from (
           select pid from pg_stat_activity where application_name in ('facilitator', 'marketplace')
            order by (state = 'idle'), random() limit $1) as chosen`,
        [Math.floor(between(1, 5))],
      );
      this.cuts += rows.length;
    }
  }
}
